"""What the end of an agent means for its tree, in the transaction that ends its record.

Source: agents.md section 2.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from orchestrator.contracts.events import CascadeTerminated, OrphanTerminated, TreeTerminated
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent, AgentStatus, DeathCause
from orchestrator.contracts.records.spawns import OnParentExit, TreeStatus
from orchestrator.core.agents.endings import stop_reason_of, stopped_with
from orchestrator.store import agents, event_log, lineage, spawns, trees
from orchestrator.store.transaction import Transaction

_BEING_STOPPED: Final = frozenset({AgentStatus.STOPPING, AgentStatus.TERMINATED, AgentStatus.TIMED_OUT})
_STOPPED: Final = frozenset({AgentStatus.TERMINATED, AgentStatus.TIMED_OUT})


def note_agent_gone(
    tx: Transaction, agent_id: AgentId, *, at: datetime, cause: DeathCause | None = None
) -> None:
    """An agent's record says its end: count what went with it, and end its tree if that was the last one.

    cause: on whose account, where its spawn does not say.
    """
    agent = agents.get(tx, agent_id)
    assert agent is not None
    _note_cascade(tx, agent, cause, at=at)
    if lineage.count_in_tree(tx, agent.tree_id) == 0:
        end_tree(tx, agent.tree_id, at=at)


def end_tree(tx: Transaction, tree_id: TreeId, *, at: datetime) -> None:
    """The last agent of a tree has ended. Of one whose root was stopped the record said so from then on."""
    tree = trees.get(tx, tree_id)
    if tree is None:
        return
    trees.end(tx, tree_id, at=at)
    event = TreeTerminated(tree_id=tree_id, root_agent_id=tree.root_agent_id, total_agents=tree.total_agents)
    event_log.append(tx, tree_id, event, at)


def note_orphan(tx: Transaction, agent: Agent, *, at: datetime) -> None:
    """An agent is stopped that was found without its parent."""
    if agent.parent_agent_id is None:
        return
    event = OrphanTerminated(
        agent_id=agent.agent_id, parent_agent_id=agent.parent_agent_id, reason=_why_orphan(tx, agent)
    )
    event_log.append(tx, agent.tree_id, event, at)


def _why_orphan(tx: Transaction, agent: Agent) -> str:
    tree = trees.get(tx, agent.tree_id)
    if tree is not None and tree.status is TreeStatus.TERMINATED:
        return "tree_terminated"
    parent = None if agent.parent_agent_id is None else agents.get(tx, agent.parent_agent_id)
    return "parent_not_found" if parent is None else "parent_terminated"


def _goes_too(parent: Agent, cause: DeathCause | None) -> bool:
    """After our own death all of a tree is found dead, children before their parents."""
    return cause is DeathCause.ORCHESTRATOR and parent.ended_at is None


def _note_cascade(tx: Transaction, agent: Agent, cause: DeathCause | None, *, at: datetime) -> None:
    """The top of what was stopped goes last, so by then it is known how many went."""
    if agent.status not in _STOPPED:
        return
    parent = None if agent.parent_agent_id is None else agents.get(tx, agent.parent_agent_id)
    if parent is not None and (parent.status in _BEING_STOPPED or _goes_too(parent, cause)):
        return
    spawn = spawns.get(tx, agent.agent_id)
    below = lineage.subtree(tx, agent.agent_id)
    if spawn is None and len(below) == 1:
        return  # a chat's agent that was alone
    event = CascadeTerminated(
        agent_id=agent.agent_id,
        reason=stop_reason_of(agent.status, spawn, cause).value,
        terminated_count=_count_gone(tx, below),
        terminated_by=None if spawn is None else spawn.stopped_by,
        stopped_with=stopped_with(agent.status, spawn, cause),
    )
    event_log.append(tx, agent.tree_id, event, at)


def _count_gone(tx: Transaction, below: Sequence[Agent]) -> int:
    """Those that were stopped, and those that only wait for a place and have lost who started them.

    below: parents before children.
    """
    records = spawns.some(tx, [each.agent_id for each in below if each.status is AgentStatus.PENDING])
    gone: set[AgentId] = set()
    for each in below:
        spawn = records.get(each.agent_id)
        is_bound = spawn is not None and spawn.on_parent_exit is not OnParentExit.DETACH
        if each.status in _STOPPED or (is_bound and each.parent_agent_id in gone):
            gone.add(each.agent_id)
    return len(gone)
