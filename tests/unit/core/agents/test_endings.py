"""How a spawned agent ended. agents.md section 2."""

import pytest

from orchestrator.contracts.records.agents import EndReason, ExitStatus, TurnOutcome
from orchestrator.contracts.records.spawns import (
    SpawnRecord,
    StopReason,
)
from orchestrator.contracts.wire.container_io import TurnError
from orchestrator.core.agents.endings import end_of_spawned, ended_in_words, why_it_failed
from orchestrator.core.states.agent import AgentEventKind
from tests.support.store_rows import spawn_record

E = AgentEventKind


def spawn(stop_reason: StopReason | None = None) -> SpawnRecord:
    return spawn_record(effective_timeout_ms=90, stop_reason=stop_reason)


@pytest.mark.parametrize(
    ("event", "outcome", "expected"),
    [
        (E.ENDED_WELL, TurnOutcome.SUCCESS, E.ENDED_WELL),
        (E.ENDED_WELL, TurnOutcome.ERROR, E.ENDED_BADLY),
        (E.ENDED_WELL, TurnOutcome.DIED, E.ENDED_BADLY),
        (E.ENDED_WELL, None, E.ENDED_BADLY),
        (E.ENDED_BADLY, TurnOutcome.SUCCESS, E.ENDED_WELL),
        (E.ENDED_BADLY, TurnOutcome.DIED, E.ENDED_BADLY),
        (E.FOUND_DEAD, TurnOutcome.SUCCESS, E.ENDED_WELL),
        (E.FOUND_DEAD, TurnOutcome.DIED, E.FOUND_DEAD),
        (E.RAN_OUT, TurnOutcome.SUCCESS, E.RAN_OUT),
        (E.NOT_FOUND, TurnOutcome.SUCCESS, E.NOT_FOUND),
        (E.START_FAILED, None, E.START_FAILED),
        (E.TOLD_TO_STOP, None, E.TOLD_TO_STOP),
    ],
)
def test_what_an_end_means_for_the_record(
    event: AgentEventKind, outcome: TurnOutcome | None, expected: AgentEventKind
) -> None:
    assert end_of_spawned(event, outcome) is expected


@pytest.mark.parametrize(
    ("reason", "outcome", "error", "code", "expected"),
    [
        (EndReason.EXITED, TurnOutcome.SUCCESS, None, 0, None),
        (EndReason.EXITED, TurnOutcome.ERROR, TurnError(code="PROVIDER_AUTH", message="no key"), 0, "no key"),
        (EndReason.EXITED, TurnOutcome.ERROR, TurnError(code="PROVIDER_AUTH"), 0, "PROVIDER_AUTH"),
        (
            EndReason.CRASHED,
            TurnOutcome.DIED,
            None,
            137,
            "Its process ended with 137 before its work was done.",
        ),
        (EndReason.TIMED_OUT, TurnOutcome.DIED, None, 143, "It took longer than it may: 90 ms."),
        (EndReason.START_FAILED, None, None, None, "no image"),
        (EndReason.STOPPED, TurnOutcome.DIED, None, 143, "It was stopped."),
        (
            EndReason.ORCHESTRATOR_DIED,
            TurnOutcome.DIED,
            None,
            None,
            "Dovecote ended while it ran, and its work was not done by then.",
        ),
    ],
)
def test_why_it_failed_is_one_sentence(
    reason: EndReason, outcome: TurnOutcome | None, error: TurnError | None, code: int | None, expected: str
) -> None:
    status = None if code is None else ExitStatus(code=code)

    assert (
        why_it_failed(
            spawn(), reason, outcome=outcome, error=error, exit_status=status, failed_start="no image"
        )
        == expected
    )


def test_one_that_took_too_much_memory_says_so() -> None:
    status = ExitStatus(code=137, is_oom=True)
    why = why_it_failed(
        spawn(),
        EndReason.OOM,
        outcome=TurnOutcome.DIED,
        error=None,
        exit_status=status,
        failed_start=None,
    )

    assert why == "It used more memory than it may."


def test_one_that_was_stopped_says_why_whatever_its_turn_was() -> None:
    why = why_it_failed(
        spawn(StopReason.CASCADE),
        EndReason.STOPPED,
        outcome=TurnOutcome.SUCCESS,
        error=None,
        exit_status=None,
        failed_start=None,
    )

    assert why == "It was stopped with what had started it."


@pytest.mark.parametrize("reason", EndReason)
def test_why_a_process_is_no_more_is_told_in_a_sentence(reason: EndReason) -> None:
    told = ended_in_words(reason)

    assert told[0].isupper()
    assert told.endswith(".")
    assert "_" not in told
