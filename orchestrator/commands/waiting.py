"""What wants an agent now: chats with unanswered triggers, and task runs that are due."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from orchestrator.commands.turns import LONGEST_WAIT
from orchestrator.contracts.ids import RunId, TaskId
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.tasks import ContextMode, Task
from orchestrator.store import groups, messages, task_runs, tasks
from orchestrator.store.database import Transaction

_CHAT_FIRST_FOR: Final = timedelta(seconds=60)
"""So long the messages of a chat go before a task that shares its box; then the task has waited enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingWork:
    """One thing to start an agent for. key: works with the same key take turns. task, run_id: of a run.

    since: orders what was served equally long ago; last_served: a counter, 0 is never.
    """

    key: str
    group: Group
    since: int
    last_served: int
    task: Task | None = None
    run_id: RunId | None = None


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
    return list(works.values())
