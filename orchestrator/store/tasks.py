"""Scheduled prompts."""

import sqlite3
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from orchestrator.contracts.ids import GroupFolder, Jid, TaskId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import (
    CatchUp,
    ContextMode,
    RunStatus,
    ScheduleKind,
    Task,
    TaskStatus,
)
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO tasks (task_id, folder, chat_jid, title, prompt, kind, schedule_value, timezone, context_mode,
                   catch_up, notify, status, rights, created_ms, next_run_ms, alias)
VALUES (:task_id, :folder, :chat_jid, :title, :prompt, :kind, :schedule_value, :timezone, :context_mode,
        :catch_up, :notify, :status, :rights, :created_ms, :next_run_ms, :alias)
"""
WRITE: Final = """
UPDATE tasks
   SET title = :title, prompt = :prompt, kind = :kind, schedule_value = :schedule_value,
       timezone = :timezone, context_mode = :context_mode, catch_up = :catch_up, notify = :notify,
       status = :status, rights = :rights, next_run_ms = :next_run_ms, failures = :failures,
       last_run_ms = :last_run_ms, last_status = :last_status, paused_why = :paused_why,
       ended_ms = CASE WHEN :status IN ('completed', 'cancelled') THEN coalesce(ended_ms, :at_ms) END
 WHERE task_id = :task_id AND status = :was
"""
PRUNE: Final = """
DELETE FROM tasks
 WHERE task_id IN (SELECT task_id FROM tasks AS t
                    WHERE t.ended_ms < :before_ms
                      AND NOT EXISTS (SELECT 1 FROM task_runs AS r WHERE r.task_id = t.task_id)
                    LIMIT :count)
"""
GET: Final = "SELECT * FROM tasks WHERE task_id = :task_id"
BY_ALIAS: Final = "SELECT * FROM tasks WHERE folder = :folder AND alias = :alias"
OF_GROUP: Final = """
SELECT * FROM tasks
 WHERE folder = :folder AND status IN ('active', 'paused')
 ORDER BY created_ms, task_id
"""
ALL: Final = "SELECT * FROM tasks WHERE status IN ('active', 'paused') ORDER BY folder, created_ms, task_id"
ENDED: Final = """
SELECT * FROM tasks WHERE ended_ms IS NOT NULL AND (:folder IS NULL OR folder = :folder)
 ORDER BY ended_ms DESC, task_id LIMIT :count
"""
SOME: Final = f"{ALL} LIMIT :count"
COUNT_ACTIVE: Final = """
SELECT count(*) AS n FROM tasks WHERE folder = :folder AND status IN ('active', 'paused')
"""
NEXT_DUE: Final = """
SELECT min(next_run_ms) AS due_ms FROM tasks WHERE status = 'active' AND next_run_ms IS NOT NULL
"""
DUE: Final = """
SELECT * FROM tasks
 WHERE status = 'active' AND next_run_ms IS NOT NULL AND next_run_ms <= :now_ms
 ORDER BY next_run_ms LIMIT :count
"""


def add(tx: Transaction, task: Task) -> None:
    """Remember a new task."""
    tx.execute(
        ADD,
        {
            **_changeable(task),
            "folder": task.group,
            "chat_jid": task.chat_jid,
            "created_ms": to_ms(task.created_at),
            "alias": task.alias,
        },
    )


def write(tx: Transaction, task: Task, *, was: TaskStatus, at: datetime) -> bool:
    """Write what may change of a task, if its status still is `was`. at: its end, if it is over by that."""
    parameters = {**_changeable(task), "was": was.value, "at_ms": to_ms(at)}
    return tx.execute(WRITE, parameters).rowcount == 1


def prune(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` tasks that were over before and of whose runs none is known; how many."""
    return tx.execute(PRUNE, {"before_ms": to_ms(before), "count": count}).rowcount


def get(tx: Transaction, task_id: str) -> Task | None:
    """One task."""
    row = tx.one(GET, {"task_id": task_id})
    return None if row is None else _task(row)


