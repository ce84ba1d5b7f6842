"""The event log: what happened to agents, append-only, numbered from 1 in each tree."""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from orchestrator.contracts.events import Event, EventClass, LoggedEvent, class_of
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.codec import parse_json, to_json
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, to_ms
from orchestrator.store.transaction import Transaction

NEXT_SEQ: Final = """
INSERT INTO event_sequences (tree_id, last_seq, last_ms) VALUES (:tree_id, 1, :at_ms)
ON CONFLICT (tree_id) DO UPDATE SET last_seq = last_seq + 1, last_ms = :at_ms
RETURNING last_seq
"""
APPEND: Final = """
INSERT INTO event_log (tree_id, seq, class, type, agent_id, at_ms, body)
VALUES (:tree_id, :seq, :class, :type, :agent_id, :at_ms, :body)
"""
BEHIND: Final = """
SELECT * FROM event_log WHERE position > :after AND position <= :up_to ORDER BY position LIMIT :count
"""
OF_TREE: Final = """
SELECT * FROM event_log
 WHERE tree_id = :tree_id AND seq > :after_seq AND position <= :up_to
 ORDER BY seq LIMIT :count
"""
_NEWEST: Final = """
SELECT * FROM event_log
 WHERE position <= :up_to {narrowed}
   AND type NOT IN (SELECT value FROM json_each(:without))
   AND (:agents IS NULL
        OR agent_id IN (SELECT value FROM json_each(:agents))
        OR body ->> '$.parentAgentId' IN (SELECT value FROM json_each(:agents)))
 ORDER BY {order} DESC LIMIT :count
"""
NEWEST: Final = _NEWEST.format(narrowed="", order="position")
NEWEST_OF_CLASS: Final = _NEWEST.format(narrowed="AND class = :class", order="position")
NEWEST_OF_TREE: Final = _NEWEST.format(
    narrowed="AND tree_id = :tree_id AND (:class IS NULL OR class = :class)", order="seq"
)
HEAD: Final = "SELECT coalesce(max(position), 0) AS head FROM event_log"
LAST_SEQ: Final = "SELECT last_seq FROM event_sequences WHERE tree_id = :tree_id"
LAST_OF_AGENTS: Final = """
SELECT e.* FROM json_each(:agent_ids)
  JOIN event_log AS e ON e.position = (SELECT max(position) FROM event_log
                                        WHERE agent_id = json_each.value AND type = :type)
"""
LAST_AT: Final = """
SELECT e.agent_id, e.at_ms FROM json_each(:agent_ids)
  JOIN event_log AS e ON e.position = (SELECT max(position) FROM event_log WHERE agent_id = json_each.value)
"""
PRUNE: Final = """
DELETE FROM event_log
 WHERE position IN (SELECT position FROM event_log
                     WHERE class = :class AND at_ms < :before_ms
                     ORDER BY at_ms LIMIT :count)
RETURNING position
"""
PRUNE_OVER: Final = """
DELETE FROM event_log
 WHERE position IN (SELECT position FROM event_log
                     WHERE class = :class
                       AND position <= (SELECT position FROM event_log WHERE class = :class
                                         ORDER BY position DESC LIMIT 1 OFFSET :keep)
                     ORDER BY position LIMIT :count)
RETURNING position
"""
NOTE_PRUNED: Final = """
INSERT INTO event_horizon (only_one, position) VALUES (1, :position)
ON CONFLICT (only_one) DO UPDATE SET position = max(position, :position)
"""
HORIZON: Final = "SELECT position FROM event_horizon"
PRUNE_SEQUENCES: Final = """
DELETE FROM event_sequences
 WHERE last_ms < :before_ms
   AND NOT EXISTS (SELECT 1 FROM event_log AS e WHERE e.tree_id = event_sequences.tree_id)
"""
_NO_TREE: Final = ""


def append(tx: Transaction, tree_id: TreeId | None, event: Event, at: datetime) -> int:
    """Keep what happened, and wake its subscribers; its number in the tree.

    tree_id: None for what belongs to no tree, such as the look at a token that nobody can read.
    """
    tree, at_ms = tree_id or _NO_TREE, to_ms(at)
    row = tx.one(NEXT_SEQ, {"tree_id": tree, "at_ms": at_ms})
    assert row is not None
    seq: int = row["last_seq"]
    tx.execute(
        APPEND,
        {
            "tree_id": tree,
            "seq": seq,
            "class": class_of(event).value,
            "type": event.type,
            "agent_id": getattr(event, "agent_id", None),
            "at_ms": at_ms,
            "body": to_json(event),
        },
    )
    tx.wake(Topic.EVENTS)
    return seq


