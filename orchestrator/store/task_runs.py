"""Executions of tasks: a slot is claimed once, whatever happens to the process that claimed it."""

import json
import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import AgentId, RunId, TaskId
from orchestrator.contracts.records.tasks import FailureClass, RunStatus, TaskRun
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO task_runs (run_id, task_id, planned_ms, status, claimed_ms, due_ms, ended_ms, error)
VALUES (:run_id, :task_id, :planned_ms, :status, :claimed_ms, :due_ms, :ended_ms, :error)
ON CONFLICT (task_id, planned_ms) DO NOTHING
"""
GET: Final = "SELECT * FROM task_runs WHERE run_id = :run_id"
TITLES: Final = """
SELECT run.run_id, task.title FROM json_each(:run_ids)
  JOIN task_runs AS run ON run.run_id = json_each.value
  JOIN tasks AS task ON task.task_id = run.task_id
"""
OF_AGENT: Final = "SELECT * FROM task_runs WHERE agent_id = :agent_id"
CLAIMED_OF_TASK: Final = """
SELECT * FROM task_runs INDEXED BY task_runs_open
 WHERE task_id = :task_id AND status IN ('claimed', 'started') AND status = 'claimed'
 ORDER BY claimed_ms, planned_ms
"""
STARTED_OF_TASK: Final = """
SELECT * FROM task_runs INDEXED BY task_runs_open
 WHERE task_id = :task_id AND status IN ('claimed', 'started') AND status = 'started'
"""
OPEN_OF_TASK: Final = """
SELECT * FROM task_runs INDEXED BY task_runs_open
 WHERE task_id = :task_id AND status IN ('claimed', 'started')
 ORDER BY claimed_ms LIMIT 1
"""
WAITING: Final = """
SELECT * FROM task_runs AS run
 WHERE status = 'claimed' AND due_ms <= :now_ms
   AND NOT EXISTS (
       SELECT 1 FROM task_runs AS other INDEXED BY task_runs_open
        WHERE other.task_id = run.task_id
          AND other.status IN ('claimed', 'started') AND other.status = 'started'
   )
 ORDER BY due_ms, claimed_ms, planned_ms
"""
WRITE: Final = """
UPDATE task_runs
   SET status = :status, due_ms = :due_ms, agent_id = :agent_id, started_ms = :started_ms,
       ended_ms = :ended_ms, failure = :failure, error = :error, output = :output, tries = :tries,
       deaths = :deaths
 WHERE run_id = :run_id AND status = :was
"""
HISTORY: Final = """
SELECT * FROM task_runs WHERE task_id = :task_id ORDER BY claimed_ms DESC, run_id LIMIT :count
"""
PRUNE: Final = """
DELETE FROM task_runs
 WHERE run_id IN (SELECT run_id FROM task_runs AS r
                   WHERE r.ended_ms < :before_ms
                     AND NOT EXISTS (SELECT 1 FROM agents AS a
                                      WHERE a.agent_id = r.agent_id AND a.ended_ms IS NULL)
                   LIMIT :count)
"""


def add(tx: Transaction, run: TaskRun) -> bool:
    """Claim a slot; False if it was claimed before."""
    added = tx.execute(
        ADD,
        {
            "run_id": run.run_id,
            "task_id": run.task_id,
            "planned_ms": None if run.planned_at is None else to_ms(run.planned_at),
            "status": run.status.value,
            "claimed_ms": to_ms(run.claimed_at),
            "due_ms": to_ms(run.due_at),
            "ended_ms": None if run.ended_at is None else to_ms(run.ended_at),
            "error": run.error,
        },
    )
    return added.rowcount == 1


def get(tx: Transaction, run_id: RunId) -> TaskRun | None:
    """One run."""
    row = tx.one(GET, {"run_id": run_id})
    return None if row is None else _run(row)


def titles(tx: Transaction, run_ids: Iterable[RunId]) -> dict[RunId, str]:
    """What the tasks of these runs are called; of those that are still known."""
    rows = tx.all(TITLES, {"run_ids": json.dumps(list(run_ids))})
    return {RunId(row["run_id"]): row["title"] for row in rows}


def of_agent(tx: Transaction, agent_id: AgentId) -> TaskRun | None:
    """The run that an agent was started for."""
    row = tx.one(OF_AGENT, {"agent_id": agent_id})
    return None if row is None else _run(row)


def open_of_task(tx: Transaction, task_id: TaskId) -> TaskRun | None:
    """The run of a task that has not ended."""
    row = tx.one(OPEN_OF_TASK, {"task_id": task_id})
    return None if row is None else _run(row)


def claimed_of_task(tx: Transaction, task_id: TaskId) -> list[TaskRun]:
    """The runs of a task that no agent has begun."""
    return [_run(row) for row in tx.all(CLAIMED_OF_TASK, {"task_id": task_id})]


def started_of_task(tx: Transaction, task_id: TaskId) -> TaskRun | None:
    """The run of a task that an agent has begun."""
    row = tx.one(STARTED_OF_TASK, {"task_id": task_id})
    return None if row is None else _run(row)


def waiting(tx: Transaction, *, now: datetime) -> list[TaskRun]:
    """Claimed runs that may start, longest due first; none of a task of which one runs."""
    return [_run(row) for row in tx.all(WAITING, {"now_ms": to_ms(now)})]


def write(tx: Transaction, run: TaskRun, *, was: RunStatus) -> bool:
    """Write what may change of a run, if its status still is `was`."""
    changed = tx.execute(
        WRITE,
        {
            "run_id": run.run_id,
            "was": was.value,
            "status": run.status.value,
            "due_ms": to_ms(run.due_at),
            "agent_id": run.agent_id,
            "started_ms": None if run.started_at is None else to_ms(run.started_at),
            "ended_ms": None if run.ended_at is None else to_ms(run.ended_at),
            "failure": None if run.failure is None else run.failure.value,
            "error": run.error,
            "output": run.output,
            "tries": run.tries,
            "deaths": run.deaths,
        },
    )
    return changed.rowcount == 1


def prune(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` runs that ended before and whose agents do not live; how many."""
    return tx.execute(PRUNE, {"before_ms": to_ms(before), "count": count}).rowcount


async def history(reader: Reader, task_id: TaskId, *, count: int) -> list[TaskRun]:
    """The newest runs of a task, newest first."""
    return [_run(row) for row in await reader.all(HISTORY, {"task_id": task_id, "count": count})]


def _run(row: sqlite3.Row) -> TaskRun:
    return TaskRun(
        run_id=RunId(row["run_id"]),
        task_id=TaskId(row["task_id"]),
        planned_at=maybe_from_ms(row["planned_ms"]),
        status=RunStatus(row["status"]),
        claimed_at=from_ms(row["claimed_ms"]),
        due_at=from_ms(row["due_ms"]),
        agent_id=None if row["agent_id"] is None else AgentId(row["agent_id"]),
        started_at=maybe_from_ms(row["started_ms"]),
        ended_at=maybe_from_ms(row["ended_ms"]),
        failure=None if row["failure"] is None else FailureClass(row["failure"]),
        error=row["error"],
        output=row["output"],
        tries=row["tries"],
        deaths=row["deaths"],
    )
