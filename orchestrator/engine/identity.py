"""Who an agent is to the host."""

import os
from dataclasses import dataclass

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.groups import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who an agent is to the host. uid: None where all agents are the orchestrator's own user."""

    agent_id: AgentId
    tree_id: TreeId
    uid: int | None


def identity_for(
    services: Services, group: Group, agent_id: AgentId, *, tree_id: TreeId | None = None
) -> Identity:
    """A root host gives each group a user of its own, so that no group can touch another's files.

    tree_id: of one that was spawned; None: it begins a tree.
    """
    uid = services.settings.agent.uid_range_start + group.number if os.geteuid() == 0 else None
    own_tree = TreeId(agent_id.replace("agent-", "tree-", 1))
    return Identity(agent_id=agent_id, tree_id=own_tree if tree_id is None else tree_id, uid=uid)
