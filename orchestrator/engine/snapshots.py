"""Keeps `current_tasks.json` and `available_groups.json` in the boxes of running agents fresh."""

import asyncio
from collections.abc import Iterable
from typing import Final, Protocol

from orchestrator.commands.groups.snapshots import BoxSnapshots, box_snapshots
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.seams import BoxPort, Topic
from orchestrator.contracts.wire.boxes import GROUPS_SNAPSHOT, TASKS_SNAPSHOT
from orchestrator.engine.run_state import Phase, RunState

_LOOK_AGAIN_S: Final = 60.0


class RunSnapshots:
    """The snapshots of one run's box. One writing at a time: an older state never replaces a newer."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._one_at_a_time = asyncio.Lock()

    async def refresh(self, box: BoxPort) -> BoxSnapshots:
        """Read what its agent may see now and write it; that is returned. Raises OSError, DovecoteError."""
        async with self._one_at_a_time:
            snapshots = await box_snapshots(self._state.services, self._state.caller)
            await box.write_snapshot(TASKS_SNAPSHOT, snapshots.tasks.encode("utf-8", "replace"))
            await box.write_snapshot(GROUPS_SNAPSHOT, snapshots.groups.encode("utf-8", "replace"))
            return snapshots

    async def refresh_running(self) -> None:
        """As `refresh`, while its agent runs; what fails is tried again at the next look."""
        state = self._state
        if state.box is None or self._is_over():
            return
        try:
            await self.refresh(state.box)
        except (OSError, DovecoteError) as error:
            if not self._is_over():  # else its box went while it was written to
                state.log.warning("snapshots.not_written", error=str(error))

    def _is_over(self) -> bool:
        return self._state.phase is Phase.OVER


class HasSnapshots(Protocol):
    """A run, as far as this module knows it."""

    snapshots: RunSnapshots


class HasRuns(Protocol):
    """The running agents, as far as this module knows them."""

    @property
    def live(self) -> Iterable[HasSnapshots]: ...


class SnapshotKeeper:
    """Writes the snapshots of all running agents after each change. Runs until cancelled."""

    def __init__(self, services: Services, agents: HasRuns) -> None:
        self._wakeups = services.wakeups
        self._agents = agents

    async def run(self) -> None:
        """Write, then wait for a change; at least once a minute, for what failed."""
        listener = self._wakeups.listen(Topic.SNAPSHOTS)
        while True:
            await listener.wait(at_most_s=_LOOK_AGAIN_S)
            for run in list(self._agents.live):
                await run.snapshots.refresh_running()
