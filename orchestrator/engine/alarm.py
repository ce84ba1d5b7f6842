"""The alarm clock: rings when a task is due. The store holds the truth, APScheduler only the next ring."""

from datetime import datetime
from typing import Final

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from orchestrator.commands.running.task_runs import claim_due
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.seams import Listener, Topic
from orchestrator.store import facts, tasks

_log = structlog.get_logger(__name__)
LOOK_AGAIN_S: Final = 30.0
"""Wall time is looked at at least so often: clocks are set, machines sleep."""
_CLOCK_WAIT_S: Final = 600.0
_CLOCK_LOOK_S: Final = 1.0
_JOB: Final = "next due task"


class AlarmClock:
    """Claims what is due and waits for the next due time. Runs until cancelled."""

    def __init__(self, services: Services, *, look_again_s: float = LOOK_AGAIN_S) -> None:
        self._services = services
        self._look_again_s = look_again_s

    async def run(self) -> None:
        """Claim, set the alarm, wait for it, for a change or for the next look at the wall."""
        listener = self._services.wakeups.listen(Topic.ALARM)
        await self._wait_for_the_clock(listener)
        scheduler = AsyncIOScheduler(timezone="UTC")
        scheduler.start()
        try:
            while True:
                due_at = await self._claim()
                self._set(scheduler, due_at)
                await listener.wait(at_most_s=self._look_again_s)
        finally:
            scheduler.shutdown(wait=False)

    async def _wait_for_the_clock(self, listener: Listener) -> None:
        """A clock behind what the store remembers may yet be set, as on a machine without a battery."""
        services = self._services
        try:
            newest = await services.db.run(facts.newest_time)
        except Unavailable:
            return
        begun_s = services.clock.monotonic()
        while newest is not None and services.clock.now() < newest:
            if services.clock.monotonic() - begun_s >= _CLOCK_WAIT_S:
                _log.warning(
                    "alarm.clock_behind",
                    now=services.clock.now().isoformat(),
                    newest=newest.isoformat(),
                    suggestion="Set the clock of this machine; tasks go by what it shows.",
                )
                return
            await listener.wait(at_most_s=min(_CLOCK_LOOK_S, self._look_again_s))

    async def _claim(self) -> datetime | None:
        """Claim all that is due; when the next is."""
        services = self._services
        try:
            while await services.db.run(lambda tx: claim_due(tx, services, at=services.clock.now())):
                pass
            services.checkpoints.reached("tasks.claimed")
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
