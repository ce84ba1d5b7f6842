"""Several things that are wrong with what an operator wrote, told at once."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from orchestrator.contracts.errors import InvalidSettings

_MOST_TOLD: Final = 12


class SeveralFaults(InvalidSettings):
    """All that was found to be wrong, each with what mends it, one a line."""

    def __init__(self, faults: Sequence[InvalidSettings]) -> None:
        told = [str(fault) for fault in faults[:_MOST_TOLD]]
        left = len(faults) - len(told)
        super().__init__("\n".join([*told, f"And {left} more."] if left else told))
        self.faults = tuple(faults)


def each_of(error: InvalidSettings) -> tuple[InvalidSettings, ...]:
    """The faults that an error tells, one by one."""
    return error.faults if isinstance(error, SeveralFaults) else (error,)


@contextmanager
def noted(found: list[InvalidSettings]) -> Iterator[None]:
    """Keep what is refused in here for later, so that what else is wrong is found too."""
    try:
        yield
    except InvalidSettings as error:
        found.extend(each_of(error))


def raise_any(found: Sequence[InvalidSettings]) -> None:
    """Raises InvalidSettings that tells all of them, each once, of each file by line; nothing for none."""
    different = _by_line({str(fault): fault for fault in found}.values())
    if len(different) == 1:
        raise different[0]
    if different:
        raise SeveralFaults(different)


def _by_line(found: Iterable[InvalidSettings]) -> list[InvalidSettings]:
    """The faults of each file in the order of its lines, and behind them those that stand in none."""
    faults = list(found)
    files = list(dict.fromkeys(fault.details["where"] for fault in faults if "where" in fault.details))

    def place(fault: InvalidSettings) -> tuple[int, int]:
        if "where" not in fault.details:
            return len(files), 0
        line = fault.details.get("line")
        return files.index(fault.details["where"]), line if isinstance(line, int) else 0

    return sorted(faults, key=place)
