"""The directories of files that an agent writes: how much they may hold, and how much they do."""

from dataclasses import dataclass
from typing import Final

MAX_DEPTH: Final = 200
"""Directories in one another; what lies deeper is not looked at, so it is not allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DirBudget:
    """What a directory may hold. max_entries: files and directories."""

    max_bytes: int
    max_entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DirSize:
    """What a directory holds: `size_bytes` as the disk counts them.

    is_too_deep: something lies deeper than `MAX_DEPTH`. is_exchanged: no directory stands in its place.
    """

    size_bytes: int = 0
    entries: int = 0
    is_too_deep: bool = False
    is_exchanged: bool = False
