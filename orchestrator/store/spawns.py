"""What agents were spawned with, and what came of them."""

import json
import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import (
    OnParentExit,
    SpawnProfile,
    SpawnRecord,
    SpawnResult,
    SpawnSummary,
    StopReason,
    WaitFor,
)
from orchestrator.store.database import Reader
from orchestrator.store.restarts import restarts_of
from orchestrator.store.times import from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO spawns (agent_id, parent_agent_id, caller_key, task, workspace, writable_paths, is_own_workspace,
                    wait, profile, on_parent_exit, name, idempotency_key, body_sha256, answer, created_ms,
                    deadline_ms, effective_timeout_ms, capped_by, restart_policy)
VALUES (:agent_id, :parent_agent_id, :caller_key, :task, :workspace, :writable_paths, :is_own_workspace,
        :wait, :profile, :on_parent_exit, :name, :idempotency_key, :body_sha256, :answer, :created_ms,
        :deadline_ms, :effective_timeout_ms, :capped_by, :restart_policy)
"""
WHOLE: Final = 2**31 - 1
"""All characters of a text."""
LISTED_CHARS: Final = 4_000
"""Characters of each output where many are read at once: one alone may have megabytes."""
GET: Final = "SELECT * FROM spawns WHERE agent_id = :agent_id"
SOME: Final = """
SELECT agent_id, parent_agent_id, caller_key, task, workspace, writable_paths, is_own_workspace, wait,
       profile, on_parent_exit, name, idempotency_key, body_sha256, answer, created_ms, deadline_ms,
       effective_timeout_ms, capped_by, stop_reason, stopped_by, substr(output, 1, :chars) AS output,
       files_modified, shared_with, exit_code, error, duration_ms, restart_policy, restarts,
       recent_restarts, start_after_ms, earlier_files, is_left
  FROM spawns WHERE agent_id IN (SELECT value FROM json_each(:agent_ids))
"""
SUMMARIES: Final = """
SELECT agent_id, name, substr(task, 1, :task_chars) AS task, workspace, writable_paths, stop_reason,
       stopped_by, restart_policy, restarts, '[]' AS recent_restarts, start_after_ms, 'null' AS earlier_files,
       substr(output, 1, :chars) AS output, files_modified, shared_with, exit_code, error, duration_ms
  FROM spawns WHERE agent_id IN (SELECT value FROM json_each(:agent_ids))
"""
BY_KEY: Final = "SELECT * FROM spawns WHERE caller_key = :caller_key AND idempotency_key = :key"
BELOW_CALLER: Final = """
WITH RECURSIVE below (agent_id) AS (
    SELECT a.agent_id FROM spawns AS s JOIN agents AS a ON a.agent_id = s.agent_id
     WHERE s.caller_key = :caller_key
    UNION
    SELECT a.agent_id FROM below JOIN agents AS a ON a.parent_agent_id = below.agent_id
)
SELECT agent_id FROM below
"""
NEWEST_OF_CALLER: Final = """
SELECT created_ms FROM spawns
 WHERE caller_key = :caller_key AND created_ms > :after_ms AND created_ms <= :until_ms
 ORDER BY created_ms DESC LIMIT 1 OFFSET :skip
"""
NOTE_STOP: Final = """
UPDATE spawns SET stop_reason = :reason, stopped_by = :stopped_by
 WHERE agent_id = :agent_id AND stop_reason IS NULL
"""
END: Final = """
UPDATE spawns
   SET output = :output, files_modified = :files_modified, shared_with = :shared_with,
       exit_code = :exit_code, error = :error, duration_ms = :duration_ms
 WHERE agent_id = :agent_id
"""
SET_REPLY: Final = "UPDATE spawns SET reply_state = :state WHERE agent_id = :agent_id"
TO_TELL: Final = """
SELECT s.* FROM spawns AS s JOIN agents AS p ON p.agent_id = s.parent_agent_id
 WHERE s.reply_state = 1 AND p.ended_ms IS NULL
