"""How agents stand, one by one and as trees; shapes as in seed 000. Source: agents.md section 2."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from orchestrator.commands.agents.agent_sight import may_see, seen_agent, those_seen
from orchestrator.commands.agents.event_views import utc_ms
from orchestrator.commands.agents.event_writing import tasks_of
from orchestrator.commands.agents.queue_reasons import queue_reason
from orchestrator.commands.command import Command, Context
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, AnyCaller, KeyCaller
from orchestrator.contracts.errors import ErrorCode, NotFound
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent, AgentKind, AgentStatus, QueueReason
from orchestrator.contracts.records.launch import WORKSPACE_TARGET
from orchestrator.contracts.records.spawns import AgentView, SpawnSummary, Tree
from orchestrator.contracts.wire.agent_requests import GetAgentStatus
from orchestrator.core.authority import Target
from orchestrator.store import agents, lineage, spawns, trees, waits
from orchestrator.store.group_folders import group_workspace
from orchestrator.store.transaction import Transaction

MAX_AGENTS: Final = 1_000
"""Agents that are listed at once."""
_LISTED_TASK_CHARS: Final = 1_000
_LISTED_FILES: Final = 100
"""Of each agent where several are listed; one alone has all of it."""
_TREES_FOR: Final = timedelta(days=1)
"""Ended trees are listed for so long."""
_MOST_EARLIER: Final = 10
"""Helpers of earlier agents of a chat, of which its agent is told."""
_TOLD_OF_EARLIER: Final = frozenset(
    {"id", "name", "task", "lifecycle", "parentAgentId", "startedAt", "endedAt", "error"}
)
_UNENDED: Final = frozenset(
    {AgentStatus.PENDING, AgentStatus.STARTING, AgentStatus.RUNNING, AgentStatus.STOPPING}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeView:
    """A tree with its agents, parents before children; of an agent's own question only those below it."""

    tree: Tree
    agents: tuple[AgentView, ...]


async def agent_views(
    services: Services, caller: AnyCaller, agent_id: str | None = None
) -> tuple[AgentView, ...]:
    """One agent with all of its output, or all that the caller may see with the beginning of theirs.

    Of an agent: itself and what came of it; of everybody else: the newest of all, live ones first. Raises
    NotFound.
    """
    return await services.db.view(lambda tx: _seen(tx, services, caller, agent_id))


async def tree_view(
    services: Services,
    caller: AnyCaller,
    *,
    tree_id: str | None = None,
    agent_id: str | None = None,
) -> TreeView:
    """One tree, by its id or by an agent in it; for an agent its own, from itself down. Raises NotFound."""
    return await services.db.view(
        lambda tx: _tree_view(tx, services, caller, tree_id=tree_id, agent_id=agent_id)
    )


async def tree_list(services: Services, *, count: int) -> list[Tree]:
    """The newest trees that live or ended within a day, newest first."""
    since = services.clock.now() - _TREES_FOR
    async with services.db.reader() as reader:
        return await trees.listed(reader, ended_since=since, count=count)


def get_agent_status(tx: Transaction, context: Context, request: GetAgentStatus) -> Mapping[str, object]:
    """As `agent_views`, for the agent of a box; a chat's also hears which helpers ended before its time."""
    seen = _seen(tx, context.services, context.caller, request.agent_id)
    told: dict[str, object] = {"agents": [as_metadata(each) for each in seen]}
    if request.agent_id is None and (earlier := _earlier_helpers(tx, context)):
        told["earlier"] = [_how_it_ended(each) for each in earlier]
    if request.include_tree:
        view = _tree_view(tx, context.services, context.caller, agent_id=request.agent_id)
        told["tree"] = as_tree(view)
    return told


def _earlier_helpers(tx: Transaction, context: Context) -> tuple[AgentView, ...]:
    """Those of a chat's earlier agents, whose conversation the one that asks goes on with."""
    caller, services = context.caller, context.services
    agent = agents.get(tx, caller.agent_id) if isinstance(caller, AgentCaller) else None
    if agent is None or agent.depth or agent.kind is not AgentKind.SESSION:
        return ()
    since = services.clock.now() - _TREES_FOR
    found = lineage.earlier_helpers(tx, agent, since=since, count=_MOST_EARLIER)
    return _views(tx, services, found, _briefly(tx, found), for_agent=True)


