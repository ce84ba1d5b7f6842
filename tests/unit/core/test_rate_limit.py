"""A token bucket as a value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.rate_limit import Bucket, take


def take_all(bucket: Bucket, now: float, *, per_minute: float, burst: float) -> tuple[Bucket, int]:
    """Take until one has to wait; how many were taken."""
    taken = 0
    while True:
        bucket, wait_s = take(bucket, now, per_minute=per_minute, burst=burst)
        if wait_s:
            return bucket, taken
        taken += 1


def test_a_full_bucket_gives_its_burst_and_then_one_each_interval() -> None:
    bucket, at_once = take_all(Bucket(tokens=60, at=0), 0.0, per_minute=120, burst=60)
    _, first_wait_s = take(bucket, 0.0, per_minute=120, burst=60)
    bucket, a_second_later = take_all(bucket, 1.0, per_minute=120, burst=60)

    assert (at_once, first_wait_s, a_second_later) == (60, 0.5, 2)


def test_it_never_holds_more_than_its_burst() -> None:
    _, taken = take_all(Bucket(tokens=0, at=0), 1e6, per_minute=120, burst=60)

    assert taken == 60


def test_a_clock_that_goes_back_neither_fills_nor_empties_it() -> None:
    bucket, wait_s = take(Bucket(tokens=0.5, at=100), 40.0, per_minute=60, burst=5)

    assert bucket == Bucket(tokens=0.5, at=100)
    assert wait_s == 0.5


@given(st.floats(0, 100), st.floats(0, 1e6), st.floats(0.1, 10_000), st.floats(1, 1000), st.floats(0, 1e4))
def test_who_waits_as_told_is_served(
    tokens: float, at: float, per_minute: float, burst: float, later_s: float
) -> None:
    bucket, wait_s = take(
        Bucket(tokens=min(tokens, burst), at=at), at + later_s, per_minute=per_minute, burst=burst
    )

    _, again_s = take(bucket, at + later_s + wait_s, per_minute=per_minute, burst=burst)

    assert wait_s == 0 or again_s == pytest.approx(0, abs=1e-3)


@given(st.lists(st.floats(0, 20), min_size=1, max_size=60))
def test_over_any_time_no_more_is_given_than_burst_and_rate_allow(pauses_s: list[float]) -> None:
    bucket, now, given_out = Bucket(tokens=3, at=0), 0.0, 0
    for pause_s in pauses_s:
        now += pause_s
        bucket, taken = take_all(bucket, now, per_minute=30, burst=3)
        given_out += taken

    assert given_out <= 3 + now * 30 / 60 + 0.01
