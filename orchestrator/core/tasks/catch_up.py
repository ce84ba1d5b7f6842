"""What becomes of the runs that were due while nobody looked. Source: contracts.md section 7."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

from orchestrator.contracts.records.tasks import CatchUp, Task, TaskStatus
from orchestrator.core.tasks.schedule import Schedule, next_run

MAX_RUNS: Final = 10
"""As many runs are made up for with `all`."""
MAX_MISSED: Final = 100
"""As many missed runs are named, the newest: a minutely task that was down for a month has 43,000."""
ON_TIME: Final = timedelta(seconds=60)
"""A run seen this late was not missed: wall time is looked at at least every 30 s."""
_FIRST_SPAN: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuePlan:
    """What to do for a task now. runs, missed: planned times, oldest first.

    missed: runs that will not be, to be recorded and told. next_run_at: after this; None: no more.
    """

    runs: tuple[datetime, ...]
    missed: tuple[datetime, ...]
    next_run_at: datetime | None


def due_runs(task: Task, schedule: Schedule, *, now: datetime, grace: timedelta) -> DuePlan:
    """The runs of `task` that are due at `now`, by its catch-up rule.

    Every planned time up to `now` is used up: it runs, it is missed, or the rule passes over it. With
    `latest` the newest within `grace` runs and stands for the others; with `all` the ten newest run and
    those before are missed; with `skip` only one that is on time runs. Older than `grace` is missed. The
    last time of all is never passed over: it runs or is missed.
    """
    planned = task.next_run_at
    if task.status is not TaskStatus.ACTIVE or planned is None or planned > now:
        return DuePlan(runs=(), missed=(), next_run_at=planned)
    slots = _latest_slots(schedule, first=planned, until=now, count=MAX_MISSED + MAX_RUNS)
    fresh = [slot for slot in slots if now - slot <= max(grace, ON_TIME)]
    stale = slots[: len(slots) - len(fresh)]
    runs, passed_by = _chosen(task.catch_up, fresh, now=now)
    missed = [*stale, *passed_by]
    following = next_run(schedule, after=now, anchor=planned)
    if following is None and not runs and not missed:
        missed = [*slots[-1:]]
    return DuePlan(runs=tuple(runs), missed=tuple(missed[-MAX_MISSED:]), next_run_at=following)


def _chosen(
    rule: CatchUp, fresh: Sequence[datetime], *, now: datetime
) -> tuple[Sequence[datetime], Sequence[datetime]]:
    """Of what is within the grace: what runs, and what is missed."""
    match rule:
        case CatchUp.LATEST:
            return fresh[-1:], ()
        case CatchUp.SKIP:
            return [slot for slot in fresh[-1:] if now - slot <= ON_TIME], ()
        case CatchUp.ALL:
            return fresh[-MAX_RUNS:], fresh[:-MAX_RUNS]
        case _ as never:
            assert_never(never)


def _latest_slots(schedule: Schedule, *, first: datetime, until: datetime, count: int) -> Sequence[datetime]:
    """The newest `count` planned times from `first` to `until`, oldest first.

    Looks back over spans that double, so that a long stop costs no more than a short one.
    """
    span = _FIRST_SPAN
    while True:
        start = max(first, until - span)
        slots = [first] if start == first else []
        slot = next_run(schedule, after=start, anchor=first)
        while slot is not None and slot <= until:
            slots.append(slot)
            slot = next_run(schedule, after=slot, anchor=first)
        if start == first or len(slots) >= count:
            return slots[-count:]
        span *= 2
