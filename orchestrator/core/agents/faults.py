"""Several things that are wrong with what an operator wrote, told at once."""

from collections.abc import Iterator, Sequence
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
    """Raises InvalidSettings that tells all of them, each once; nothing for none."""
    different = tuple({str(fault): fault for fault in found}.values())
    if len(different) == 1:
        raise different[0]
    if different:
        raise SeveralFaults(different)
