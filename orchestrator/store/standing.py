"""How the whole stands, read beside the writer. Nothing here walks through all messages or all texts."""

import sqlite3
from datetime import datetime, timedelta
from typing import Final

from orchestrator.contracts.ids import GroupFolder, Jid, TaskId
from orchestrator.contracts.records.standing import (
    Backlog,
    LastHeard,
    OpenIncident,
    OutgoingTexts,
    Schedule,
    Standing,
    TaskLine,
    UsedToday,
)
from orchestrator.store import groups, refused_spawns
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms

FAILED_FOR: Final = timedelta(days=1)
"""Texts that failed earlier are no news."""
REFUSED_FOR: Final = timedelta(days=1)
OVERDUE_AFTER: Final = timedelta(minutes=5)
_MOST_TASKS: Final = 5

LEFT: Final = """
SELECT g.folder FROM groups AS g JOIN chats AS c ON c.jid = g.jid WHERE c.is_member = 0 ORDER BY g.number
"""
HEARD: Final = """
SELECT channel, is_group, count(*) AS chats, max(last_activity_ms) AS last_ms
  FROM chats WHERE is_group = 0 OR is_member IS NOT 0
 GROUP BY channel, is_group ORDER BY channel, is_group DESC
"""
# Of several columns beside `min` SQLite takes those of the row that has the least.
WAITING: Final = """
SELECT count(*) AS n, min(received_ms) AS oldest_ms, chat_jid
  FROM messages WHERE status = 'pending' AND is_trigger = 1
"""
AT_WORK: Final = """
SELECT count(*) AS n, min(received_ms) AS oldest_ms, chat_jid FROM messages WHERE status = 'dispatched'
"""
# A CROSS JOIN is done in the order in which it stands: few agents live, and there are many turns.
TURNS: Final = """
SELECT count(*) AS n, min(t.started_ms) AS oldest_ms, t.chat_jid
  FROM agents AS a CROSS JOIN turns AS t ON t.agent_id = a.agent_id
 WHERE a.ended_ms IS NULL AND t.ended_ms IS NULL
"""
AGENTS: Final = """
SELECT status, count(*) AS n, min(started_ms) AS oldest_ms FROM agents WHERE ended_ms IS NULL
 GROUP BY status ORDER BY status
"""
TEXTS: Final = """
SELECT status, count(*) AS n, min(created_ms) AS oldest_ms, chat_jid FROM outbox
 WHERE status IN ('queued', 'sending', 'unknown') GROUP BY status ORDER BY status
"""
FAILED_TEXTS: Final = """
SELECT count(*) AS n, min(created_ms) AS oldest_ms, chat_jid FROM outbox
 WHERE status = 'failed' AND created_ms >= :since_ms
"""
LAST_FAILED: Final = """
SELECT error FROM outbox WHERE status = 'failed' AND created_ms >= :since_ms ORDER BY created_ms DESC LIMIT 1
"""
TASKS: Final = "SELECT status, count(*) AS n FROM tasks GROUP BY status ORDER BY status"
NEXT_TASKS: Final = """
SELECT task_id, folder, title, next_run_ms, timezone, failures, paused_why FROM tasks
 WHERE status = 'active' AND next_run_ms IS NOT NULL ORDER BY next_run_ms LIMIT :count
"""
OVERDUE_TASKS: Final = """
SELECT task_id, folder, title, next_run_ms, timezone, failures, paused_why FROM tasks
 WHERE status = 'active' AND next_run_ms < :before_ms ORDER BY next_run_ms LIMIT :count
"""
LATE: Final = "SELECT count(*) AS n FROM tasks WHERE status = 'active' AND next_run_ms < :before_ms"
PAUSED_TASKS: Final = """
SELECT task_id, folder, title, next_run_ms, timezone, failures, paused_why FROM tasks
 WHERE status = 'paused' AND paused_why IS NOT NULL ORDER BY created_ms LIMIT :count
"""
INCIDENTS: Final = """
SELECT incident, opened_ms, count FROM notices WHERE told_ms IS NOT NULL ORDER BY opened_ms, incident
"""
ALERTS: Final = "SELECT count(*) AS n, min(created_ms) AS oldest_ms, NULL AS chat_jid FROM alerts"
OPEN: Final = """
SELECT (SELECT count(*) FROM proposals WHERE status = 'open' AND expires_ms > :now_ms) AS proposals,
       (SELECT count(*) FROM questions WHERE status = 'open') AS questions
"""
USED: Final = """
SELECT count(*) AS calls, count(failure) AS failed, total(tokens) AS tokens, sum(cost_usd) AS cost_usd,
       count(*) FILTER (WHERE tokens > 0 AND cost_usd IS NULL) AS unpriced
  FROM usage WHERE at_ms >= :day_ms
"""
NEWEST: Final = "SELECT received_ms FROM messages ORDER BY seq DESC LIMIT 1"
# The numbers that SQLite gave out; they never fall, whatever is pruned.
EVER: Final = "SELECT name, seq FROM sqlite_sequence WHERE name IN ('messages', 'outbox', 'event_log')"


