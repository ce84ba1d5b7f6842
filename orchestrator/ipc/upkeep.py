"""What boxes need from time to time: sizes looked at, old replies, acks and evidence removed."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from orchestrator.contracts.seams import Clock
from orchestrator.contracts.wire.boxes import ACKS, KEEP_REPLIES
from orchestrator.ipc.acks import prune_acks
from orchestrator.ipc.box import Box, BoxLook
from orchestrator.ipc.intake import Intake
from orchestrator.ipc.lane import IntakeLimits
from orchestrator.ipc.quarantine import Quarantine
from orchestrator.ipc.threads import in_thread
from orchestrator.store.unsafe import UnsafeEntry

_log = structlog.get_logger(__name__)
_FETCHED_WITHIN: Final = timedelta(minutes=1)
"""An agent waits for its reply; of more than half a box the older ones go, and the store has them all."""
_EVERY_S: Final = 30.0
_PRUNE_EVERY: Final = 120
"""Rounds between two looks through all the evidence: an hour."""
_MAX_PRUNED: Final = 100_000
"""Entries of a directory that one look goes through."""
_ACKS_SETTLE: Final = timedelta(minutes=1)
"""Younger acks stay: the turns of a second may share a timestamp."""
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
        """Report boxes that hold what they may not; remove acks never read, replies of an hour ago."""
        for box in self.boxes():
            async with self.guard:
                look = await in_thread(self.executor, partial(self._look, box))
            lane = self.intake.lane(box.name)
            if lane is None or look is None:
                continue
            for sentence in _violations(look, self.limits):
                self.intake.report(lane, sentence)

    def _prune_evidence(self) -> None:
        try:
            self.quarantine.prune(now=self.clock.now())
        except (UnsafeEntry, OSError) as error:
            _log.warning("evidence.not_pruned", error=str(error))

    def _look(self, box: Box) -> BoxLook | None:
        now = self.clock.now()
        try:
            with contextlib.suppress(UnsafeEntry):  # a reply's place that is gone is said below
                box.prune_replies(
                    before_ns=_ns(now - KEEP_REPLIES),
                    surplus_before_ns=_ns(now - _FETCHED_WITHIN),
                    max_bytes=self.limits.max_box_bytes // 2,
                    max_entries=_MAX_PRUNED,
                )
            with contextlib.suppress(UnsafeEntry):
                prune_acks(box.directory(ACKS), before_ns=_ns(now - _ACKS_SETTLE), max_entries=_MAX_PRUNED)
            return box.look(max_entries=self.limits.max_entries)
        except (UnsafeEntry, OSError) as error:
            _log.warning("box.not_looked_at", box=box.name, error=str(error))
            return None


def _violations(look: BoxLook, limits: IntakeLimits) -> list[str]:
    """What the box's agent did that it may not, a sentence each."""
    found = [f"The directory {name}/ was removed or exchanged for another." for name in look.exchanged]
    if look.size_bytes > limits.max_box_bytes:
        found.append(f"The box holds more than {limits.max_box_bytes / _MIB:g} MiB.")
    found += [f"More than {limits.max_entries} entries in {name}/." for name in look.crowded]
    return found + [
        f"A directory was made in {f'{name}/' if name else 'the box'}, where only files belong."
        for name in look.nested
    ]


def _ns(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000_000)
