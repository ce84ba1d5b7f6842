"""Several things that are wrong with what somebody wrote, told at once."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from orchestrator.contracts.errors import InvalidRequest, InvalidSettings

_MOST_TOLD: Final = 12


class SeveralFaults(InvalidSettings):
    """All that was found to be wrong with what an operator wrote, each with what mends it, one a line."""

    def __init__(self, faults: Sequence[InvalidSettings]) -> None:
        super().__init__(_one_a_line(faults))
        self.faults = tuple(faults)


class SeveralRefusals(InvalidRequest):
    """All that was found to be wrong with what somebody asked for, each with what mends it, one a line."""

    def __init__(self, faults: Sequence[InvalidRequest]) -> None:
        first = faults[0]  # programs that look for a code find one that is true
        told = _one_a_line([f"{len(faults)} things are wrong:", *faults])
        super().__init__(told, code=first.code, details=first.details)
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


@contextmanager
def refusal_noted(found: list[InvalidRequest]) -> Iterator[None]:
    """As `noted`, of what somebody asked for."""
    try:
        yield
    except InvalidRequest as error:
        found.extend(error.faults if isinstance(error, SeveralRefusals) else (error,))


def raise_any(found: Sequence[InvalidSettings]) -> None:
    """Raises InvalidSettings that tells all of them, each once, of each file by line; nothing for none."""
    different = _by_line({str(fault): fault for fault in found}.values())
    if len(different) == 1:
        raise different[0]
    if different:
        raise SeveralFaults(different)


def refuse_any(found: Sequence[InvalidRequest]) -> None:
    """Raises InvalidRequest that tells all of them, each once; nothing for none."""
    different = list({str(fault): fault for fault in found}.values())
    if len(different) == 1:
        raise different[0]
    if different:
        raise SeveralRefusals(different)


def _one_a_line(faults: Sequence[object]) -> str:
    told = [str(fault) for fault in faults[:_MOST_TOLD]]
    left = len(faults) - len(told)
    return "\n".join([*told, f"And {left} more."] if left else told)


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
