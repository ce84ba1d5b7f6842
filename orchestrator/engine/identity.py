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


def identity_for(services: Services, group: Group, agent_id: AgentId) -> Identity:
    """A root host gives each group a user of its own, so that no group can touch another's files."""
    uid = services.settings.agent.uid_range_start + group.number if os.geteuid() == 0 else None
    return Identity(agent_id=agent_id, tree_id=TreeId(agent_id.replace("agent-", "tree-", 1)), uid=uid)
