"""What an agent is started for: the messages of a chat, or one run of a task; a spawn is `child_work`."""

from dataclasses import dataclass, replace
from typing import Protocol

from orchestrator.commands.running.batches import give_batch, lower_rights, next_batch
from orchestrator.commands.running.task_runs import start_run
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, BoxName, RunId, TurnId, group_box, own_box
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.spawns import SpawnedAgent
from orchestrator.contracts.records.tasks import ContextMode, Task
from orchestrator.core.chat.transcript import render_task
from orchestrator.store import agents, groups, sessions
from orchestrator.store.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstInput:
    """What goes in on standard input. xml: messages, oldest first; ids, trigger_ids: as the agent names
    them. task_prompt: of a task's run. session_id: to resume."""

    xml: tuple[str, ...]
    ids: tuple[str, ...]
    trigger_ids: tuple[str, ...]
    session_id: str | None = None
    task_prompt: str | None = None


class Work(Protocol):
    """Something to start an agent for."""

    @property
    def key(self) -> str:
        """Works with the same key take turns: one agent a group's box."""
        ...

    @property
    def takes_follow_ups(self) -> bool:
        """Whether its agent is given the later messages of the chat."""
        ...

    @property
    def turn_limit_s(self) -> float:
        """The longest turn."""
        ...

    @property
    def rights(self) -> Rights:
        """What its agent may cause before it was given anybody's words."""
        ...

    @property
    def task_run_id(self) -> RunId | None:
        """The task's run, if it is one."""
        ...

    @property
    def spawned(self) -> SpawnedAgent | None:
        """What another agent or a person has asked to be started, if it is that."""
        ...

    def box_for(self, agent_id: AgentId) -> BoxName:
        """Where its agent puts its requests."""
        ...

    def claim(self, tx: Transaction, agent: Agent, turn_id: TurnId) -> FirstInput | None:
        """Make the agent's record and what it is given now; None when there is nothing to do any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatWork:
    """The messages that wait in a group's chat."""

    services: Services
    group: Group

    @property
    def key(self) -> str:
        """The group's own box."""
        return self.group.folder

    @property
    def takes_follow_ups(self) -> bool:
        """It holds the chat."""
        return True

    @property
    def turn_limit_s(self) -> float:
        """That of chats."""
        return self.services.settings.agent.turn_limit_s

    @property
    def rights(self) -> Rights:
        """Each message lowers them to its sender's."""
        return Rights.OPERATOR

    @property
    def task_run_id(self) -> RunId | None:
        """None."""
        return None

    @property
    def spawned(self) -> SpawnedAgent | None:
        """None."""
        return None

    def box_for(self, agent_id: AgentId) -> BoxName:
        """The group's own."""
        return group_box(self.group.folder)

    def claim(self, tx: Transaction, agent: Agent, turn_id: TurnId) -> FirstInput | None:
        """The next batch of the chat."""
        batch = next_batch(tx, self.services, self.group.jid)
        if batch is None:
            return None
        session = sessions.get(tx, self.group.folder, agent.provider)
        agents.add(tx, agent if session is None else replace(agent, rights=session.rights))
        give_batch(tx, self.services, batch, agent_id=agent.agent_id, turn_id=turn_id, input_file=None)
        groups.note_served(tx, self.group.folder)
        return FirstInput(
            xml=batch.xml,
            ids=batch.ids,
            trigger_ids=batch.trigger_ids,
            session_id=None if session is None else session.session_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWork:
    """One run of a scheduled task. A `group` task takes turns with the chat, an `isolated` one does not."""

    services: Services
    group: Group
    task: Task
    run_id: RunId

    @property
    def _shares_the_box(self) -> bool:
        return self.task.context_mode is ContextMode.GROUP

    @property
    def key(self) -> str:
        """The group's box, or one of its own."""
        return self.group.folder if self._shares_the_box else f"@{self.run_id}"

    @property
    def takes_follow_ups(self) -> bool:
        """It ends with its turn."""
        return False

    @property
    def turn_limit_s(self) -> float:
        """That of tasks."""
        return self.services.settings.tasks.timeout_s

    @property
    def rights(self) -> Rights:
        """Of the turn that made or last changed the task."""
        return self.task.rights

    @property
    def task_run_id(self) -> RunId | None:
        """This run."""
        return self.run_id

    @property
    def spawned(self) -> SpawnedAgent | None:
        """None."""
        return None

    def box_for(self, agent_id: AgentId) -> BoxName:
        """The group's own, or the agent's."""
        return group_box(self.group.folder) if self._shares_the_box else own_box(agent_id)

    def claim(self, tx: Transaction, agent: Agent, turn_id: TurnId) -> FirstInput | None:
        """The run, if its task still wants it. Its status is read again here."""
        begun = start_run(tx, self.services, self.run_id, agent.agent_id, at=self.services.clock.now())
        if begun is None:
            return None
        task, run = begun
        session = sessions.get(tx, self.group.folder, agent.provider) if self._shares_the_box else None
        had = Rights.OPERATOR if session is None else session.rights
        agents.add(tx, replace(agent, rights=had))
        lower_rights(tx, replace(agent, rights=had), task.rights)  # it may have changed while it waited
        agents.start_turn(tx, agent.agent_id, turn_id, agent.chat_jid, at=self.services.clock.now())
        groups.note_served(tx, self.group.folder)
        return FirstInput(
            xml=(render_task(task, run),),
            ids=(run.run_id,),
            trigger_ids=(run.run_id,),
            session_id=None if session is None else session.session_id,
            task_prompt=task.prompt,
        )