async def head(reader: Reader) -> int:
    """The position of the newest event; 0 when there is none."""
    row = await reader.one(HEAD)
    assert row is not None
    return int(row["head"])


async def behind(reader: Reader, after: int, *, up_to: int, count: int) -> list[LoggedEvent]:
    """The events of all trees behind position `after`, oldest first."""
    rows = await reader.all(BEHIND, {"after": after, "up_to": up_to, "count": count})
    return [_event(row) for row in rows]


async def of_tree(
    reader: Reader, tree_id: TreeId, *, after_seq: int, up_to: int, count: int
) -> list[LoggedEvent]:
    """The events of a tree behind its number `after_seq` and up to a position, oldest first."""
    rows = await reader.all(
        OF_TREE, {"tree_id": tree_id, "after_seq": after_seq, "up_to": up_to, "count": count}
    )
    return [_event(row) for row in rows]


async def newest(
    reader: Reader,
    *,
    up_to: int,
    count: int,
    tree_id: TreeId | None = None,
    event_class: EventClass | None = None,
    without: Collection[str] = (),
    agents: Collection[AgentId] | None = None,
) -> list[LoggedEvent]:
    """The newest events up to a position that are wanted, oldest first.

    tree_id, event_class: None for any. without: types that are not. agents: only theirs and their children's.
    """
    of_all = NEWEST if event_class is None else NEWEST_OF_CLASS
    parameters = {
        "up_to": up_to,
        "count": count,
        "tree_id": tree_id,
        "class": None if event_class is None else event_class.value,
        "without": json.dumps(sorted(without)),
        "agents": None if agents is None else json.dumps(sorted(agents)),
    }
    rows = await reader.all(of_all if tree_id is None else NEWEST_OF_TREE, parameters)
    return [_event(row) for row in reversed(rows)]


async def last_seq(reader: Reader, tree_id: TreeId) -> int:
    """The number of the newest event of a tree, kept or not; 0 when it never had one."""
    row = await reader.one(LAST_SEQ, {"tree_id": tree_id})
    return 0 if row is None else int(row["last_seq"])


async def horizon(reader: Reader) -> int:
    """Up to this position not every event is kept any more; 0 while all are."""
    row = await reader.one(HORIZON)
    return 0 if row is None else int(row["position"])


async def last_of_agents(
    reader: Reader, agent_ids: Sequence[AgentId], event_type: str
) -> dict[AgentId, LoggedEvent]:
    """Of each agent that has one, its newest event of that type."""
    parameters = {"agent_ids": json.dumps(list(agent_ids)), "type": event_type}
    rows = await reader.all(LAST_OF_AGENTS, parameters)
    return {AgentId(row["agent_id"]): _event(row) for row in rows}


async def last_at(reader: Reader, agent_ids: Sequence[AgentId]) -> dict[AgentId, datetime]:
    """When the newest event of each agent that has one was noted."""
    rows = await reader.all(LAST_AT, {"agent_ids": json.dumps(list(agent_ids))})
    return {AgentId(row["agent_id"]): from_ms(row["at_ms"]) for row in rows}


def prune(tx: Transaction, event_class: EventClass, *, before: datetime, count: int) -> int:
    """Forget at most `count` events of a class that are older than `before`; how many."""
    parameters = {"class": event_class.value, "before_ms": to_ms(before), "count": count}
    return _note_pruned(tx, tx.all(PRUNE, parameters))


def prune_over(tx: Transaction, event_class: EventClass, *, keep: int, count: int) -> int:
    """Forget at most `count` events of a class, the oldest of those beyond the newest `keep`; how many."""
    parameters = {"class": event_class.value, "keep": keep, "count": count}
    return _note_pruned(tx, tx.all(PRUNE_OVER, parameters))


def prune_sequences(tx: Transaction, *, before: datetime) -> None:
    """Forget the numbering of trees without events in which nothing happened since `before`."""
    tx.execute(PRUNE_SEQUENCES, {"before_ms": to_ms(before)})


def _note_pruned(tx: Transaction, rows: Sequence[sqlite3.Row]) -> int:
    if rows:
        tx.execute(NOTE_PRUNED, {"position": max(row["position"] for row in rows)})
    return len(rows)


def _event(row: Mapping[str, Any] | sqlite3.Row) -> LoggedEvent:
    return LoggedEvent(
        position=row["position"],
        tree_id=TreeId(row["tree_id"]) if row["tree_id"] else None,
        seq=row["seq"],
        event_class=EventClass(row["class"]),
        type=row["type"],
        agent_id=None if row["agent_id"] is None else AgentId(row["agent_id"]),
        at=from_ms(row["at_ms"]),
        body=parse_json(row["body"]),
    )
