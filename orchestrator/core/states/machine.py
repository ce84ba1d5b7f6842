"""A status and the events that change it, as one table."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Generic, TypeVar

S = TypeVar("S", bound=StrEnum)
E = TypeVar("E", bound=StrEnum)


class IllegalMove(Exception):
    """An event met a status that does not know it: a fault of ours, never of a caller."""


class Machine(Generic[S, E]):
    """A transition table: what is not in it cannot happen.

    Values, not objects: `after` computes the next status; the store moves the row only if it is
    still where the caller thinks it is.
    """

    def __init__(self, name: str, *, start: S, table: Mapping[tuple[S, E], S]) -> None:
        self.name = name
        self.start = start
        self._table = dict(table)

    def after(self, state: S, event: E) -> S:
        """The status that `event` leads to. Raises IllegalMove."""
        try:
            return self._table[state, event]
        except KeyError:
            raise IllegalMove(f"{self.name}: {event} cannot happen to what is {state}") from None

    def check(self, state: S, event: E) -> None:
        """Raise IllegalMove unless `event` can happen to what is `state`; for moves that SQL writes."""
        self.after(state, event)

    def sources(self, event: E) -> frozenset[S]:
        """The statuses in which `event` can happen."""
        return frozenset(state for state, known in self._table if known == event)

    def states(self) -> frozenset[S]:
        """Every status that can be reached, the first one included."""
        return frozenset({self.start, *self._table.values()})

    def finals(self) -> frozenset[S]:
        """The statuses that nothing leads out of."""
        return self.states() - {state for state, _ in self._table}

    def moves(self) -> Iterator[tuple[S, E, S]]:
        """Every line of the table."""
        for (state, event), result in self._table.items():
            yield state, event, result

    def as_mermaid(self) -> str:
        """The table as a state diagram for the README."""
        lines = ["stateDiagram-v2", f"    [*] --> {self.start}"]
        lines += [f"    {state} --> {result}: {event}" for state, event, result in self.moves()]
        lines += [f"    {state} --> [*]" for state in sorted(self.finals())]
        return "\n".join(lines)
