"""What happens to agents and trees, as the event log keeps it and subscribers read it.

Six events of an agent's life and twelve for the audit, as in the source document, and two of restarts, which
are for the audit too; one class each. Their fields are spelled in camelCase
on the wire, one that is None is left out, and the log adds `timestamp` and `seq`.
Source: agents.md section 2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.wire.codec import Wire


class EventClass(StrEnum):
    """What an event is kept for. Those for the audit are kept longer, and no reader is spared them."""

    AGENT = "agent"
    AUDIT = "audit"


class LogLevel(StrEnum):
    """How grave the agent itself says a line is; never guessed from its words."""

    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStarted(Wire):
    """An agent took its input. parent_agent_id: None of a root. depth: 0 = root."""

    agent_id: AgentId
    tree_id: TreeId
    depth: int
    parent_agent_id: AgentId | None = None
    task: str
    workspace_path: str
    type: str = "agent.started"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLogged(Wire):
    """An agent said something, to people or for its log."""

    agent_id: AgentId
    tree_id: TreeId
    depth: int
    parent_agent_id: AgentId | None = None
    message: str
    level: LogLevel = LogLevel.INFO
    type: str = "agent.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProgressed(Wire):
    """An agent said how far it is. progress: 0 to 100."""

    agent_id: AgentId
    tree_id: TreeId
    depth: int
    parent_agent_id: AgentId | None = None
    progress: float
    description: str | None = None
    type: str = "agent.progress"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCompleted(Wire):
    """An agent ended well. exit_code: None if nobody saw it.

    files_modified: relative to its workspace; None if nobody looked.
    """

    agent_id: AgentId
    tree_id: TreeId
    depth: int
    parent_agent_id: AgentId | None = None
    exit_code: int | None = None
    output: str
    duration_ms: int
    files_modified: tuple[str, ...] | None = None
    type: str = "agent.completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFailed(Wire):
    """An agent ended badly. exit_code: None if nobody saw it end."""

    agent_id: AgentId
    tree_id: TreeId
    depth: int
    parent_agent_id: AgentId | None = None
    exit_code: int | None = None
    error: str
    output: str | None = None
    type: str = "agent.failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTerminated(Wire):
    """An agent was stopped. reason: `cascade`, `manual`, `timeout` or `orphan_cleanup`.

    terminated_by: who asked for it: an agent's id, `operator`, or `key:` and the name of an API key; None if
    nobody did. stopped_with: whose end a cascade was: `parent`, `orchestrator` or `orchestrator_died`.
    """

    agent_id: AgentId
    tree_id: TreeId
    depth: int
    parent_agent_id: AgentId | None = None
    reason: str
    terminated_by: str | None = None
    stopped_with: str | None = None
    type: str = "agent.terminated"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSpawned(Wire):
    """A child was reserved.

    asked_by: who asked for it, if its parent did not: `operator`, or `key:` and the name of an API key.
    """

    agent_id: AgentId
    parent_agent_id: AgentId
    tree_id: TreeId
    depth: int
    task: str
    asked_by: str | None = None
    type: str = "spawn.nested"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentNotFound(Wire):
    """A spawn named a parent that nobody knows."""

    parent_agent_id: AgentId
    type: str = "spawn.parent_not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentNotRunning(Wire):
    """A spawn named a parent that has ended. parent_status: as it was then."""

    parent_agent_id: AgentId
    parent_status: str
    type: str = "spawn.parent_not_running"


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthLimitExceeded(Wire):
    """A spawn was refused, since its child would be too deep."""

    depth: int
    max_depth: int
    tree_id: TreeId
    type: str = "spawn.depth_limit_exceeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLimitExceeded(Wire):
    """A spawn was refused, since its tree is full."""

    total_agents: int
    max_agents: int
    tree_id: TreeId
    type: str = "spawn.tree_limit_exceeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGenerated(Wire):
    """An agent was given a token. expires_at: epoch milliseconds."""

    agent_id: AgentId
    tree_id: TreeId
    depth: int
    expires_at: int
    type: str = "token.generated"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenValidationFailed(Wire):
    """A token was refused. agent_id: whose it says it is, if that could be read."""

    reason: str
    agent_id: AgentId | None = None
    type: str = "token.validation_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSignatureInvalid(Wire):
    """A token was refused, since its signature is not ours."""

    agent_id: AgentId | None = None
    type: str = "token.signature_invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExpired(Wire):
    """A token was refused, since its time is over. expired_at: epoch milliseconds."""

    agent_id: AgentId
    expired_at: int
    type: str = "token.expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeTerminated(Wire):
    """An agent was stopped with all below it. terminated_count: how many of them were, itself too.

    terminated_by, stopped_with: as in `AgentTerminated`.
    """

    agent_id: AgentId
    reason: str
    terminated_count: int
    terminated_by: str | None = None
    stopped_with: str | None = None
    type: str = "terminate.cascade"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanTerminated(Wire):
    """An agent was stopped that outlived its parent.

    reason: `parent_not_found`, `parent_terminated` or `tree_terminated`.
    """

    agent_id: AgentId
    parent_agent_id: AgentId
    reason: str
    type: str = "terminate.orphan"


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeTerminated(Wire):
    """A tree is over, and the last of its agents has ended. total_agents: how many it ever had."""

    tree_id: TreeId
    root_agent_id: AgentId
    total_agents: int
    type: str = "tree.terminated"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRestarted(Wire):
    """A spawned agent has ended by itself and is started again. parent_agent_id: None of a root.

    restarts: how many of it there were, this one too. delay_ms: so long it waits first. error: how it ended;
    None if well.
    """

    agent_id: AgentId
    tree_id: TreeId
    depth: int
    parent_agent_id: AgentId | None = None
    restarts: int
    delay_ms: int
    error: str | None = None
    type: str = "agent.restarted"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartsGivenUp(Wire):
    """A spawned agent has ended and is not started again, since it was too often. restarts: how many ever."""

    agent_id: AgentId
    tree_id: TreeId
    depth: int
    parent_agent_id: AgentId | None = None
    restarts: int
    error: str
    type: str = "agent.restarts_given_up"


LifeEvent = AgentStarted | AgentLogged | AgentProgressed | AgentCompleted | AgentFailed | AgentTerminated
AuditEvent = (
    ChildSpawned
    | ParentNotFound
    | ParentNotRunning
    | DepthLimitExceeded
    | TreeLimitExceeded
    | TokenGenerated
    | TokenValidationFailed
    | TokenSignatureInvalid
    | TokenExpired
    | CascadeTerminated
    | OrphanTerminated
    | TreeTerminated
)
RestartEvent = AgentRestarted | RestartsGivenUp
Event = LifeEvent | AuditEvent | RestartEvent

_LIFE: Final = (AgentStarted, AgentLogged, AgentProgressed, AgentCompleted, AgentFailed, AgentTerminated)


def class_of(event: Event) -> EventClass:
    """What the event is kept for."""
    return EventClass.AGENT if isinstance(event, _LIFE) else EventClass.AUDIT


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvent:
    """An event as it stands in the log.

    position: its place among the events of all trees. seq: from 1, without a hole, in its tree.
    tree_id: None of what belongs to no tree. body: its fields, as on the wire.
    """

    position: int
    tree_id: TreeId | None
    seq: int
    event_class: EventClass
    type: str
    agent_id: AgentId | None
    at: datetime
    body: Mapping[str, object]
