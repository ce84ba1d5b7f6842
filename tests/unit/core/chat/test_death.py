"""What becomes of a message whose agent is no more."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.records.agents import DeathCause
from orchestrator.contracts.records.messages import MessageStatus, StoredMessage
from orchestrator.core.chat.death import after_death, runs_alone, taken_together
from orchestrator.core.states.message import MESSAGE, MessageEvent
from tests.unit.core.chat.samples import stored


def in_turn(*, tries: int = 0, deaths: int = 0) -> StoredMessage:
    return replace(
        stored(is_trigger=True), status=MessageStatus.DISPATCHED, is_in_turn=True, tries=tries, deaths=deaths
    )


def test_without_effect_it_runs_again_after_5_s_doubling_for_5_tries() -> None:
    message, waits_s = in_turn(), []
    while (verdict := after_death(message, has_effects=False, cause=DeathCause.AGENT)).event is (
        MessageEvent.GIVEN_BACK
    ):
        waits_s.append(verdict.wait_s)
        message = in_turn(tries=verdict.tries)

    assert waits_s == [5, 10, 20, 40]
    assert verdict.event is MessageEvent.GAVE_UP
    assert verdict.tries == 5


@pytest.mark.parametrize("cause", [cause for cause in DeathCause if cause is not DeathCause.STOPPED])
def test_with_effects_it_is_never_run_again_by_itself(cause: DeathCause) -> None:
    assert after_death(in_turn(), has_effects=True, cause=cause).event is MessageEvent.BROKEN_OFF


@pytest.mark.parametrize("cause", [cause for cause in DeathCause if cause is not DeathCause.STOPPED])
@pytest.mark.parametrize("has_effects", [True, False])
def test_what_no_turn_took_goes_back_without_a_try(cause: DeathCause, has_effects: bool) -> None:
    waiting = replace(in_turn(tries=3, deaths=2), is_in_turn=False)

    verdict = after_death(waiting, has_effects=has_effects, cause=cause)

    assert (verdict.event, verdict.tries, verdict.deaths) == (MessageEvent.GIVEN_BACK, 3, 2)
    assert verdict.wait_s == 0


def test_an_end_of_the_orchestrators_own_is_no_try() -> None:
    death = after_death(in_turn(tries=2), has_effects=False, cause=DeathCause.ORCHESTRATOR)
    shutdown = after_death(in_turn(tries=2, deaths=4), has_effects=False, cause=DeathCause.HOST)

    assert (death.event, death.tries, death.deaths) == (MessageEvent.GIVEN_BACK, 2, 1)
    assert (shutdown.event, shutdown.tries, shutdown.deaths) == (MessageEvent.GIVEN_BACK, 2, 4)


def test_a_message_in_flight_at_five_such_ends_runs_alone_and_then_fails() -> None:
    after_five = replace(in_turn(), deaths=5)

    verdict = after_death(after_five, has_effects=False, cause=DeathCause.ORCHESTRATOR)

    assert runs_alone(after_five)
    assert not runs_alone(in_turn(deaths=4))
    assert verdict.event is MessageEvent.GAVE_UP


@pytest.mark.parametrize("has_effects", [True, False])
def test_what_was_stopped_on_wish_is_not_run_again(has_effects: bool) -> None:
    verdict = after_death(in_turn(), has_effects=has_effects, cause=DeathCause.STOPPED)

    assert verdict.event is MessageEvent.GAVE_UP


@pytest.mark.parametrize(("tries", "alone"), [(0, False), (1, False), (2, True), (4, True)])
def test_from_the_third_run_on_a_message_runs_alone(tries: int, alone: bool) -> None:
    assert runs_alone(in_turn(tries=tries)) is alone


@pytest.mark.parametrize(
    ("tries", "together"), [([], 0), ([0, 1, 0], 3), ([0, 0, 2, 0], 2), ([2, 0], 1), ([3, 2], 1), ([0, 2], 1)]
)
def test_a_run_takes_what_may_share_it_or_one_that_may_not(tries: list[int], together: int) -> None:
    triggers = [in_turn(tries=count) for count in tries]

    assert taken_together(triggers) == triggers[:together]


@given(st.booleans(), st.booleans(), st.integers(0, 9), st.integers(0, 9), st.sampled_from(DeathCause))
def test_every_verdict_is_a_move_that_a_dispatched_message_can_make(
    is_in_turn: bool, has_effects: bool, tries: int, deaths: int, cause: DeathCause
) -> None:
    message = replace(in_turn(tries=tries, deaths=deaths), is_in_turn=is_in_turn)

    verdict = after_death(message, has_effects=has_effects, cause=cause)

    assert MESSAGE.after(MessageStatus.DISPATCHED, verdict.event) in MessageStatus
    assert verdict.wait_s >= 0
