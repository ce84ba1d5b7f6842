"""The clocks of a running agent. Source: contracts.md sections 2 and 6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.engine.run_clock import ClockSettings, Due, RunClock

LIMITS = ClockSettings(
    silence_s=1_800, turn_s=7_200, idle_s=600, close_s=30, still_working_s=120, typing_s=10_000
)
ACTIONS = ("turn_began", "turn_ended", "showed_life", "said_something", "close_asked", "due")


def busy(**limits: float) -> RunClock:
    """A clock at 0, its first turn under way."""
    plain = {name: getattr(LIMITS, name) for name in ClockSettings.__slots__}
    return RunClock(ClockSettings(**(plain | limits)), now=0)


def idle(**limits: float) -> RunClock:
    """A clock whose turn ended at 0."""
    clock = busy(**limits)
    clock.turn_ended(0)
    return clock


def dues(clock: RunClock, *instants: float) -> list[Due | None]:
    """What is due at each instant."""
    return [clock.due(now) for now in instants]


def test_an_agent_is_busy_from_its_start_on() -> None:
    clock = busy()

    assert clock.is_busy
    assert clock.idle_since is None


def test_silence_in_a_turn_ends_it() -> None:
    clock = busy(still_working_s=1e9)

    assert dues(clock, 1_799, 1_800) == [None, Due.TOO_SILENT]


@pytest.mark.parametrize("sign", ["showed_life", "said_something"])
def test_a_sign_of_life_begins_the_silence_anew(sign: str) -> None:
    """Case E9."""
    clock = busy(still_working_s=1e9)

    getattr(clock, sign)(1_000)

    assert dues(clock, 2_799, 2_800) == [None, Due.TOO_SILENT]


def test_a_turn_may_not_last_longer_than_its_limit_however_lively_it_is() -> None:
    clock = busy(still_working_s=1e9)
    for now in range(0, 7_200, 100):
        clock.showed_life(now)

    assert dues(clock, 7_199, 7_200) == [None, Due.TURN_TOO_LONG]


def test_the_next_turn_has_its_own_limit() -> None:
    clock = busy(still_working_s=1e9)
    clock.turn_ended(7_000)
    clock.turn_began(7_100)

    assert dues(clock, 7_200, 8_899, 8_900) == [None, None, Due.TOO_SILENT]


def test_a_follow_up_that_joins_a_turn_does_not_lengthen_it() -> None:
    clock = busy(still_working_s=1e9)
    clock.turn_began(7_000)
    clock.showed_life(7_000)

    assert dues(clock, 7_199, 7_200) == [None, Due.TURN_TOO_LONG]


def test_still_working_is_said_once_a_turn() -> None:
    clock = busy()

    said = dues(clock, 119, 120, 121, 500)
    clock.turn_ended(600)
    clock.turn_began(700)

    assert said == [None, Due.SAY_STILL_WORKING, None, None]
    assert dues(clock, 819, 820) == [None, Due.SAY_STILL_WORKING]


def test_still_working_counts_from_the_last_text_not_from_other_signs_of_life() -> None:
    clock = busy()
    clock.said_something(100)
    clock.showed_life(200)

    assert dues(clock, 219, 220) == [None, Due.SAY_STILL_WORKING]


def test_typing_is_renewed_while_a_turn_runs_and_only_then() -> None:
    clock = busy(typing_s=4)

    running = dues(clock, 3, 4, 5, 8)
    clock.turn_ended(9)

    assert running == [None, Due.RENEW_TYPING, None, Due.RENEW_TYPING]
    assert dues(clock, 20, 100) == [None, None]


def test_an_idle_agent_is_closed_after_its_time() -> None:
    clock = idle()

    assert (clock.is_busy, clock.idle_since) == (False, 0)
    assert dues(clock, 599, 600) == [None, Due.IDLE_TOO_LONG]


def test_a_new_turn_ends_idleness() -> None:
    clock = idle()

    clock.turn_began(599)

    assert (clock.is_busy, clock.idle_since) == (True, None)
    assert dues(clock, 600, 700) == [None, None]


def test_an_idle_agent_that_was_asked_to_close_is_given_30_s() -> None:
    clock = idle()
    clock.close_asked(10)
    clock.close_asked(35)

    assert dues(clock, 39, 40) == [None, Due.SLOW_TO_CLOSE]


def test_an_agent_asked_to_close_may_finish_its_turn_first() -> None:
    clock = busy(still_working_s=1e9)
    clock.close_asked(10)
    in_turn = dues(clock, 100, 1_000)
    clock.turn_ended(1_000)

    assert in_turn == [None, None]
    assert dues(clock, 1_029, 1_030) == [None, Due.SLOW_TO_CLOSE]


@given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 2_000)), max_size=30), st.integers(1, 50))
def test_nothing_is_due_before_the_clock_says_it_is_worth_asking(
    history: list[tuple[str, int]], typing_s: int
) -> None:
    clock, now = busy(typing_s=typing_s), 0.0
    for action, pause in history:
        now += pause
        getattr(clock, action)(now)
    while clock.due(now) in (Due.SAY_STILL_WORKING, Due.RENEW_TYPING):
        pass

    wait_s = clock.next_in_s(now)

    assert wait_s >= 0
    if clock.due(now) is None:
        assert wait_s > 0
        assert clock.due(now + wait_s * 0.99) is None
        assert clock.due(now + wait_s) is not None
