"""How long to wait before the next try."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.backoff import delay_s, is_due

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("attempt", "expected"), [(0, 5), (1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (100, 60), (10**9, 60)]
)
def test_the_delay_doubles_up_to_its_limit(attempt: int, expected: float) -> None:
    assert delay_s(attempt, first_s=5, most_s=60) == expected


@given(st.integers(1, 10**6), st.floats(0.001, 60), st.floats(0.001, 3600))
def test_a_later_try_never_waits_less_and_none_waits_too_long(
    attempt: int, first_s: float, most_s: float
) -> None:
    delay = delay_s(attempt, first_s=first_s, most_s=most_s)

    assert 0 < delay <= most_s
    assert delay <= delay_s(attempt + 1, first_s=first_s, most_s=most_s)


@pytest.mark.parametrize(
    ("in_s", "expected"),
    [(-1, True), (0, True), (1, False), (60, False), (61, True), (30 * 86_400, True)],
    ids=["over", "just over", "not over", "longest", "too long", "by a clock that was a month ahead"],
)
def test_a_wait_is_over_in_its_time_and_when_no_wait_can_be_so_long(in_s: int, expected: bool) -> None:
    due_at = NOON + timedelta(seconds=in_s)

    assert is_due(due_at, now=NOON, longest=timedelta(seconds=60)) is expected
