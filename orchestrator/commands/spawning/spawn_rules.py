"""Whether a spawn may be done now, decided in the transaction that does it. Source: agents.md section 2."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.commands.agents.agent_sight import is_below
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_places import SpawnPlaces
from orchestrator.commands.spawning.spawn_refusals import (
    parent_not_found,
    parent_not_running,
    spawn_disabled,
    workspace_not_allowed,
)
from orchestrator.commands.spawning.spawn_wishes import PreparedSpawn
from orchestrator.contracts.callers import AgentCaller, AnyCaller
from orchestrator.contracts.errors import ErrorCode, Forbidden, InvalidRequest
from orchestrator.contracts.records.agents import Agent, AgentStatus, SpawnPermissions
from orchestrator.contracts.records.spawns import (
    OnParentExit,
    QuotaInfo,
    SpawnProfile,
    SpawnSpec,
    TreeStatus,
)
from orchestrator.core.agents.limits import (
    RATE_WINDOW,
    SAFE_CHILDREN,
    SAFE_DEPTH,
    SpawnLimits,
    SpawnUsage,
    check_limits,
    quota_of,
    within_parent,
)
from orchestrator.core.agents.rights import beyond, narrow
from orchestrator.core.agents.spawn_paths import is_within
from orchestrator.store import agents, lineage, spawns, trees, workspace_roots
from orchestrator.store.transaction import Transaction

_STARTS_OTHERS: Final = frozenset({AgentStatus.STARTING, AgentStatus.RUNNING})
_PERMISSION_WORDS: Final = {
    "can_spawn": "canSpawn",
    "chat": "chat",
    "inherit_github_token": "inheritGitHubToken",
    "detach": "detach",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What the new agent gets. parent: None: it is a root. quota: what is left once it is there."""

    parent: Agent | None
    places: SpawnPlaces
    permissions: SpawnPermissions
    timeout_ms: int
    capped_by: str | None
    quota: QuotaInfo


def grant(
    tx: Transaction, services: Services, caller: AnyCaller, prepared: PreparedSpawn, *, at: datetime
) -> Grant:
    """What it gets, if it may be started. Raises every refusal that a spawn can meet."""
    spec = prepared.spec
    parent = None
    if prepared.parent_id is not None:
        if not services.settings.spawn.enabled:
            raise spawn_disabled()
        parent = _live_parent(tx, caller, prepared)
    _check_profile(spec, parent)
    permissions = _permissions(spec, parent)
    places = _places(tx, caller, prepared)
    timeout_ms, capped_by = _timeout(prepared, parent, at=at)
    limits = _limits(services, spec)
    usage = _usage(tx, prepared, parent, limits, at=at)
    check_limits(usage, limits)
    return Grant(
        parent=parent,
        places=places,
        permissions=permissions,
        timeout_ms=timeout_ms,
        capped_by=capped_by,
        quota=quota_of(_one_more(usage), limits),
    )


def _live_parent(tx: Transaction, caller: AnyCaller, prepared: PreparedSpawn) -> Agent:
    assert prepared.parent_id is not None
    parent = agents.get(tx, prepared.parent_id)
    if parent is None or (isinstance(caller, AgentCaller) and not is_below(tx, parent, caller.agent_id)):
        raise parent_not_found(prepared.parent_id, caller)
    if parent.status not in _STARTS_OTHERS and not _is_to_come(parent, caller):
        raise parent_not_running(parent)
    tree = trees.get(tx, parent.tree_id)
    if tree is None or tree.status is not TreeStatus.ACTIVE:
        raise parent_not_running(parent, "is in a tree that is over")
    if not parent.permissions.can_spawn:
        raise Forbidden(
            f"The agent {parent.agent_id} was started without the right to start agents.",
            suggestion="Do it in this agent, or let whoever started it give it canSpawn.",
        )
    return parent


def _is_to_come(parent: Agent, caller: AnyCaller) -> bool:
    """Whether it has not begun; of the caller itself, what it asked for is of an earlier start."""
    is_caller = isinstance(caller, AgentCaller) and caller.agent_id == parent.agent_id
    return parent.status is AgentStatus.PENDING and not is_caller


def _check_profile(spec: SpawnSpec, parent: Agent | None) -> None:
    if spec.on_parent_exit is OnParentExit.DETACH and parent is not None and not parent.permissions.detach:
        raise Forbidden(
            "This agent may not start agents that outlive it.",
            suggestion="Use onParentExit stop or request_stop.",
        )
    if spec.profile is not SpawnProfile.SAFE:
        return
    if parent is None:
        raise InvalidRequest("Profile safe is for children.", suggestion="Name a parent, or use standard.")
    if spec.timeout_ms is None:
        raise InvalidRequest(
            "Profile safe needs timeoutMs.",
            code=ErrorCode.INVALID_TIMEOUT,
            suggestion="Give the time that the child may take, in milliseconds.",
        )
    if spec.workspace_path is not None:
        raise Forbidden(
            "In profile safe a child works in its parent's workspace.",
            code=ErrorCode.WORKSPACE_NOT_ALLOWED,
            suggestion="Leave workspacePath out.",
        )
    if spec.permissions.can_spawn or spec.on_parent_exit is OnParentExit.DETACH:
        raise Forbidden(
            "In profile safe a child starts no agents, and does not outlive its parent.",
            suggestion="Leave canSpawn out, and use onParentExit stop or request_stop.",
        )


