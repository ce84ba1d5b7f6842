"""What a driver's program has started and may leave behind: found in `/proc`, and ended with it."""

import asyncio
import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

_PR_SET_CHILD_SUBREAPER: Final = 36
_KIND_S: Final = 0.25
_KILLED_S: Final = 1.0
_LOOK_S: Final = 0.01


def adopt_orphans() -> None:
    """From now on a process whose parent dies becomes ours, so that none can slip away."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants() -> set[int]:
    """The living processes below this one."""
    parents = _parents()
    found: set[int] = set()
    level = {os.getpid()}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level} - found
        found |= level
    return found


async def end_descendants(*, but: frozenset[int]) -> None:
    """End what lives below this process, first kindly; returns when it is gone, within 2 s."""
    for number, patience_s in ((signal.SIGTERM, _KIND_S), (signal.SIGKILL, _KILLED_S)):
        deadline = asyncio.get_running_loop().time() + patience_s
        while (alive := descendants() - but) and asyncio.get_running_loop().time() < deadline:
            for pid in alive:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
            await asyncio.sleep(_LOOK_S)


def _parents() -> dict[int, int]:
    found: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            # The name in parentheses may hold anything, spaces and parentheses too.
            state, parent = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if state not in ("Z", "X"):
            found[int(entry.name)] = int(parent)
    return found
