"""Why an agent is not started, and what the audit keeps of it. Source: agents.md section 2."""

import shlex
from typing import Final

from orchestrator.commands.agents.agent_sight import how_to_see_agents
from orchestrator.commands.command import Refusal
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_wishes import PreparedSpawn
from orchestrator.contracts.callers import AnyCaller
from orchestrator.contracts.errors import KEPT_OF_BOXES, Conflict, ErrorCode, Forbidden, NotFound
from orchestrator.contracts.events import (
    AuditEvent,
    DepthLimitExceeded,
    ParentNotFound,
    ParentNotRunning,
    TreeLimitExceeded,
)
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent, AgentStatus
from orchestrator.store import agents, event_log, refused_spawns
from orchestrator.store.transaction import Transaction

_MAX_ID_CHARS: Final = 128
_OTHER_PARENT: Final = "Start it without a parent, or below an agent that runs."
_WAIT_FOR_PARENT: Final = (
    "Wait until that agent runs and ask again, or start it without a parent, or below an agent that runs."
)


def parent_not_found(parent_id: AgentId, caller: AnyCaller) -> NotFound:
    """The error for a parent that is not there, or that the caller may not know of."""
    return NotFound(
        f"There is no parent agent {parent_id[:_MAX_ID_CHARS]!r}.",
        code=ErrorCode.PARENT_NOT_FOUND,
        suggestion=how_to_see_agents(caller),
        details={"parentAgentId": parent_id[:_MAX_ID_CHARS]},
    )


def parent_not_running(parent: Agent, why: str | None = None) -> Conflict:
    """The error for a parent that has ended, is being stopped, or waits to begin again."""
    said = why or f"is {parent.status.value}"
    is_to_come = why is None and parent.status is AgentStatus.PENDING
    return Conflict(
        f"The parent agent {parent.agent_id} {said}, so it can start no agents.",
        code=ErrorCode.PARENT_NOT_RUNNING,
        suggestion=_WAIT_FOR_PARENT if is_to_come else _OTHER_PARENT,
        details={"parentAgentId": parent.agent_id, "parentStatus": parent.status.value},
    )


def spawn_disabled() -> Forbidden:
    """The error where agents may start no agents at all."""
    return Forbidden(
        "Nested spawning is disabled: agents may start no agents here.",
        code=ErrorCode.SPAWN_DISABLED,
        suggestion="Let an operator set spawn.enabled (ENABLE_RECURSIVE_SPAWN) to true.",
    )


def workspace_not_allowed(path: str, *, never: str | None) -> Forbidden:
    """The error for a directory that is no root's; what lies there the caller may not find out.

    never: why no operator can allow it either, by its path alone.
    """
    allow = f"Let an operator allow it: {shlex.join(['dovecote', 'workspace', 'approve', path])}"
    choose = f"Choose another directory: this one {never}, so nobody can allow it."
    return Forbidden(
        f"The workspace {path!r} is not in the allowlist.",
        code=ErrorCode.WORKSPACE_NOT_ALLOWED,
        suggestion=allow if never is None else choose,
        details={"workspacePath": path},
    )


def note_refused_spawn(tx: Transaction, services: Services, refusal: Refusal) -> None:
    """Count it, for whoever looks after all; keep for the audit what the source document asks for."""
    _note(tx, refusal, is_kept=False)


def note_refused_file(tx: Transaction, services: Services, refusal: Refusal) -> None:
    """The same of a request of a box, of which a copy may be kept."""
    _note(tx, refusal, is_kept=refusal.error.code in KEPT_OF_BOXES)


def _note(tx: Transaction, refusal: Refusal, *, is_kept: bool) -> None:
    if not isinstance(refusal.prepared, PreparedSpawn):
        return
    error, at = refusal.error, refusal.at
    # With its advice, so that who looks it up later need not have been there.
    refused_spawns.note(tx, refusal.prepared.caller_key, error.code, str(error), is_kept=is_kept, at=at)
    found = _event(tx, refusal, refusal.prepared)
    if found is not None:
        tree_id, event = found
        event_log.append(tx, tree_id, event, at)


def _event(
    tx: Transaction, refusal: Refusal, prepared: PreparedSpawn
) -> tuple[TreeId | None, AuditEvent] | None:
    details, parent_id = refusal.error.details, prepared.parent_id
    parent = None if parent_id is None else agents.get(tx, parent_id)
    match refusal.error.code:
        case ErrorCode.PARENT_NOT_FOUND if parent_id is not None:
            named = AgentId(parent_id[:_MAX_ID_CHARS])
            return None, ParentNotFound(parent_agent_id=named)
        case ErrorCode.PARENT_NOT_RUNNING if parent is not None:
            status = parent.status.value
            event = ParentNotRunning(parent_agent_id=parent.agent_id, parent_status=status)
            return parent.tree_id, event
        case ErrorCode.DEPTH_EXCEEDED if parent is not None:
            most = _whole(details["max"])
            depth = DepthLimitExceeded(depth=parent.depth, max_depth=most, tree_id=parent.tree_id)
            return parent.tree_id, depth
        case ErrorCode.QUOTA_EXCEEDED if parent is not None:
            full = TreeLimitExceeded(
                total_agents=_whole(details["current"]),
                max_agents=_whole(details["max"]),
                tree_id=parent.tree_id,
            )
            return parent.tree_id, full
    return None


def _whole(value: object) -> int:
    assert isinstance(value, int)
    return value
