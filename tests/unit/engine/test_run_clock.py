"""The clocks of a running agent. Source: contracts.md sections 2 and 6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.engine.run_clock import ClockSettings, Due, RunClock

LIMITS = ClockSettings(
    silence_s=1_800,
    turn_s=7_200,
    idle_s=600,
    close_s=30,
    still_working_s=120,
    typing_s=10_000,
    answer_s=86_400,
)
ACTIONS = (
    "turn_began",
    "turn_ended",
    "showed_life",
    "said_something",
    "close_asked",
    "due",
    "wait_began",
    "wait_ended",
    "awaits_agent",
    "awaits_nobody",
    "children_live",
    "children_gone",
)


def act(clock: RunClock, action: str, now: float) -> None:
    """Something that happens to the agent."""
    match action:
        case "awaits_agent" | "awaits_nobody":
            clock.set_awaits_agent(now, awaits=action == "awaits_agent")
        case "children_live" | "children_gone":
            clock.set_children(now, live=action == "children_live")
        case _:
            getattr(clock, action)(now)


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


def test_a_turn_is_too_silent_after_half_an_hour_without_a_sign() -> None:
    clock = busy(still_working_s=1e9)

    assert dues(clock, 1_799, 1_800) == [None, Due.TOO_SILENT]


@pytest.mark.parametrize("sign", ["showed_life", "said_something"])
def test_e9_a_sign_of_life_begins_the_silence_anew(sign: str) -> None:
    """Case E9."""
    clock = busy(still_working_s=1e9)

    getattr(clock, sign)(1_000)

    assert dues(clock, 2_799, 2_800) == [None, Due.TOO_SILENT]


def test_c3_an_agent_is_idle_when_it_says_that_its_turn_is_over_and_not_when_it_says_something() -> None:
    """Case C3."""
    clock = busy()

    clock.said_something(1)
    after_a_text = clock.is_busy
    clock.turn_ended(2)

    assert (after_a_text, clock.is_busy, clock.idle_since) == (True, False, 2)


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


def test_while_a_turn_waits_for_a_person_its_clocks_stand_still() -> None:
    clock = busy(typing_s=60)
    clock.wait_began(100)
    waiting = dues(clock, 2_000, 50_000)

    clock.wait_ended(50_100)

    assert waiting == [None, None]
    assert dues(clock, 50_101, 50_119, 50_120) == [Due.RENEW_TYPING, None, Due.SAY_STILL_WORKING]
    assert dues(clock, 51_799, 51_800) == [Due.RENEW_TYPING, Due.TOO_SILENT]


def test_a_turn_that_waited_has_left_of_its_limit_what_it_had() -> None:
    clock = busy(still_working_s=1e9, silence_s=1e9)
    clock.wait_began(7_000)
    clock.wait_ended(70_000)

    assert dues(clock, 70_199, 70_200) == [None, Due.TURN_TOO_LONG]


def test_a_question_that_nobody_answers_is_due_once_and_the_turn_is_not_waited_with_again() -> None:
    clock = busy(still_working_s=1e9)
    clock.wait_began(100)
    unanswered = dues(clock, 86_499, 86_500, 86_501)
    clock.wait_began(86_600)

    assert unanswered == [None, Due.NO_ANSWER, None]
    assert not clock.is_held
    assert dues(clock, 88_199, 88_200) == [None, Due.TOO_SILENT]


def test_the_next_turn_is_waited_with_again() -> None:
    clock = busy(still_working_s=1e9)
    clock.wait_began(100)
    clock.due(86_500)
    clock.turn_ended(86_600)
    clock.turn_began(86_700)

    clock.wait_began(86_800)

    assert clock.is_held


def test_who_has_no_turn_waits_for_nobody_and_the_end_of_a_turn_ends_its_wait() -> None:
    sleeper, worker = idle(), busy()
    sleeper.wait_began(10)
    worker.wait_began(10)

    worker.turn_ended(20)

    assert (sleeper.is_held, worker.is_held) == (False, False)
    assert dues(worker, 619, 620) == [None, Due.IDLE_TOO_LONG]


def test_who_waits_for_an_agent_is_neither_silent_nor_too_long_and_still_gives_signs_of_life() -> None:
    clock = busy(typing_s=1_000)
    clock.set_awaits_agent(10, awaits=True)

    was_waiting = clock.is_held
    assert dues(clock, 1_000, 50_000, 50_001) == [Due.SAY_STILL_WORKING, Due.RENEW_TYPING, None]

    clock.set_awaits_agent(100_010, awaits=False)
    assert (was_waiting, clock.is_held) == (True, False)
    assert dues(clock, 101_799, 101_800) == [Due.RENEW_TYPING, Due.TOO_SILENT]


def test_two_waits_at_once_stand_still_once() -> None:
    clock = busy(still_working_s=1e9, typing_s=1e9)
    clock.set_awaits_agent(100, awaits=True)
    clock.wait_began(200)
    clock.set_awaits_agent(300, awaits=False)
    assert clock.is_held
    clock.wait_ended(400)

    assert dues(clock, 2_099, 2_100) == [None, Due.TOO_SILENT]


def test_an_agent_that_waits_when_no_turn_runs_waits_for_nothing() -> None:
    clock = idle()
    clock.set_awaits_agent(10, awaits=True)

    assert not clock.is_held
    assert clock.due(600) is Due.IDLE_TOO_LONG


def test_the_end_of_a_turn_ends_its_wait() -> None:
    clock = busy()
    clock.set_awaits_agent(10, awaits=True)
    clock.turn_ended(20)

    assert not clock.is_held


def test_l1_idleness_stands_still_while_children_live() -> None:
    clock = idle()
    clock.set_children(100, live=True)
    assert clock.has_children
    assert (clock.due(10_000), clock.next_in_s(10_000)) == (None, None)

    clock.set_children(10_100, live=False)
    assert dues(clock, 10_599, 10_600) == [None, Due.IDLE_TOO_LONG]


def test_children_from_before_the_idleness_hold_it_from_its_beginning() -> None:
    clock = busy()
    clock.set_children(10, live=True)
    clock.turn_ended(100)
    clock.set_children(1_000, live=False)

    assert dues(clock, 1_599, 1_600) == [None, Due.IDLE_TOO_LONG]


@pytest.mark.parametrize("how", ["busy", "idle", "asking", "waiting"])
def test_a_deadline_holds_whatever_the_agent_does(how: str) -> None:
    clock = RunClock(LIMITS, now=0, deadline=90)
    if how == "idle":
        clock.turn_ended(1)
    elif how == "asking":
        clock.wait_began(1)
    elif how == "waiting":
        clock.set_awaits_agent(1, awaits=True)

    assert dues(clock, 89.9, 90) == [None, Due.DEADLINE_PASSED]
    assert clock.next_in_s(80) == 10


def test_a_deadline_that_passes_when_the_work_is_done_ends_nobody_but_its_exit_is_waited_for() -> None:
    clock = RunClock(LIMITS, now=0, deadline=90)

    clock.close_asked(80)
    clock.turn_ended(85)

    assert clock.next_in_s(86) == LIMITS.close_s - 1
    assert dues(clock, 90, 85 + LIMITS.close_s) == [None, Due.SLOW_TO_CLOSE]


@given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 2_000)), max_size=30), st.integers(1, 50))
def test_nothing_is_due_before_the_clock_says_it_is_worth_asking(
    history: list[tuple[str, int]], typing_s: int
) -> None:
    clock, now = busy(typing_s=typing_s), 0.0
    for action, pause in history:
        now += pause
        act(clock, action, now)
    while clock.due(now) in (Due.SAY_STILL_WORKING, Due.RENEW_TYPING, Due.NO_ANSWER):
        pass

    wait_s = clock.next_in_s(now)

    if wait_s is None:
        assert clock.due(now + 1e9) is None
        return
    assert wait_s >= 0
    if clock.due(now) is None:
        assert wait_s > 0
        assert clock.due(now + wait_s * 0.99) is None
        assert clock.due(now + wait_s) is not None
