"""From what is stored to work: which chats, tasks and spawns want an agent now, and which no more."""

from typing import Final

import structlog

from orchestrator.commands.running.task_runs import stopped_runs
from orchestrator.commands.running.waiting import waiting_work
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.seams import Topic
from orchestrator.engine.group_queue import GroupQueue
from orchestrator.engine.running_agents import RunningAgents

_log = structlog.get_logger(__name__)
_LEAST_WAIT_S: Final = 0.05


class Router:
    """Looks at what waits after each wake and at every poll, and hands it to the queue.

    Whether a message triggers was decided when it was stored, by `commands.hearing.judging`.
    """

    def __init__(self, services: Services, queue: GroupQueue, agents: RunningAgents) -> None:
        self._services = services
        self._queue = queue
        self._agents = agents

    async def run(self) -> None:
        """Route until cancelled."""
        poll_s = self._services.settings.message_poll_s
        listener = self._services.wakeups.listen(Topic.WORK)
        while True:
            await self.pass_once()
            await listener.wait(at_most_s=max(poll_s, _LEAST_WAIT_S))

    async def pass_once(self) -> None:
        """One look at the store."""
        now = self._services.clock.now()
        try:
            live = self._agents.task_runs
            waiting, unwanted = await self._services.db.run(
                lambda tx: (waiting_work(tx, at=now), stopped_runs(tx, live))
            )
            self._agents.stop_task_runs(unwanted)
            await self._queue.admit(waiting)
        except Unavailable as error:
            _log.error("router.store_unavailable", error=error.message, suggestion=error.suggestion)
