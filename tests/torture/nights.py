"""The task of the night on which the clocks are changed: begun on its eve, and its runs looked at.

Source: contracts.md section 5. In spring its time of day does not exist, in autumn it comes twice.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from orchestrator.app.parts import SystemClock
from orchestrator.contracts.records.tasks import ScheduleKind, Task
from tests.support.home_on_disk import HomeOnDisk
from tests.support.planned import due_now
from tests.torture.plan import Fault, FaultKind, SummerTime

_ZONE: Final = "Europe/Berlin"
_NAME: Final = "nightly"
_AT: Final = time(2, 59)
_CRON: Final = "59 2 * * *"
_DAY: Final = timedelta(days=1)
_MARCH: Final = 3
_OCTOBER: Final = 10


def nightly(change: SummerTime, *, folder: str) -> Task:
    """The task as it stands on the eve: its run of the day before is due, all later ones it has to find."""
    return due_now(
        _NAME,
        folder=folder,
        title="Nightly",
        prompt=_NAME,
        kind=ScheduleKind.CRON,
        schedule_value=_CRON,
        timezone=_ZONE,
        next_run_at=due_on(_day_of(change, SystemClock().now()) - _DAY),
    )


def seconds_to_the_eve(change: SummerTime) -> float:
    """How far ahead of the real time the run begins."""
    now = SystemClock().now()
    begins_at = due_on(_day_of(change, now)) - timedelta(seconds=change.before_s)
    return (begins_at - now).total_seconds()


def due_on(day: date) -> datetime:
    """When the task is due on a day: once, at the first of two; where there is none, behind the gap."""
    local = datetime.combine(day, _AT, ZoneInfo(_ZONE))
    instant = local.astimezone(UTC)
    if instant.astimezone(local.tzinfo).replace(tzinfo=None) == local.replace(tzinfo=None):
        return instant
    return datetime.combine(day, time(1), UTC)  # where all clocks of Europe change


def nights(home: HomeOnDisk, change: SummerTime, faults: Sequence[Fault]) -> Iterator[str]:
    """What is wrong with the runs of the task."""
    rows = home.rows("SELECT planned_ms FROM task_runs WHERE task_id = ?", _NAME)
    planned = [datetime.fromtimestamp(row["planned_ms"] / 1000, UTC) for row in rows]
    for instant in planned:
        if instant != due_on(instant.astimezone(ZoneInfo(_ZONE)).date()):
            yield f"the task of the night has a run at {instant}"
    is_set = any(fault.kind is FaultKind.CLOCK_SET for fault in faults)
    that_night = due_on(_day_of(change, SystemClock().now()))
    tasks = home.rows("SELECT next_run_ms FROM tasks WHERE task_id = ?", _NAME)
    is_past = tasks[0]["next_run_ms"] > that_night.timestamp() * 1000
    if is_past and not is_set and that_night not in planned:
        yield f"the task of the night has no run at {that_night}: {planned}"


def _day_of(change: SummerTime, now: datetime) -> date:
    """The next last Sunday of March, or of October, that is a few days off."""
    month = _MARCH if change.is_spring else _OCTOBER
    years = (now.year, now.year + 1)
    days = (_last_sunday(year, month) for year in years)
    return next(day for day in days if day > now.date() + 3 * _DAY)


def _last_sunday(year: int, month: int) -> date:
    last = date(year, month, 31)
    return last - (last.weekday() + 1) % 7 * _DAY
