"""The alarm clock: rings when a task is due. The store holds the truth, APScheduler only the next ring."""

from datetime import datetime
from typing import Final

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from orchestrator.commands.services import Services
from orchestrator.commands.task_runs import claim_due
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.seams import Topic
from orchestrator.store import tasks

_log = structlog.get_logger(__name__)
_LOOK_AGAIN_S: Final = 30.0
"""Wall time is looked at at least so often: clocks are set, machines sleep."""
_JOB: Final = "next due task"


class AlarmClock:
    """Claims what is due and waits for the next due time. Runs until cancelled."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def run(self) -> None:
        """Claim, set the alarm, wait for it, for a change or for the next look at the wall."""
        listener = self._services.wakeups.listen(Topic.ALARM)
        scheduler = AsyncIOScheduler(timezone="UTC")
        scheduler.start()
        try:
            while True:
                due_at = await self._claim()
                self._set(scheduler, due_at)
                await listener.wait(at_most_s=_LOOK_AGAIN_S)
        finally:
            scheduler.shutdown(wait=False)

    async def _claim(self) -> datetime | None:
        """Claim all that is due; when the next is."""
        services = self._services
        try:
            while await services.db.run(lambda tx: claim_due(tx, services, at=services.clock.now())):
                pass
            return await services.db.run(tasks.next_due)
        except Unavailable as error:
            _log.error("alarm.store_unavailable", error=error.message, suggestion=error.suggestion)
            return None

    def _set(self, scheduler: AsyncIOScheduler, due_at: datetime | None) -> None:
        if due_at is None:
            if scheduler.get_job(_JOB) is not None:
                scheduler.remove_job(_JOB)
            return
        scheduler.add_job(
            self._services.wakeups.wake,
            "date",
            args=[Topic.ALARM],
            run_date=due_at,
            id=_JOB,
            replace_existing=True,
            misfire_grace_time=None,  # the default of 1 s drops a ring that a busy loop delays
            coalesce=True,
        )
