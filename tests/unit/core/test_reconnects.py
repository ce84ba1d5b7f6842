"""Pauses between tries of a link, and the breaker over them."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.reconnects import Reconnects, RetryRule

RULE = RetryRule()


def test_g1_the_pauses_double_from_2_to_300_seconds_and_begin_again_when_it_was_open() -> None:
    """Case G1: 65,000 tries a minute."""
    patient = RetryRule(trips_at=1_000)
    known, pauses = Reconnects(), []
    for number in range(10):
        known = known.failed(number * 400.0, patient)
        pauses.append(known.pause_s(patient))

    after_open = known.opened().failed(9_000.0, patient)

    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    assert after_open.pause_s(patient) == 2


def test_g2_many_losses_in_five_minutes_open_the_breaker_although_each_time_it_was_open_again() -> None:
    """Case G2: a loop of losses for hours, each followed by a connection that stands for a moment."""
    known, tripped = Reconnects(), []
    for number in range(8):
        known = known.opened().failed(number * 10.0, RULE)
        tripped.append(known.is_tripped)

    assert tripped == [False] * 7 + [True]
    assert known.pause_s(RULE) == 300


def test_the_breaker_closes_once_the_link_has_held_for_the_window() -> None:
    known = Reconnects()
    for number in range(8):
        known = known.failed(float(number), RULE)

    open_for_a_moment = known.opened().held(100.0, RULE)
    open_for_long = known.opened().held(307.5, RULE)

    assert open_for_a_moment.is_tripped
    assert open_for_long == Reconnects()


def test_losses_far_apart_never_open_it() -> None:
    known = Reconnects()
    for number in range(100):
        known = known.opened().failed(number * 60.0, RULE)

    assert not known.is_tripped
    assert known.pause_s(RULE) == 2


@given(st.lists(st.tuples(st.floats(0, 1_000), st.sampled_from(["failed", "opened", "held"])), max_size=200))
def test_pauses_keep_their_bounds_and_what_is_remembered_stays_small(steps: list[tuple[float, str]]) -> None:
    known, now = Reconnects(), 0.0
    for seconds, what in steps:
        now += seconds
        if what == "opened":
            known = known.opened()
        else:
            known = known.failed(now, RULE) if what == "failed" else known.held(now, RULE)

        assert len(known.failed_at) <= RULE.trips_at + 1
        if known.in_a_row:
            assert 2 <= known.pause_s(RULE) <= 300
