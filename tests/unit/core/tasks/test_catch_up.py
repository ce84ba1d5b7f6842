"""What becomes of runs that were due while nobody looked."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import GroupFolder, Jid, TaskId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import CatchUp, ContextMode, ScheduleKind, Task, TaskStatus
from orchestrator.core.tasks.catch_up import DuePlan, due_runs
from orchestrator.core.tasks.schedule import next_run, read_schedule

GRACE = timedelta(hours=24)
NOON = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
every_rule = pytest.mark.parametrize("rule", CatchUp)


def plan(
    rule: CatchUp,
    planned: datetime | None,
    *,
    now: datetime = NOON,
    kind: ScheduleKind = ScheduleKind.CRON,
    value: str = "0 * * * *",
    status: TaskStatus = TaskStatus.ACTIVE,
    grace: timedelta = GRACE,
) -> DuePlan:
    """The plan at `now` of a task that was last planned for `planned`; hourly unless said otherwise."""
    task = Task(
        task_id=TaskId("task-1"),
        group=GroupFolder("family"),
        chat_jid=Jid("1203@g.us"),
        title="",
        prompt="water the plants",
        kind=kind,
        schedule_value=value,
        timezone="UTC",
        context_mode=ContextMode.GROUP,
        catch_up=rule,
        notify=True,
        status=status,
        rights=Rights.OPERATOR,
        created_at=NOON - 90 * DAY,
        next_run_at=planned,
    )
    schedule = read_schedule(kind, value, zone=ZoneInfo("UTC"))
    return due_runs(task, schedule, now=now, grace=grace)


def hours_before(now: datetime, hours: Sequence[int]) -> tuple[datetime, ...]:
    return tuple(now - hour * HOUR for hour in hours)


@every_rule
def test_a_run_that_is_on_time_runs(rule: CatchUp) -> None:
    seen_at = NOON + timedelta(seconds=30)

    assert plan(rule, NOON, now=seen_at) == DuePlan(runs=(NOON,), missed=(), next_run_at=NOON + HOUR)


@every_rule
def test_what_is_not_due_is_left_alone(rule: CatchUp) -> None:
    planned = NOON + timedelta(seconds=1)

    assert plan(rule, planned) == DuePlan(runs=(), missed=(), next_run_at=planned)


@pytest.mark.parametrize("status", [status for status in TaskStatus if status is not TaskStatus.ACTIVE])
def test_only_an_active_task_is_due(status: TaskStatus) -> None:
    planned = NOON - HOUR

    assert plan(CatchUp.ALL, planned, status=status) == DuePlan(runs=(), missed=(), next_run_at=planned)


def test_a_task_without_a_next_run_is_not_due() -> None:
    assert plan(CatchUp.ALL, None) == DuePlan(runs=(), missed=(), next_run_at=None)


def test_with_latest_the_newest_missed_run_stands_for_the_others() -> None:
    found = plan(CatchUp.LATEST, NOON - 5 * HOUR, now=NOON + timedelta(minutes=20))

    assert found == DuePlan(runs=(NOON,), missed=(), next_run_at=NOON + HOUR)


def test_with_all_each_missed_run_is_made_up_for_in_order() -> None:
    found = plan(CatchUp.ALL, NOON - 3 * HOUR)

    assert found.runs == hours_before(NOON, [3, 2, 1, 0])
    assert found.missed == ()
    assert found.next_run_at == NOON + HOUR


def test_with_all_the_ten_newest_run_and_those_before_are_missed() -> None:
    found = plan(CatchUp.ALL, NOON - 12 * HOUR)

    assert found.runs == hours_before(NOON, range(9, -1, -1))
    assert found.missed == hours_before(NOON, [12, 11, 10])


def test_with_skip_a_late_run_is_passed_over() -> None:
    found = plan(CatchUp.SKIP, NOON - 3 * HOUR, now=NOON + timedelta(minutes=5))

    assert found == DuePlan(runs=(), missed=(), next_run_at=NOON + HOUR)


def test_with_skip_the_newest_run_is_made_if_it_is_on_time() -> None:
    found = plan(CatchUp.SKIP, NOON - 3 * HOUR, now=NOON + timedelta(seconds=60))

    assert found.runs == (NOON,)


def test_what_is_older_than_the_grace_is_missed_and_the_newest_within_it_runs() -> None:
    found = plan(CatchUp.LATEST, NOON - 27 * HOUR)

    assert found.runs == (NOON,)
    assert found.missed == hours_before(NOON, [27, 26, 25])


def test_the_grace_itself_is_within_the_grace() -> None:
    at_nine = datetime(2026, 1, 9, 9, 0, tzinfo=UTC)

    in_time = plan(CatchUp.LATEST, at_nine, now=at_nine + GRACE, value="0 9 9 * *")
    too_late = plan(
        CatchUp.LATEST, at_nine, now=at_nine + GRACE + timedelta(milliseconds=1), value="0 9 9 * *"
    )

    assert (in_time.runs, in_time.missed) == ((at_nine,), ())
    assert (too_late.runs, too_late.missed) == ((), (at_nine,))


@every_rule
def test_three_days_offline_leave_a_weekly_task_missed_and_planned_again(rule: CatchUp) -> None:
    monday = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)

    found = plan(rule, monday, now=monday + 3 * DAY, value="0 9 * * MON")

    assert found == DuePlan(runs=(), missed=(monday,), next_run_at=monday + 7 * DAY)


@pytest.mark.parametrize("rule", [CatchUp.LATEST, CatchUp.ALL])
def test_a_once_within_the_grace_runs_and_is_the_last(rule: CatchUp) -> None:
    found = plan(rule, NOON - 3 * HOUR, kind=ScheduleKind.ONCE, value="2026-01-10T09:00Z")

    assert found == DuePlan(runs=(NOON - 3 * HOUR,), missed=(), next_run_at=None)


@every_rule
def test_a_once_older_than_the_grace_ends_as_missed(rule: CatchUp) -> None:
    found = plan(rule, NOON - 25 * HOUR, kind=ScheduleKind.ONCE, value="2026-01-09T11:00Z")

    assert found == DuePlan(runs=(), missed=(NOON - 25 * HOUR,), next_run_at=None)


def test_a_late_once_that_is_to_be_skipped_ends_as_missed_not_as_nothing() -> None:
    found = plan(CatchUp.SKIP, NOON - HOUR, kind=ScheduleKind.ONCE, value="2026-01-10T11:00Z")

    assert found == DuePlan(runs=(), missed=(NOON - HOUR,), next_run_at=None)


def test_a_once_that_was_just_past_when_it_was_made_runs_whatever_the_rule() -> None:
    found = plan(
        CatchUp.SKIP, NOON - timedelta(seconds=60), kind=ScheduleKind.ONCE, value="2026-01-10T11:59Z"
    )

    assert found.runs == (NOON - timedelta(seconds=60),)


def test_an_interval_goes_on_from_its_planned_time() -> None:
    planned = NOON - timedelta(minutes=100)

    found = plan(CatchUp.LATEST, planned, kind=ScheduleKind.INTERVAL, value="1800000")

    assert found.runs == (planned + timedelta(minutes=90),)
    assert found.next_run_at == planned + timedelta(minutes=120)


def test_without_any_grace_a_run_on_time_runs_still() -> None:
    assert plan(CatchUp.LATEST, NOON, now=NOON + timedelta(seconds=5), grace=timedelta(0)).runs == (NOON,)


def test_a_planned_time_off_the_grid_counts_as_it_is_stored() -> None:
    planned = NOON - timedelta(minutes=50)

    found = plan(CatchUp.ALL, planned)

    assert found.runs == (planned, NOON)


@every_rule
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (ScheduleKind.CRON, "* * * * *"),
        (ScheduleKind.CRON, "0 9 * * *"),
        (ScheduleKind.CRON, "0 9 29 2 *"),
        (ScheduleKind.INTERVAL, "60000"),
        (ScheduleKind.INTERVAL, "1000"),
    ],
)
def test_years_offline_are_worked_out_at_once_and_name_the_newest_hundred(
    rule: CatchUp, kind: ScheduleKind, value: str
) -> None:
    began_s = process_time()

    found = plan(rule, NOON - 8 * 365 * DAY, kind=kind, value=value)

    assert process_time() - began_s < 1
    assert len(found.runs) <= 10
    assert len(found.missed) <= 100
    assert found.next_run_at is not None
    assert found.next_run_at > NOON


@given(
    st.sampled_from(CatchUp),
    st.sampled_from(
        [
            (ScheduleKind.CRON, "*/20 * * * *"),
            (ScheduleKind.CRON, "0 9,17 * * *"),
            (ScheduleKind.CRON, "30 6 * * MON"),
            (ScheduleKind.INTERVAL, "5400000"),
        ]
    ),
    st.integers(0, 100_000),
    st.integers(0, 100_000),
)
def test_every_planned_time_runs_is_missed_or_is_stood_for(
    rule: CatchUp, schedule: tuple[ScheduleKind, str], behind_s: int, grace_s: int
) -> None:
    kind, value = schedule
    planned, grace = NOON - timedelta(seconds=behind_s), timedelta(seconds=grace_s)
    read = read_schedule(kind, value, zone=ZoneInfo("UTC"))
    slots, slot = [planned], next_run(read, after=planned, anchor=planned)
    while slot is not None and slot <= NOON:
        slots.append(slot)
        slot = next_run(read, after=slot, anchor=planned)

    found = plan(rule, planned, kind=kind, value=value, grace=grace)

    used = [*found.missed, *found.runs]
    fresh = [each for each in slots if NOON - each <= max(grace, timedelta(seconds=60))]
    assert used == sorted(set(used))
    assert set(used) <= set(slots)
    assert set(slots) - set(used) <= (set() if rule is CatchUp.ALL else set(fresh))
    assert set(found.runs) <= set(fresh)
    assert not set(found.missed) & set(fresh[-10:])
    assert (
        len(found.runs)
        == {
            CatchUp.LATEST: min(len(fresh), 1),
            CatchUp.ALL: min(len(fresh), 10),
            CatchUp.SKIP: int(NOON - slots[-1] <= timedelta(seconds=60)),
        }[rule]
    )
    assert found.next_run_at == slot
