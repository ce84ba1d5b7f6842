"""What the rig expects of the nights in which the clocks are changed: it sees what is wrong there."""

import contextlib
import sqlite3
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.home_on_disk import HomeOnDisk
from tests.support.planned import plan
from tests.torture.nights import due_on, nightly, nights
from tests.torture.plan import SummerTime

SPRING = SummerTime(is_spring=True, before_s=10)
AUTUMN = SummerTime(is_spring=False, before_s=10)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("day", "hour", "minute"),
    [
        (date(2027, 3, 27), 1, 59),
        (date(2027, 3, 28), 1, 0),
        (date(2027, 3, 29), 0, 59),
        (date(2027, 10, 30), 0, 59),
        (date(2027, 10, 31), 0, 59),
        (date(2027, 11, 1), 1, 59),
    ],
)
def test_a_time_in_the_gap_is_its_end_and_one_in_the_overlap_its_first(
    day: date, hour: int, minute: int
) -> None:
    assert due_on(day) == datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize("change", [SPRING, AUTUMN])
async def test_a_run_in_that_night_is_right_and_none_or_one_beside_it_is_found(
    change: SummerTime, open_path: Path
) -> None:
    home = HomeOnDisk(open_path)
    await home.add_group()
    task = nightly(change, folder="kitchen")
    assert task.next_run_at is not None
    that_night = due_on(task.next_run_at.date() + timedelta(days=1))
    await plan(home, task)
    _run(home, task.next_run_at, then=that_night + 20 * HOUR)
    without = [*nights(home, change, [])]
    _run(home, that_night, then=that_night + 20 * HOUR)
    well = [*nights(home, change, [])]
    _run(home, that_night + HOUR, then=that_night + 20 * HOUR)

    doubled = [*nights(home, change, [])]

    assert ["has no run" in each for each in without] == [True]
    assert well == []
    assert doubled == [f"the task of the night has a run at {that_night + HOUR}"]


def _run(home: HomeOnDisk, planned_at: datetime, *, then: datetime) -> None:
    """The orchestrator says that it ran at this slot, and when it runs next."""
    path = home.path / "data" / "store" / "dovecote.db"
    row = (str(planned_at), planned_at.timestamp() * 1000)
    with contextlib.closing(sqlite3.connect(path)) as store, store:
        store.execute(
            "INSERT INTO task_runs (run_id, task_id, planned_ms, status, claimed_ms, due_ms)"
            " VALUES (?, 'nightly', ?, 'succeeded', 0, 0)",
            row,
        )
        store.execute("UPDATE tasks SET next_run_ms = ?", (then.timestamp() * 1000,))
