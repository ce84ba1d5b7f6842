"""What is known of a dead agent."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.agents import AgentStatus, DeathCause, EndReason, ExitStatus
from orchestrator.core.agents.unstartable import Need
from orchestrator.core.states.agent import AgentEventKind

_STOPPED: Final = frozenset({AgentStatus.TIMED_OUT, AgentStatus.TERMINATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """What is known of a dead agent, after its output was read to the end and its box drained.

    acks: what lay in `acks/`, by turn. unread: stems of follow-ups it never took.
    exit: None when nobody saw it end. misconfigured: why it can't be started until an operator acts.
    is_budget_spent: it was not started, since its group may not spend more. provider_failure: how its latest
    call to the provider failed. needed: what it can't start without.
    failed_start: why it was not started. files_modified: as of a result.
    """

    cause: DeathCause
    reason: EndReason
    event: AgentEventKind
    acks: Mapping[TurnId, object]
    unread: Collection[str]
    exit: ExitStatus | None
    misconfigured: str | None = None
    is_budget_spent: bool = False
    provider_failure: str | None = None
    needed: Sequence[Need] = ()
    failed_start: str | None = None
    files_modified: tuple[str, ...] | None = None


def exit_code_of(remains: Remains, ended_as: AgentStatus) -> int | None:
    """What its program ended with; None if nobody saw it, or if its time was over.

    Who was stopped in good order ends with 0, and whoever looks at that alone would believe its work done.
    """
    code = None if remains.exit is None else remains.exit.code
    if remains.reason is EndReason.TIMED_OUT or (code == 0 and ended_as in _STOPPED):
        return None
    return code