def _permissions(spec: SpawnSpec, parent: Agent | None) -> SpawnPermissions:
    """Of what the parent has. An agent that nobody of a chat started has no chat."""
    # An operator's own agent has no group's chat that it could speak in.
    had = SpawnPermissions(chat=False) if parent is None else parent.permissions
    too_much = beyond(had, spec.permissions)
    if too_much:
        names = ", ".join(_PERMISSION_WORDS[name] for name in too_much)
        raise Forbidden(
            f"Nobody gives what he does not have: {names}.",
            suggestion="Leave these permissions out.",
            details={"permissions": [_PERMISSION_WORDS[name] for name in too_much]},
        )
    narrowed = narrow(had, spec.permissions)
    if spec.profile is not SpawnProfile.SAFE:
        return narrowed
    return SpawnPermissions(
        can_spawn=False,
        chat=narrowed.chat,
        inherit_github_token=narrowed.inherit_github_token,
        detach=False,
    )


def _places(tx: Transaction, caller: AnyCaller, prepared: PreparedSpawn) -> SpawnPlaces:
    places = prepared.places
    if places is None:  # its parent came to be only after it was looked for
        assert prepared.parent_id is not None
        raise parent_not_found(prepared.parent_id, caller)
    if places.is_foreign and not _is_allowed(
        places.workspace, (*places.roots, *workspace_roots.approved(tx))
    ):
        raise workspace_not_allowed(prepared.spec.workspace_path or "", never=places.never)
    if places.refusal is not None:
        raise places.refusal
    return places


def _is_allowed(workspace: str, roots: Iterable[str]) -> bool:
    return any(is_within(workspace, root) for root in roots)


def _timeout(prepared: PreparedSpawn, parent: Agent | None, *, at: datetime) -> tuple[int, str | None]:
    outlives = prepared.spec.on_parent_exit is OnParentExit.DETACH
    deadline = None if parent is None or outlives else parent.deadline_at
    timeout_ms, capped_by = within_parent(
        prepared.timeout_ms, prepared.capped_by, now=at, parent_deadline=deadline
    )
    if timeout_ms <= 0:
        assert parent is not None
        raise parent_not_running(parent, "has no time left")
    return timeout_ms, capped_by


def _limits(services: Services, spec: SpawnSpec) -> SpawnLimits:
    settings, is_safe = services.settings.spawn, spec.profile is SpawnProfile.SAFE
    return SpawnLimits(
        depth=min(settings.max_depth, SAFE_DEPTH) if is_safe else settings.max_depth,
        tree_agents=settings.max_agents_per_tree,
        tree_spawns=settings.max_spawns_per_tree,
        live_agents=services.settings.queue.max_live,
        per_minute=settings.per_minute,
        children=SAFE_CHILDREN if is_safe else None,
    )


def _usage(
    tx: Transaction, prepared: PreparedSpawn, parent: Agent | None, limits: SpawnLimits, *, at: datetime
) -> SpawnUsage:
    key, begin = prepared.caller_key, at - RATE_WINDOW
    oldest = spawns.nth_newest(tx, key, after=begin, until=at, n=limits.per_minute)
    retry_after_s = 0.0 if oldest is None else (oldest + RATE_WINDOW - at).total_seconds()
    live = lineage.count_holding(tx)
    if parent is None:
        return SpawnUsage(depth=None, live_agents=live, retry_after_s=retry_after_s)
    tree = trees.get(tx, parent.tree_id)
    return SpawnUsage(
        depth=parent.depth,
        tree_agents=lineage.count_in_tree(tx, parent.tree_id),
        tree_spawns=0 if tree is None else tree.total_agents - 1,
        live_agents=live,
        children=lineage.count_children(tx, parent.agent_id),
        retry_after_s=retry_after_s,
    )


def _one_more(usage: SpawnUsage) -> SpawnUsage:
    """What there is with the new agent, seen from it."""
    is_root = usage.depth is None
    return SpawnUsage(
        depth=0 if usage.depth is None else usage.depth + 1,
        tree_agents=usage.tree_agents + 1,
        tree_spawns=usage.tree_spawns + (0 if is_root else 1),
        live_agents=usage.live_agents + 1,
    )
