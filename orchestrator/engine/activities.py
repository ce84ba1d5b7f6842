"""The one root task group: what must live, and what may be started again."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping

import structlog

from orchestrator.core.backoff import delay_s

_log = structlog.get_logger(__name__)

Activity = Callable[[], Awaitable[None]]


class Activities:
    """Runs activities until the task group ends.

    A vital one that fails ends the process, so that the service manager starts it anew. A
    replaceable one (a channel, the API) is started again with growing pauses; until it is well
    again `troubles` holds why.
    """

    def __init__(self, group: asyncio.TaskGroup, troubles: MutableMapping[str, str]) -> None:
        self._group = group
        self._troubles = troubles

    def start_vital(self, name: str, activity: Activity) -> asyncio.Task[None]:
        """Start what the process cannot live without."""
        return self._group.create_task(self._run_vital(name, activity), name=name)

    def start_replaceable(self, name: str, activity: Activity) -> asyncio.Task[None]:
        """Start what may fail and is then tried again, 2 s to 300 s apart."""
        return self._group.create_task(self._run_replaceable(name, activity), name=name)

    async def _run_vital(self, name: str, activity: Activity) -> None:
        try:
            await activity()
        except Exception:  # the owner of the activity logs its fault once; the process ends with it
            _log.exception("activity.failed", activity=name)
            raise

    async def _run_replaceable(self, name: str, activity: Activity) -> None:
        for attempt in range(1, 1_000_000):
            try:
                await activity()
            except Exception as error:  # a part that may fail must not take the others with it
                pause_s = delay_s(attempt, first_s=2, most_s=300)
                self._troubles[name] = str(error)
                _log.error("activity.restarting", activity=name, error=repr(error), pause_s=pause_s)
                await asyncio.sleep(pause_s)
            else:
                self._troubles.pop(name, None)
                return