def named(tx: Transaction, folder: GroupFolder, name: str) -> Task | None:
    """The task of a group that an agent means: by its id, or by the name it gave it itself."""
    task = get(tx, name)
    if task is not None:
        return task
    row = tx.one(BY_ALIAS, {"folder": folder, "alias": name})
    return None if row is None else _task(row)


def of_group(tx: Transaction, folder: GroupFolder) -> list[Task]:
    """What is active or paused in a group, oldest first."""
    return [_task(row) for row in tx.all(OF_GROUP, {"folder": folder})]


def everywhere(tx: Transaction, *, count: int | None = None) -> list[Task]:
    """What is active or paused, by group. count: at most so many."""
    return [_task(row) for row in tx.all(SOME, {"count": -1 if count is None else count})]


def count_active(tx: Transaction, folder: GroupFolder) -> int:
    """How many tasks of a group are active or paused."""
    row = tx.one(COUNT_ACTIVE, {"folder": folder})
    return 0 if row is None else int(row["n"])


def next_due(tx: Transaction) -> datetime | None:
    """When the next task is due."""
    row = tx.one(NEXT_DUE)
    return None if row is None else maybe_from_ms(row["due_ms"])


def due(tx: Transaction, *, now: datetime, count: int) -> list[Task]:
    """Up to `count` tasks whose time has come, the longest due first."""
    return [_task(row) for row in tx.all(DUE, {"now_ms": to_ms(now), "count": count})]


async def list_all(reader: Reader, folder: str | None) -> list[Task]:
    """What is active or paused, in one group or everywhere, outside a transaction."""
    rows = await (reader.all(ALL) if folder is None else reader.all(OF_GROUP, {"folder": folder}))
    return [_task(row) for row in rows]


async def list_ended(reader: Reader, folder: str | None, *, count: int) -> list[Task]:
    """What is completed or cancelled, in one group or everywhere, what ended last first."""
    return [_task(row) for row in await reader.all(ENDED, {"folder": folder, "count": count})]


async def find(reader: Reader, task_id: str) -> Task | None:
    """As `get`, outside a transaction."""
    row = await reader.one(GET, {"task_id": task_id})
    return None if row is None else _task(row)


def _changeable(task: Task) -> Mapping[str, Any]:
    return {
        "task_id": task.task_id,
        "title": task.title,
        "prompt": task.prompt,
        "kind": task.kind.value,
        "schedule_value": task.schedule_value,
        "timezone": task.timezone,
        "context_mode": task.context_mode.value,
        "catch_up": task.catch_up.value,
        "notify": int(task.notify),
        "status": task.status.value,
        "rights": task.rights.value,
        "next_run_ms": None if task.next_run_at is None else to_ms(task.next_run_at),
        "last_run_ms": None if task.last_run_at is None else to_ms(task.last_run_at),
        "last_status": None if task.last_status is None else task.last_status.value,
        "failures": task.failures,
        "paused_why": task.paused_why,
    }


def _task(row: sqlite3.Row) -> Task:
    return Task(
        task_id=TaskId(row["task_id"]),
        group=GroupFolder(row["folder"]),
        chat_jid=Jid(row["chat_jid"]),
        title=row["title"],
        prompt=row["prompt"],
        kind=ScheduleKind(row["kind"]),
        schedule_value=row["schedule_value"],
        timezone=row["timezone"],
        context_mode=ContextMode(row["context_mode"]),
        catch_up=CatchUp(row["catch_up"]),
        notify=bool(row["notify"]),
        status=TaskStatus(row["status"]),
        rights=Rights(row["rights"]),
        created_at=from_ms(row["created_ms"]),
        next_run_at=maybe_from_ms(row["next_run_ms"]),
        last_run_at=maybe_from_ms(row["last_run_ms"]),
        last_status=None if row["last_status"] is None else RunStatus(row["last_status"]),
        failures=row["failures"],
        alias=row["alias"],
        paused_why=row["paused_why"],
    )
