"""What boxes need from time to time: sizes looked at, old replies and old evidence removed."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from orchestrator.contracts.seams import Clock
from orchestrator.ipc.box import Box
from orchestrator.ipc.intake import Intake
from orchestrator.ipc.lane import IntakeLimits
from orchestrator.ipc.quarantine import Quarantine
from orchestrator.ipc.threads import in_thread
from orchestrator.store.unsafe import UnsafeEntry

_log = structlog.get_logger(__name__)
KEEP_REPLIES: Final = timedelta(hours=1)
_EVERY_S: Final = 30.0
_PRUNE_EVERY: Final = 120
"""Rounds between two looks through all the evidence: an hour."""
_MAX_REPLIES: Final = 100_000
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """Looks after the live boxes while `run` runs. boxes: those that are open now."""

    boxes: Callable[[], Sequence[Box]]
    intake: Intake
    quarantine: Quarantine
    limits: IntakeLimits
    clock: Clock
    executor: Executor
    guard: asyncio.Lock

    async def run(self) -> None:
        """Look after everything again and again, until cancelled."""
        rounds = 0
        while True:
            if rounds % _PRUNE_EVERY == 0:
                await in_thread(self.executor, self._prune_evidence)
            await self.look_once()
            rounds += 1
            await asyncio.sleep(_EVERY_S)

    async def look_once(self) -> None:
        """Report boxes that hold too much; remove replies that nobody fetched within the hour."""
        for box in self.boxes():
            async with self.guard:
                size_bytes = await in_thread(self.executor, partial(self._look, box))
            lane = self.intake.lane(box.name)
            if lane is not None and size_bytes > self.limits.max_box_bytes:
                limit_mib = self.limits.max_box_bytes / _MIB
                self.intake.report(lane, f"The box holds more than {limit_mib:g} MiB.")

    def _prune_evidence(self) -> None:
        try:
            self.quarantine.prune(now=self.clock.now())
        except (UnsafeEntry, OSError) as error:
            _log.warning("evidence.not_pruned", error=str(error))

    def _look(self, box: Box) -> int:
        before_ns = int((self.clock.now() - KEEP_REPLIES).timestamp() * 1_000_000_000)
        try:
            box.prune_replies(before_ns=before_ns, max_entries=_MAX_REPLIES)
            return box.size_bytes(max_entries=self.limits.max_entries)
        except (UnsafeEntry, OSError) as error:
            _log.warning("box.not_looked_at", box=box.name, error=str(error))
            return 0