def _how_it_ended(view: AgentView) -> Mapping[str, object]:
    """Of its fields those that say what it was for and how it ended. What it said is its parent's."""
    return {name: value for name, value in as_metadata(view).items() if name in _TOLD_OF_EARLIER}


def as_metadata(view: AgentView) -> Mapping[str, object]:
    """`AgentMetadata` of the source document, and what we know beyond it."""
    result, restarts = view.result, view.restarts
    told: dict[str, object] = {
        "id": view.agent_id,
        "name": view.name,
        "task": view.task,
        "workspacePath": view.workspace,
        "writablePaths": list(view.writable_paths),
        "startedAt": utc_ms(view.started_at),
        "status": document_status(view.status),
        "lifecycle": view.status.value,
        "parentAgentId": view.parent_agent_id,
        "childAgentIds": list(view.child_agent_ids),
        "nestingDepth": view.depth,
        "treeId": view.tree_id,
        "kind": view.kind,
        "group": view.group,
        "provider": view.provider,
        "runner": view.runner,
        "deadlineAt": None if view.deadline_at is None else utc_ms(view.deadline_at),
        "waitsFor": list(view.waits_for),
        "queuedBy": None if view.queued_by is None else view.queued_by.value,
        "stopReason": None if view.stop_reason is None else view.stop_reason.value,
        "stoppedBy": view.stopped_by,
    }
    if restarts is not None:
        told |= {"restartPolicy": restarts.policy.value, "restarts": restarts.count}
    if view.ended_at is not None:
        told["endedAt"] = utc_ms(view.ended_at)
    if view.exit_code is not None:
        told["exitCode"] = view.exit_code
    if result is not None:
        told |= {
            "output": result.output,
            "durationMs": result.duration_ms,
            "filesModified": None if result.files_modified is None else list(result.files_modified),
            "sharedWith": list(result.shared_with),
            "error": result.error,
        }
    return told


def as_listed_tree(tree: Tree) -> Mapping[str, object]:
    """`SpawnTree` without its agents."""
    return {
        "treeId": tree.tree_id,
        "rootAgentId": tree.root_agent_id,
        "status": tree.status.value,
        "createdAt": utc_ms(tree.created_at),
        "endedAt": None if tree.ended_at is None else utc_ms(tree.ended_at),
        "totalAgents": tree.total_agents,
        "maxDepthReached": tree.max_depth_reached,
    }


def with_agents(tree: Tree, views: Collection[AgentView], shown: Sequence[object]) -> Mapping[str, object]:
    """`SpawnTree` with its agents: how many of them live, and each as it is shown."""
    live = sum(view.status in _UNENDED for view in views)
    return {**as_listed_tree(tree), "liveAgents": live, "agents": list(shown)}


def as_tree(view: TreeView) -> Mapping[str, object]:
    """`SpawnTree` of the source document, with its agents."""
    return with_agents(view.tree, view.agents, [as_metadata(each) for each in view.agents])


def document_status(status: AgentStatus) -> str:
    """A status in the words of the source document: running, completed or failed."""
    if status in _UNENDED:
        return "running"
    return "completed" if status is AgentStatus.COMPLETED else "failed"


def _seen(
    tx: Transaction, services: Services, caller: AnyCaller, agent_id: str | None
) -> tuple[AgentView, ...]:
    if agent_id is not None:
        agent = seen_agent(tx, caller, agent_id)
        known = spawns.summaries(tx, [agent.agent_id])
        return _views(tx, services, [agent], known, for_agent=isinstance(caller, AgentCaller))
    if isinstance(caller, AgentCaller):
        found = lineage.subtree(tx, caller.agent_id)
    else:
        found = those_seen(tx, caller, lineage.newest(tx, count=MAX_AGENTS))
    known = _briefly(tx, found)
    return _views(tx, services, found, known, for_agent=isinstance(caller, AgentCaller))


