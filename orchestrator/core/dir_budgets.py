"""How much room an agent's files may take, and who is stopped when the disk runs low.

Source: contracts.md section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.records.dir_sizes import DirBudget, DirSize

WORTH_STOPPING: Final = 8 * 1024 * 1024
"""Bytes: less growth than this does not fill a disk."""


class Excess(StrEnum):
    """In which way a directory is more than it may be."""

    BYTES = "bytes"
    ENTRIES = "entries"
    DEPTH = "depth"
    EXCHANGED = "exchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How a group's files grew. recent_per_s: bytes a second since the last look. in_all: since its start."""

    group: GroupFolder
    recent_per_s: float
    in_all: int


def excess_of(size: DirSize, budget: DirBudget) -> Excess | None:
    """How the directory is over its budget; None if it is not."""
    if size.is_exchanged:
        return Excess.EXCHANGED
    if size.size_bytes > budget.max_bytes:
        return Excess.BYTES
    if size.entries > budget.max_entries:
        return Excess.ENTRIES
    return Excess.DEPTH if size.is_too_deep else None


def fastest_grower(growths: Sequence[Growth]) -> GroupFolder | None:
    """Whose files grow fastest now, or else grew most since the start; None if nobody's did by much.

    Who wrote a little is not stopped for what another one left.
    """
    large = [each for each in growths if each.in_all >= WORTH_STOPPING]
    fastest = max(large, key=lambda each: (max(each.recent_per_s, 0.0), each.in_all), default=None)
    return None if fastest is None else fastest.group
