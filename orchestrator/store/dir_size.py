"""How much lies in a directory that a container writes: measured in slices, never through a link; blocks."""

import contextlib
import os
import stat
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

from orchestrator.contracts.records.dir_sizes import MAX_DEPTH, DirBudget, DirSize
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry

SLICE: Final = 2_000
_BLOCK: Final = 512
_LOOK: Final = stat.S_IRUSR | stat.S_IXUSR


def measure_dir(top: SafeDir, budget: DirBudget) -> Generator[None, None, DirSize]:
    """What lies in `top`; yields after every 2,000 entries, and stops looking where it is over the budget.

    Bytes are those that the disk gives away: a hole costs nothing, a file of two names counts once. What
    is mounted below counts as one entry. What vanishes meanwhile is passed over. Close it if it is not
    run to its end. Raises OSError for a failing disk, UnsafeEntry if `top` cannot be looked into.
    """
    count = _Count(budget, device=top.itself().device)
    yield from _walk(top, count, depth=1)
    return DirSize(size_bytes=count.size_bytes, entries=count.entries, is_too_deep=count.is_too_deep)


@dataclass(slots=True)
class _Count:
    budget: DirBudget
    device: int
    size_bytes: int = 0
    entries: int = 0
    is_too_deep: bool = False
    linked: set[int] = field(default_factory=set)

    @property
    def is_over(self) -> bool:
        return self.size_bytes > self.budget.max_bytes or self.entries > self.budget.max_entries


def _walk(here: SafeDir, count: _Count, *, depth: int) -> Generator[None]:
    """Count this directory, then those in it, each opened once and held while what is below it is counted."""
    directories: list[str] = []
    with closing(here.scan()) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                if _take(entry, count):
                    directories.append(entry.name)
            if count.is_over:
                return
            if count.entries % SLICE == 0:
                yield
    if directories and depth == MAX_DEPTH:
        count.is_too_deep = True
        return
    for name in directories:
        # Gone by now, or another user's, who is not the agent: it holds nothing that an agent put there.
        with contextlib.suppress(UnsafeEntry, PermissionError), _opened(here, name) as below:
            if below.itself().device == count.device:
                yield from _walk(below, count, depth=depth + 1)
        if count.is_over or count.is_too_deep:
            return


def _take(entry: os.DirEntry[str], count: _Count) -> bool:
    """Count one entry; whether it is a directory."""
    found = entry.stat(follow_symlinks=False)
    is_directory = stat.S_ISDIR(found.st_mode)
    count.entries += 1
    if is_directory or found.st_nlink == 1:
        count.size_bytes += found.st_blocks * _BLOCK
    elif found.st_ino not in count.linked:
        count.linked.add(found.st_ino)
        count.size_bytes += found.st_blocks * _BLOCK
    return is_directory


def _opened(here: SafeDir, name: str) -> SafeDir:
    """The directory `name`, open to us also where our own user took the right to look away."""
    try:
        below = here.child(name)
    except PermissionError:
        return here.own_child(name)
    if below.itself().mode & _LOOK != _LOOK:
        below.mend()
    return below