async def read_standing(reader: Reader, *, at: datetime, day_began: datetime) -> Standing:
    """All of it, at this moment. day_began: from when on use counts as today's."""
    agents = await reader.all(AGENTS)
    open_now = await reader.one(OPEN, {"now_ms": to_ms(at)})
    newest = await reader.one(NEWEST)
    assert open_now is not None
    starting = [from_ms(row["oldest_ms"]) for row in agents if row["status"] == "starting"]
    return Standing(
        at=at,
        groups=tuple(await groups.list_all(reader)),
        left=tuple([GroupFolder(row["folder"]) for row in await reader.all(LEFT)]),
        heard=tuple([_heard(row) for row in await reader.all(HEARD)]),
        waiting=_backlog(await reader.one(WAITING)),
        at_work=_backlog(await reader.one(AT_WORK)),
        turns=_backlog(await reader.one(TURNS)),
        agents={row["status"]: row["n"] for row in agents},
        oldest_start_at=next(iter(starting), None),
        outgoing=await _outgoing(reader, at),
        schedule=await _schedule(reader, at),
        incidents=tuple([_incident(row) for row in await reader.all(INCIDENTS)]),
        alerts=_backlog(await reader.one(ALERTS)),
        proposals=open_now["proposals"],
        questions=open_now["questions"],
        used_today=await _used(reader, day_began),
        refused_spawns=await refused_spawns.by_code(reader, since=at - REFUSED_FOR),
        newest_at=None if newest is None else from_ms(newest["received_ms"]),
        ever={row["name"]: row["seq"] for row in await reader.all(EVER)},
    )


async def _outgoing(reader: Reader, at: datetime) -> OutgoingTexts:
    rows = {row["status"]: row for row in await reader.all(TEXTS)}
    since = {"since_ms": to_ms(at - FAILED_FOR)}
    last = await reader.one(LAST_FAILED, since)
    waiting = [row for status, row in rows.items() if status != "unknown"]
    oldest = min(waiting, key=lambda row: row["oldest_ms"], default=None)
    return OutgoingTexts(
        by_status={status: row["n"] for status, row in rows.items()},
        waiting=Backlog(
            count=sum(row["n"] for row in waiting),
            oldest_at=None if oldest is None else from_ms(oldest["oldest_ms"]),
            chat=None if oldest is None else Jid(oldest["chat_jid"]),
        ),
        unknown=_backlog(rows.get("unknown")),
        failed=_backlog(await reader.one(FAILED_TEXTS, since)),
        last_error=None if last is None else last["error"],
    )


async def _schedule(reader: Reader, at: datetime) -> Schedule:
    some = {"count": _MOST_TASKS}
    before = {"before_ms": to_ms(at - OVERDUE_AFTER)}
    late = await reader.one(LATE, before)
    return Schedule(
        by_status={row["status"]: row["n"] for row in await reader.all(TASKS)},
        next_tasks=tuple([_task(row) for row in await reader.all(NEXT_TASKS, some)]),
        late=0 if late is None else late["n"],
        overdue=tuple([_task(row) for row in await reader.all(OVERDUE_TASKS, before | some)]),
        paused_by_failure=tuple([_task(row) for row in await reader.all(PAUSED_TASKS, some)]),
    )


async def _used(reader: Reader, day_began: datetime) -> UsedToday:
    row = await reader.one(USED, {"day_ms": to_ms(day_began)})
    assert row is not None
    return UsedToday(
        calls=row["calls"],
        failed_calls=row["failed"],
        tokens=int(row["tokens"]),
        cost_usd=row["cost_usd"],
        unpriced_calls=row["unpriced"],
    )


def _backlog(row: sqlite3.Row | None) -> Backlog:
    if row is None or not row["n"]:
        return Backlog()
    chat = row["chat_jid"]
    return Backlog(
        count=row["n"],
        oldest_at=from_ms(row["oldest_ms"]),
        chat=None if chat is None else Jid(chat),
    )


def _heard(row: sqlite3.Row) -> LastHeard:
    return LastHeard(
        channel=row["channel"],
        is_group=bool(row["is_group"]),
        chats=row["chats"],
        last_at=maybe_from_ms(row["last_ms"]),
    )


def _incident(row: sqlite3.Row) -> OpenIncident:
    return OpenIncident(name=row["incident"], opened_at=from_ms(row["opened_ms"]), count=row["count"])


def _task(row: sqlite3.Row) -> TaskLine:
    return TaskLine(
        task_id=TaskId(row["task_id"]),
        group=GroupFolder(row["folder"]),
        title=row["title"],
        due_at=maybe_from_ms(row["next_run_ms"]),
        timezone=row["timezone"],
        failures=row["failures"],
        paused_why=row["paused_why"],
    )