def _tree_view(
    tx: Transaction,
    services: Services,
    caller: AnyCaller,
    *,
    tree_id: str | None = None,
    agent_id: str | None = None,
) -> TreeView:
    top = None if agent_id is None else seen_agent(tx, caller, agent_id)
    if isinstance(caller, AgentCaller):
        top = top or seen_agent(tx, caller, caller.agent_id)
        if tree_id is not None and tree_id != top.tree_id:
            raise _no_tree(tree_id)
    wanted = TreeId(tree_id or ("" if top is None else top.tree_id))
    tree = trees.get(tx, wanted)
    root = None if tree is None else agents.get(tx, tree.root_agent_id)
    if tree is None or (isinstance(caller, KeyCaller) and (root is None or not may_see(tx, caller, root))):
        raise _no_tree(wanted)
    if isinstance(caller, AgentCaller) and top is not None:
        found = lineage.subtree(tx, top.agent_id)
    else:
        found = lineage.of_tree(tx, tree.tree_id)
    known = _briefly(tx, found)
    views = _views(tx, services, found, known, for_agent=isinstance(caller, AgentCaller))
    return TreeView(tree=tree, agents=views)


def _briefly(tx: Transaction, found: Sequence[Agent]) -> dict[AgentId, SpawnSummary]:
    """Their spawns, with the beginning of what is long: a hundred agents may have much to say."""
    ids = [each.agent_id for each in found]
    known = spawns.summaries(tx, ids, task_chars=_LISTED_TASK_CHARS, chars=spawns.LISTED_CHARS)
    return {agent_id: _brief(spawn) for agent_id, spawn in known.items()}


def _brief(spawn: SpawnSummary) -> SpawnSummary:
    result = spawn.result
    files = None if result is None else result.files_modified
    if result is None or files is None or len(files) <= _LISTED_FILES:
        return spawn
    return replace(spawn, result=replace(result, files_modified=files[:_LISTED_FILES]))


def _no_tree(tree_id: str) -> NotFound:
    return NotFound(
        f"There is no tree {tree_id[:128]!r} here.",
        code=ErrorCode.NOT_FOUND,
        suggestion="See which there are: dovecote agent tree",
    )


def _views(
    tx: Transaction,
    services: Services,
    found: Sequence[Agent],
    known: Mapping[AgentId, SpawnSummary],
    *,
    for_agent: bool,
) -> tuple[AgentView, ...]:
    """for_agent: whether they are shown to an agent, whose paths are those of a container."""
    children = lineage.child_ids(tx, [each.agent_id for each in found])
    waits_for: dict[AgentId, list[AgentId]] = {}
    for wait in waits.all_waits(tx):
        waits_for.setdefault(wait.waiter, []).append(wait.awaited)
    told = tasks_of(tx, found, {agent_id: spawn.task for agent_id, spawn in known.items()})
    folders = {agent.group for agent in found}
    homes = {folder: str(group_workspace(services.paths.groups, folder)) for folder in folders}
    return tuple(
        _view(
            agent,
            spawn := known.get(agent.agent_id),
            task=told[agent.agent_id],
            workspace=WORKSPACE_TARGET if for_agent else spawn.workspace if spawn else homes[agent.group],
            children=children.get(agent.agent_id, ()),
            waits_for=waits_for.get(agent.agent_id, ()),
            queued_by=queue_reason(tx, services, agent, spawn),
        )
        for agent in found
    )


def _view(
    agent: Agent,
    spawn: SpawnSummary | None,
    *,
    task: str,
    workspace: str,
    children: Sequence[AgentId],
    waits_for: Sequence[AgentId],
    queued_by: QueueReason | None,
) -> AgentView:
    return AgentView(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        kind=agent.kind.value,
        status=agent.status,
        task=task,
        name=None if spawn is None else spawn.name,
        workspace=workspace,
        writable_paths=() if spawn is None else spawn.writable_paths,
        group=agent.group,
        provider=agent.provider,
        runner=agent.runner,
        parent_agent_id=agent.parent_agent_id,
        child_agent_ids=tuple(children),
        depth=agent.depth,
        permissions=agent.permissions,
        started_at=agent.started_at,
        deadline_at=agent.deadline_at,
        ended_at=agent.ended_at,
        exit_code=agent.exit_code,
        stop_reason=None if spawn is None else spawn.stop_reason,
        stopped_by=None if spawn is None else spawn.stopped_by,
        result=None if spawn is None else spawn.result,
        waits_for=tuple(waits_for),
        queued_by=queued_by,
        restarts=None if spawn is None else spawn.restarts,
    )


def _target(tx: Transaction, request: GetAgentStatus) -> Target:
    """What came of the caller, which the command itself looks up."""
    return Target(chat_jid=None, group=None, is_registered=True)


COMMANDS: Final = (
    Command(request=GetAgentStatus, name="get_agent_status", target=_target, run=get_agent_status),
)
"""The requests of this area."""