"""


def add(tx: Transaction, spawn: SpawnRecord) -> None:
    """Remember what an agent is spawned with. Raises sqlite3.IntegrityError for a key met before."""
    tx.execute(
        ADD,
        {
            "agent_id": spawn.agent_id,
            "parent_agent_id": spawn.parent_agent_id,
            "caller_key": spawn.caller_key,
            "task": spawn.task,
            "workspace": spawn.workspace,
            "writable_paths": json.dumps(spawn.writable_paths),
            "is_own_workspace": int(spawn.is_own_workspace),
            "wait": spawn.wait.value,
            "profile": spawn.profile.value,
            "on_parent_exit": spawn.on_parent_exit.value,
            "name": spawn.name,
            "idempotency_key": spawn.idempotency_key,
            "body_sha256": spawn.body_sha256,
            "answer": spawn.answer,
            "created_ms": to_ms(spawn.created_at),
            "deadline_ms": to_ms(spawn.deadline_at),
            "effective_timeout_ms": spawn.effective_timeout_ms,
            "capped_by": spawn.capped_by,
            "restart_policy": spawn.restarts.policy.value,
        },
    )


def get(tx: Transaction, agent_id: AgentId) -> SpawnRecord | None:
    """What the agent was spawned with; None of one that holds a chat or does a task."""
    row = tx.one(GET, {"agent_id": agent_id})
    return None if row is None else _spawn(row)


def some(tx: Transaction, agent_ids: Iterable[AgentId]) -> dict[AgentId, SpawnRecord]:
    """As `get`, of many at once, each with the first `LISTED_CHARS` of its output."""
    rows = tx.all(SOME, {"agent_ids": json.dumps(list(agent_ids)), "chars": LISTED_CHARS})
    return {AgentId(row["agent_id"]): _spawn(row) for row in rows}


def summaries(
    tx: Transaction, agent_ids: Iterable[AgentId], *, task_chars: int = WHOLE, chars: int = WHOLE
) -> dict[AgentId, SpawnSummary]:
    """What is shown of these spawns. task_chars, chars: how much of each task and output."""
    asked = {"agent_ids": json.dumps(list(agent_ids)), "task_chars": task_chars, "chars": chars}
    return {AgentId(row["agent_id"]): _summary(row) for row in tx.all(SUMMARIES, asked)}


async def find(reader: Reader, agent_id: AgentId) -> SpawnRecord | None:
    """As `get`, outside a transaction."""
    row = await reader.one(GET, {"agent_id": agent_id})
    return None if row is None else _spawn(row)


def by_key(tx: Transaction, caller_key: str, key: str) -> SpawnRecord | None:
    """The spawn that this caller asked for under this idempotency key."""
    row = tx.one(BY_KEY, {"caller_key": caller_key, "key": key})
    return None if row is None else _spawn(row)


def below_caller(tx: Transaction, caller_key: str) -> frozenset[AgentId]:
    """The agents that this caller started, and what came of them."""
    return frozenset(AgentId(row["agent_id"]) for row in tx.all(BELOW_CALLER, {"caller_key": caller_key}))


def nth_newest(
    tx: Transaction, caller_key: str, *, after: datetime, until: datetime, n: int
) -> datetime | None:
    """When the `n`-th newest spawn of this caller was made, from 1, if that was after `after`.

    until: later ones are of a clock that has been set back since, and don't count.
    """
    bounds = {"after_ms": to_ms(after), "until_ms": to_ms(until)}
    row = tx.one(NEWEST_OF_CALLER, {"caller_key": caller_key, "skip": n - 1, **bounds})
    return None if row is None else from_ms(row["created_ms"])


def note_stop(tx: Transaction, agent_id: AgentId, reason: StopReason, *, stopped_by: str | None) -> None:
    """Why it is being stopped, and who asked for that; the first reason counts."""
    parameters = {"agent_id": agent_id, "reason": reason.value, "stopped_by": stopped_by}
    tx.execute(NOTE_STOP, parameters)


def end(tx: Transaction, agent_id: AgentId, result: SpawnResult) -> None:
    """Keep what came of it."""
    files = result.files_modified
    tx.execute(
        END,
        {
            "agent_id": agent_id,
            "output": result.output,
            "files_modified": None if files is None else json.dumps(files),
            "shared_with": json.dumps(result.shared_with),
            "exit_code": result.exit_code,
            "error": result.error,
            "duration_ms": result.duration_ms,
        },
    )


def set_reply_due(tx: Transaction, agent_id: AgentId, *, is_due: bool) -> None:
    """Whether the file in the parent's box has to be written: it says something else than the store."""
    tx.execute(SET_REPLY, {"agent_id": agent_id, "state": int(is_due)})


def to_tell(tx: Transaction) -> list[SpawnRecord]:
    """Those whose live parents have something to be told of them."""
    return [_spawn(row) for row in tx.all(TO_TELL, {})]


def _spawn(row: sqlite3.Row) -> SpawnRecord:
    parent, reason = row["parent_agent_id"], row["stop_reason"]
    return SpawnRecord(
        agent_id=AgentId(row["agent_id"]),
        parent_agent_id=None if parent is None else AgentId(parent),
        caller_key=row["caller_key"],
        task=row["task"],
        workspace=row["workspace"],
        writable_paths=tuple(json.loads(row["writable_paths"])),
        is_own_workspace=bool(row["is_own_workspace"]),
        wait=WaitFor(row["wait"]),
        profile=SpawnProfile(row["profile"]),
        on_parent_exit=OnParentExit(row["on_parent_exit"]),
        name=row["name"],
        idempotency_key=row["idempotency_key"],
        body_sha256=row["body_sha256"],
        answer=row["answer"],
        created_at=from_ms(row["created_ms"]),
        deadline_at=from_ms(row["deadline_ms"]),
        effective_timeout_ms=row["effective_timeout_ms"],
        capped_by=row["capped_by"],
        stop_reason=None if reason is None else StopReason(reason),
        stopped_by=row["stopped_by"],
        restarts=restarts_of(row),
        is_left=bool(row["is_left"]),
        result=_result(row),
    )


def _summary(row: sqlite3.Row) -> SpawnSummary:
    reason = row["stop_reason"]
    return SpawnSummary(
        agent_id=AgentId(row["agent_id"]),
        task=row["task"],
        name=row["name"],
        workspace=row["workspace"],
        writable_paths=tuple(json.loads(row["writable_paths"])),
        stop_reason=None if reason is None else StopReason(reason),
        stopped_by=row["stopped_by"],
        restarts=restarts_of(row),
        result=_result(row),
    )


def _result(row: sqlite3.Row) -> SpawnResult | None:
    """None while it has not ended."""
    if row["duration_ms"] is None:
        return None
    files = row["files_modified"]
    return SpawnResult(
        output=row["output"],
        files_modified=None if files is None else tuple(json.loads(files)),
        shared_with=tuple(AgentId(each) for each in json.loads(row["shared_with"])),
        exit_code=row["exit_code"],
        error=row["error"],
        duration_ms=row["duration_ms"],
    )
