"""Intervals count from the planned time, whatever happened since."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.tasks.schedule import IntervalSchedule, OnceSchedule, first_run, next_run

NOON = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
HOURLY = IntervalSchedule(every=timedelta(hours=1))
MS = timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("late", "next_in"),
    [
        (timedelta(0), timedelta(hours=1)),
        (timedelta(seconds=40), timedelta(hours=1)),
        (timedelta(hours=1) - MS, timedelta(hours=1)),
        (timedelta(hours=1), timedelta(hours=2)),
        (timedelta(hours=1, seconds=1), timedelta(hours=2)),
        (timedelta(days=400, minutes=30), timedelta(days=400, hours=1)),
        (-timedelta(hours=5), timedelta(hours=1)),
    ],
    ids=[
        "on time",
        "a little late",
        "a moment before the next",
        "at the next, which is being taken",
        "one tick is skipped",
        "ten thousand ticks are skipped in one step",
        "the clock was put back: never the planned time again",
    ],
)
def test_the_next_tick_counts_from_the_planned_time(late: timedelta, next_in: timedelta) -> None:
    assert next_run(HOURLY, after=NOON + late, anchor=NOON) == NOON + next_in


def test_the_first_tick_comes_one_interval_after_the_task_was_made() -> None:
    made_at = NOON + timedelta(microseconds=123_456)

    assert first_run(HOURLY, now=made_at) == NOON + timedelta(hours=1, milliseconds=123)


@given(
    st.integers(1, 10**9),
    st.integers(-(10**12), 10**12),
    st.integers(0, 999),
)
def test_every_tick_is_the_first_on_the_grid_of_the_planned_time(
    every_ms: int, late_ms: int, late_us: int
) -> None:
    every = timedelta(milliseconds=every_ms)
    after = NOON + timedelta(milliseconds=late_ms, microseconds=late_us)

    found = next_run(IntervalSchedule(every=every), after=after, anchor=NOON)

    assert found is not None
    assert found > max(after, NOON)
    assert found - every <= max(after, NOON)
    assert (found - NOON) % every == timedelta(0)


def test_once_comes_once() -> None:
    once = OnceSchedule(at=NOON)

    assert next_run(once, after=NOON - MS) == NOON
    assert next_run(once, after=NOON) is None
    assert first_run(once, now=NOON - timedelta(days=1)) == NOON
