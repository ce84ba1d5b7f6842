"""What wants an agent now: chats with unanswered triggers, task runs that are due, spawned agents."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from orchestrator.commands.running.holds import LONGEST_WAIT
from orchestrator.contracts.ids import RunId, TaskId, own_box
from orchestrator.contracts.records.agents import Agent, AgentStatus
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.spawns import OnParentExit, SpawnedAgent, SpawnRecord
from orchestrator.contracts.records.tasks import ContextMode, Task
from orchestrator.core.agents.restarts import LONGEST_DELAY
from orchestrator.core.backoff import is_due
from orchestrator.store import agents, groups, messages, spawns, task_runs, tasks
from orchestrator.store.transaction import Transaction

_CHAT_FIRST_FOR: Final = timedelta(seconds=60)
"""So long the messages of a chat go before a task that shares its box; then the task has waited enough."""
_PARENTS: Final = frozenset({AgentStatus.PENDING, AgentStatus.STARTING, AgentStatus.RUNNING})


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingWork:
    """One thing to start an agent for. key: works with the same key take turns. task, run_id: of a run.

    since: orders what was served equally long ago; last_served: a counter, 0 is never. spawned: an agent that
    has been asked for.
    """

    key: str
    group: Group
    since: int
    last_served: int
    task: Task | None = None
    run_id: RunId | None = None
    spawned: SpawnedAgent | None = None


def waiting_work(tx: Transaction, *, at: datetime) -> list[WaitingWork]:
    """One work a key: of a chat and a task that share a box, the one whose turn it is."""
    works: dict[str, WaitingWork] = {}
    for chat in messages.waiting_chats(tx, now=at, longest_wait=LONGEST_WAIT):
        group = groups.by_folder(tx, chat.folder)
        if group is not None:
            works[group.folder] = WaitingWork(
                key=group.folder, group=group, since=chat.oldest_seq, last_served=chat.last_served
            )
    chosen: set[TaskId] = set()
    for run in task_runs.waiting(tx, now=at):
        task = tasks.get(tx, run.task_id)
        group = None if task is None else groups.by_folder(tx, task.group)
        if task is None or group is None or task.task_id in chosen:
            continue  # several runs of a task, made up for, go one after another
        chosen.add(task.task_id)
        shares = task.context_mode is ContextMode.GROUP
        key = group.folder if shares else f"@{run.run_id}"
        if key in works and (works[key].task is not None or at - run.due_at < _CHAT_FIRST_FOR):
            continue
        works[key] = WaitingWork(
            key=key,
            group=group,
            since=0,
            last_served=groups.last_served(tx, group.folder),
            task=task,
            run_id=run.run_id,
        )
    return [*works.values(), *_spawned_work(tx, at=at)]


def _spawned_work(tx: Transaction, *, at: datetime) -> list[WaitingWork]:
    """The reserved agents that are still wanted, oldest first."""
    reserved = agents.pending(tx)
    records = spawns.some(tx, [agent.agent_id for agent in reserved]) if reserved else {}
    works: list[WaitingWork] = []
    for agent in reserved:
        group = groups.by_folder(tx, agent.group)
        spawn = records.get(agent.agent_id)
        if group is None or spawn is None or not may_start(tx, agent, spawn, at=at):
            continue
        start_after = spawn.restarts.start_after
        if start_after is not None and not is_due(start_after, now=at, longest=LONGEST_DELAY):
            continue
        works.append(
            WaitingWork(
                key=own_box(agent.agent_id),
                group=group,
                since=0,
                last_served=groups.last_served(tx, group.folder),
                spawned=SpawnedAgent(agent=agent, spawn=spawn),
            )
        )
    return works


def may_start(tx: Transaction, agent: Agent, spawn: SpawnRecord, *, at: datetime) -> bool:
    """Whether an agent is wanted, and does not wait for its parent's start."""
    parent = None if agent.parent_agent_id is None else agents.get(tx, agent.parent_agent_id)
    is_early = parent is not None and parent.status is AgentStatus.PENDING and not spawn.is_left
    return not is_early and is_wanted(tx, agent, spawn, at=at)


def is_wanted(tx: Transaction, agent: Agent, spawn: SpawnRecord, *, at: datetime) -> bool:
    """Whether an agent is to be started: its time has not passed, and its parent lives or is to start."""
    if at >= spawn.deadline_at:
        return False
    if agent.parent_agent_id is None or spawn.on_parent_exit is OnParentExit.DETACH:
        return True
    if spawn.is_left:
        return False
    parent = agents.get(tx, agent.parent_agent_id)
    return parent is not None and parent.status in _PARENTS
