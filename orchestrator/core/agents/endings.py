"""How a spawned agent ended, by what is known of its last turn and of its process."""

from orchestrator.contracts.records.agents import EndReason, ExitStatus, TurnOutcome
from orchestrator.contracts.records.spawns import SpawnRecord
from orchestrator.contracts.wire.container_io import TurnError
from orchestrator.core.states.agent import AgentEventKind

_OF_THE_PROCESS = (AgentEventKind.ENDED_WELL, AgentEventKind.ENDED_BADLY, AgentEventKind.FOUND_DEAD)


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
        return f"It was stopped ({spawn.stop_reason.value})."
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
