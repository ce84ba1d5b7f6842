"""How events reach who listens: live, in order, and with a word about each that he misses."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from orchestrator.contracts.events import LoggedEvent
from orchestrator.contracts.ids import AgentId, TreeId


class GapReason(StrEnum):
    """Why events are missing: the reader was too slow for them, or they are not kept any more."""

    OVERFLOW = "overflow"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Events that a reader was not given.

    tree_id: None for several trees. first_seq, last_seq: those that are missing, in that tree; None for
    several trees. last_position: the last place of the log that may be missing.
    """

    tree_id: TreeId | None
    first_seq: int | None
    last_seq: int | None
    last_position: int
    reason: GapReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """An event, and how it is written on the wire: made once for all who read it."""

    event: LoggedEvent
    text: str


Item = Delivery | Gap


class Subscriber(Protocol):
    """One reader's bounded place. Used from the loop's thread only."""

    @property
    def head(self) -> int:
        """Up to this position every event was handed out to those who watched."""
        ...

    def watch(self, tree_id: TreeId | None) -> int:
        """Gather the events of a tree, of all with None, from now on; the position behind which they are."""
        ...

    def unwatch(self, tree_id: TreeId | None) -> None:
        """Gather them no longer. No error if they were not."""
        ...

    def sees(self, event: LoggedEvent) -> bool:
        """Whether the reader may see it."""
        ...

    async def take(self) -> Sequence[Item]:
        """What was gathered since the last call, waiting for it; empty after a `nudge`."""
        ...

    def nudge(self) -> None:
        """Let a waiting `take` return."""
        ...

    def close(self) -> None:
        """Give up the place. May be called again."""
        ...


class LiveEvents(Protocol):
    """Hands out events as they are committed. A reader that is slow misses some and holds up nobody."""

    def subscribe(self, *, only: Collection[AgentId] | None) -> Subscriber:
        """A place that watches nothing yet. only: agents whose events may be seen, and those of agents
        that come to be below them; None: all. Raises LimitExceeded when there are too many readers."""
        ...
