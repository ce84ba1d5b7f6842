"""Below a floor of free space no agent starts: what is running needs the rest."""

import asyncio
import shutil
from pathlib import Path
from typing import Final

import structlog

from orchestrator.contracts.seams import Clock

_log = structlog.get_logger(__name__)
_LOOK_AGAIN_S: Final = 2.0


class DiskFloor:
    """Looks at the free space of the data directory, at most every 2 s."""

    def __init__(self, directory: Path, *, floor_bytes: int, clock: Clock) -> None:
        self._directory = directory
        self._floor_bytes = floor_bytes
        self._clock = clock
        self._looked_at: float | None = None
        self._is_low = False

    async def allows_start(self) -> bool:
        """Whether there is room for another agent. Logs once when that changes."""
        now = self._clock.monotonic()
        if self._looked_at is None or now - self._looked_at >= _LOOK_AGAIN_S:
            self._looked_at = now
            self._judge((await asyncio.to_thread(shutil.disk_usage, self._directory)).free)
        return not self._is_low

    def _judge(self, free_bytes: int) -> None:
        was_low, self._is_low = self._is_low, free_bytes < self._floor_bytes
        if self._is_low and not was_low:
            _log.error(
                "disk.below_floor",
                free_bytes=free_bytes,
                floor_bytes=self._floor_bytes,
                suggestion="Make room: no agent starts until then.",
            )
        elif was_low and not self._is_low:
            _log.info("disk.above_floor", free_bytes=free_bytes)
