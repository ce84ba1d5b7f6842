"""How a spawned agent ended, by what is known of its last turn and of its process."""

from typing import Final

from orchestrator.contracts.records.agents import AgentStatus, DeathCause, EndReason, ExitStatus, TurnOutcome
from orchestrator.contracts.records.spawns import SpawnRecord, StoppedWith, StopReason
from orchestrator.contracts.wire.agent_words import stopped_in_words
from orchestrator.contracts.wire.container_io import TurnError
from orchestrator.core.states.agent import AgentEventKind

_BY_PEOPLE: Final = frozenset({DeathCause.STOPPED, DeathCause.VIOLATED})
_OF_THE_PROCESS = (AgentEventKind.ENDED_WELL, AgentEventKind.ENDED_BADLY, AgentEventKind.FOUND_DEAD)


_ENDED: Final = {
    EndReason.EXITED: "Its process ended by itself.",
    EndReason.CRASHED: "Its process broke off.",
    EndReason.OOM: "It used more memory than it may.",
    EndReason.STOPPED: "It was stopped.",
    EndReason.TIMED_OUT: "It took longer than it may.",
    EndReason.START_FAILED: "It could not be started.",
    EndReason.ENGINE_LOST: "What runs its container went away.",
    EndReason.ORCHESTRATOR_DIED: "Dovecote broke off while it ran.",
}


def ended_in_words(reason: EndReason) -> str:
    """Why the process of an agent is no more, as a sentence."""
    return _ENDED[reason]


def end_of_spawned(event: AgentEventKind, outcome: TurnOutcome | None) -> AgentEventKind:
    """What its end means for its record: a turn that ended well is a good end, whoever saw the process go.

    event: what is known of its process. outcome: of its last turn.
    """
    if event not in _OF_THE_PROCESS:
        return event
    if outcome is TurnOutcome.SUCCESS:
        return AgentEventKind.ENDED_WELL
    return AgentEventKind.ENDED_BADLY if event is AgentEventKind.ENDED_WELL else event


def too_many_restarts(count: int, *, window_s: float, why: str | None) -> str:
    """One sentence for who asked for an agent that is not started again. why: how its last attempt ended."""
    often = f"started again {count} time{'' if count == 1 else 's'} within {window_s:g} s, which is the most"
    return f"It was {often}, and ended once more: {why or 'its work was done.'}"


def why_it_failed(
    spawn: SpawnRecord,
    reason: EndReason,
    *,
    outcome: TurnOutcome | None,
    error: TurnError | None,
    exit_status: ExitStatus | None,
    failed_start: str | None,
) -> str | None:
    """One sentence for who asked; None where all went well."""
    if reason is EndReason.TIMED_OUT:
        return f"It took longer than it may: {spawn.effective_timeout_ms} ms."
    if spawn.stop_reason is not None:
        return f"It was {stopped_in_words(spawn.stop_reason, spawn.stopped_by)}."
    if reason is EndReason.START_FAILED:
        return failed_start or "It could not be started."
    if error is not None:
        return error.message or error.code
    if outcome is TurnOutcome.SUCCESS:
        return None
    if reason is EndReason.STOPPED:
        return "It was stopped."
    if exit_status is not None and exit_status.is_oom:
        return "It used more memory than it may."
    if exit_status is not None:
        return f"Its process ended with {exit_status.code} before its work was done."
    return "Dovecote ended while it ran, and its work was not done by then."


def stop_reason_of(status: AgentStatus, spawn: SpawnRecord | None, cause: DeathCause | None) -> StopReason:
    """Why it was stopped, in the words of the source document.

    Whose time ran out, was stopped by time; of others their spawn says it, if anybody told them to stop.
    Else it is people, or the end of all: a shutdown, and a process of ours that died with its agents.
    """
    if status is AgentStatus.TIMED_OUT or cause is DeathCause.TIMED_OUT:
        return StopReason.TIMEOUT
    if spawn is not None and spawn.stop_reason is not None:
        return spawn.stop_reason
    return StopReason.MANUAL if cause in _BY_PEOPLE else StopReason.CASCADE


def stopped_with(
    status: AgentStatus, spawn: SpawnRecord | None, cause: DeathCause | None
) -> StoppedWith | None:
    """With whom it went, if it was stopped by a cascade."""
    if stop_reason_of(status, spawn, cause) is not StopReason.CASCADE:
        return None
    if spawn is not None and spawn.stop_reason is StopReason.CASCADE:
        return StoppedWith.PARENT
    return StoppedWith.ORCHESTRATOR_DIED if cause is DeathCause.ORCHESTRATOR else StoppedWith.ORCHESTRATOR
