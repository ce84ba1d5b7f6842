"""Watches the free space while agents run: below the floor the one that fills the disk is stopped.

Source: contracts.md section 3.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from orchestrator.commands.services import Services
from orchestrator.commands.usage.dir_budgets import note_disk_low, note_disk_well, note_stopped_for_room
from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.agents import DeathCause
from orchestrator.core.dir_budgets import fastest_grower
from orchestrator.engine.disk_floor import DiskFloor
from orchestrator.engine.persistence import persist
from orchestrator.engine.running_agents import RunningAgents
from orchestrator.engine.size_watch import SizeWatch
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
_EVERY_S: Final = 2.0
_STILL_FALLING: Final = 1024 * 1024


class RoomWatch:
    """Looks while `run` runs."""

    def __init__(self, services: Services, floor: DiskFloor, agents: RunningAgents, sizes: SizeWatch) -> None:
        self._services = services
        self._floor = floor
        self._agents = agents
        self._sizes = sizes
        self._is_told = False
        self._has_found_one = False
        """Whether one whose files grew was stopped since the disk is low."""
        self._was_one_stopping = False
        """At the last look: what fell since then may be that one's doing."""

    async def run(self) -> None:
        """Look every 2 s while agents run or the disk is low, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            await self._look(tasks, is_first=True)
            while True:
                await asyncio.sleep(_EVERY_S)
                if self._agents.live or self._floor.is_low:
                    await self._look(tasks)

    async def _look(self, tasks: asyncio.TaskGroup, *, is_first: bool = False) -> None:
        before = self._floor.free_bytes
        is_low = await self._floor.look()
        services, at, free = self._services, self._services.clock.now(), self._floor.free_bytes
        if is_low and not self._is_told:
            self._tell(tasks, lambda tx: note_disk_low(tx, services, free_bytes=free, at=at))
        elif not is_low and (self._is_told or is_first):
            self._tell(tasks, lambda tx: note_disk_well(tx, services, at=at))
        self._is_told = is_low
        if is_low:
            is_scarce = free < services.settings.disk_floor_bytes // 2 and not self._has_found_one
            await self._stop_the_fastest(tasks, must=is_scarce or before - free >= _STILL_FALLING)
        else:
            self._has_found_one = False

    async def _stop_the_fastest(self, tasks: asyncio.TaskGroup, *, must: bool) -> None:
        """One at a time: what it frees is seen before another is stopped.

        must: one is stopped also where no files are seen to grow.
        """
        live = self._agents.live
        was_one_stopping, self._was_one_stopping = self._was_one_stopping, False
        if any(run.state.stop_cause is not None for run in live):
            self._was_one_stopping = True
            return
        groups = list(dict.fromkeys(run.state.group.folder for run in live))
        group = fastest_grower(await self._sizes.growths(groups))
        self._has_found_one |= group is not None
        if group is None and must and live and not was_one_stopping:
            # What grows cannot be seen, such as a file without a name: the newest agent is the likeliest.
            group = live[-1].state.group.folder
        for run in self._agents.live:
            if run.state.group.folder == group:
                _log.error("disk.agent_stopped", group=group, free_bytes=self._floor.free_bytes)
                self._was_one_stopping = True
                run.state.stop(DeathCause.VIOLATED)
                self._tell(tasks, _of_stop(self._services, group, run.state.agent_id))

    def _tell(self, tasks: asyncio.TaskGroup, body: Callable[[Transaction], None]) -> None:
        """Beside the watching: a full disk may keep the store from taking it for a while."""
        tasks.create_task(persist(self._services, body), name="tell of the disk")


def _of_stop(services: Services, group: GroupFolder, agent_id: AgentId) -> Callable[[Transaction], None]:
    at = services.clock.now()
    return lambda tx: note_stopped_for_room(tx, services, group, agent_id, at=at)
