"""Below a floor of free space no agent starts: what is running needs the rest."""

import asyncio
import contextlib
import shutil
from pathlib import Path
from typing import Final

import structlog

from orchestrator.contracts.seams import Clock

_log = structlog.get_logger(__name__)
_LOOK_AGAIN_S: Final = 2.0
_CLEAR_ABOVE: Final = 1.1


class DiskFloor:
    """Looks at the free space of these directories, which may lie on several disks.

    is_low, free_bytes: as of the last look, of the fullest of them.
    """

    def __init__(self, *directories: Path, floor_bytes: int, clock: Clock) -> None:
        self._directories = directories
        self._floor_bytes = floor_bytes
        self._clock = clock
        self._looked_at: float | None = None
        self.is_low = False
        self.free_bytes = 0

    async def allows_start(self) -> bool:
        """Whether there is room for another agent; a look may be up to 2 s old."""
        if self._looked_at is None or self._clock.monotonic() - self._looked_at >= _LOOK_AGAIN_S:
            await self.look()
        return not self.is_low

    async def look(self) -> bool:
        """Look now: whether there is less room than there has to be. Logs once when that changes."""
        self._looked_at = self._clock.monotonic()
        self._judge(await asyncio.to_thread(self._least_free))
        return self.is_low

    def _least_free(self) -> int:
        found: list[int] = []
        for directory in self._directories:
            with contextlib.suppress(FileNotFoundError):  # somebody is mending the home; what is made counts
                found.append(shutil.disk_usage(directory).free)
        return min(found, default=self.free_bytes)

    def _judge(self, free_bytes: int) -> None:
        self.free_bytes = free_bytes
        was_low = self.is_low
        # At the very floor people would be told of it and of its end again and again.
        floor_bytes = self._floor_bytes * _CLEAR_ABOVE if was_low else self._floor_bytes
        self.is_low = free_bytes < floor_bytes
        if self.is_low and not was_low:
            _log.error(
                "disk.below_floor",
                free_bytes=free_bytes,
                floor_bytes=self._floor_bytes,
                suggestion="Make room: no agent starts until then.",
            )
        elif was_low and not self.is_low:
            _log.info("disk.above_floor", free_bytes=free_bytes)
