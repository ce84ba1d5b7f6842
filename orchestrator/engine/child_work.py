"""What a spawned agent is started for: the task that its parent, or a person, gave it."""

from dataclasses import dataclass

from orchestrator.commands.running.waiting import may_start
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, BoxName, RunId, TurnId, own_box
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.spawns import SpawnedAgent
from orchestrator.contracts.seams import Topic
from orchestrator.core.chat.transcript import render_spawn
from orchestrator.engine.work import FirstInput
from orchestrator.store import agents, groups, lineage
from orchestrator.store.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildWork:
    """One spawned agent. Its row was there before: whoever asked has its id by now."""

    services: Services
    group: Group
    spawned: SpawnedAgent

    @property
    def key(self) -> str:
        """Its own box: it takes turns with nobody."""
        return self.box_for(self.spawned.agent.agent_id)

    @property
    def takes_follow_ups(self) -> bool:
        """It ends with its turn."""
        return False

    @property
    def turn_limit_s(self) -> float:
        """The longest that any may have; its deadline comes before."""
        return self.services.settings.spawn.absolute_max_timeout_s

    @property
    def rights(self) -> Rights:
        """Of the turn that asked for it."""
        return self.spawned.agent.rights

    @property
    def task_run_id(self) -> RunId | None:
        """None."""
        return None

    def box_for(self, agent_id: AgentId) -> BoxName:
        """The agent's own."""
        return own_box(agent_id)

    def claim(self, tx: Transaction, agent: Agent, turn_id: TurnId) -> FirstInput | None:
        """Its place to run, if it still waits for one and somebody still wants it."""
        spawn, at = self.spawned.spawn, self.services.clock.now()
        if not may_start(tx, self.spawned.agent, spawn, at=at):
            return None  # whoever looks after such rows ends it
        if not agents.claim(tx, agent.agent_id, runner=agent.runner, provider=agent.provider, at=at):
            return None
        agents.start_turn(tx, agent.agent_id, turn_id, agent.chat_jid, at=at)
        groups.note_served(tx, agent.group)
        if lineage.count_children(tx, agent.agent_id):
            tx.wake(Topic.WORK)  # they waited for its start
        return FirstInput(
            xml=(render_spawn(self.spawned),), ids=(agent.agent_id,), trigger_ids=(agent.agent_id,)
        )
