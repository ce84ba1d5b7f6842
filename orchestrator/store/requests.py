"""Requests of boxes: known by their key until their file is gone, by their id for an hour more."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import AgentId, BoxName, RequestId
from orchestrator.contracts.wire.codec import from_json, to_json
from orchestrator.contracts.wire.replies import Reply
from orchestrator.store.database import Reader
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestKey:
    """What tells one request file from every other, also from a later one of the same name."""

    box: BoxName
    directory: str
    name: str
    inode: int
    ctime_ns: int
    sha256: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A request with its answer."""

    key: RequestKey
    reply: Reply
    agent_id: AgentId
    request_id: RequestId | None


FIND: Final = """
SELECT reply FROM requests
 WHERE box = :box AND directory = :directory AND name = :name
   AND inode = :inode AND ctime_ns = :ctime_ns AND sha256 = :sha256 AND is_open = 1
"""
OPEN_BOXES: Final = "SELECT box, count(*) AS n FROM requests WHERE is_open = 1 GROUP BY box"
BY_IDS: Final = """
SELECT r.agent_id, r.request_id, r.reply, r.sha256
  FROM json_each(:asked) CROSS JOIN requests AS r
    ON r.agent_id = json_each.value ->> 0 AND r.request_id = json_each.value ->> 1
 ORDER BY r.created_ms DESC, r.rowid DESC
"""
ADD: Final = """
INSERT INTO requests (box, directory, name, inode, ctime_ns, sha256, agent_id, request_id, reply, created_ms)
VALUES (:box, :directory, :name, :inode, :ctime_ns, :sha256, :agent_id, :request_id, :reply, :at_ms)
"""
CLOSE: Final = """
UPDATE requests SET is_open = 0
 WHERE box = :box AND directory = :directory AND name = :name
   AND inode = :inode AND ctime_ns = :ctime_ns AND sha256 = :sha256 AND is_open = 1
"""
UNWRITTEN: Final = """
SELECT box, reply FROM requests WHERE is_open = 1 AND request_id IS NOT NULL ORDER BY created_ms
"""
PRUNE: Final = """
DELETE FROM requests
 WHERE rowid IN (SELECT rowid FROM requests WHERE is_open = 0 AND created_ms < :before_ms LIMIT :count)
"""
CLOSE_BOX: Final = "UPDATE requests SET is_open = 0 WHERE box = :box AND is_open = 1"


def _key(key: RequestKey) -> dict[str, object]:
    return {
        "box": key.box,
        "directory": key.directory,
        "name": key.name,
        "inode": key.inode,
        "ctime_ns": key.ctime_ns,
        "sha256": key.sha256,
    }


def find(tx: Transaction, key: RequestKey) -> Reply | None:
    """The answer given to this very file before."""
    row = tx.one(FIND, _key(key))
    return None if row is None else from_json(Reply, row["reply"])


def open_boxes(tx: Transaction) -> dict[BoxName, int]:
    """The boxes of which any file is known by its key, and how many are."""
    return {BoxName(row["box"]): row["n"] for row in tx.all(OPEN_BOXES)}


def by_ids(
    tx: Transaction, asked: Iterable[tuple[AgentId, RequestId]]
) -> dict[tuple[AgentId, RequestId], tuple[Reply, bytes]]:
    """The answers given to these ids of these agents before, each with the hash of what had been asked."""
    rows = tx.all(BY_IDS, {"asked": json.dumps(list(asked))})
    return {  # the oldest comes last, and stays
        (AgentId(row["agent_id"]), RequestId(row["request_id"])): (
            from_json(Reply, row["reply"]),
            bytes(row["sha256"]),
        )
        for row in rows
    }


def add_all(tx: Transaction, answered: Sequence[Answered], *, at: datetime) -> None:
    """Remember the answers; in the transaction of their effects."""
    at_ms = to_ms(at)
    rows = (
        {
            **_key(each.key),
            "agent_id": each.agent_id,
            "request_id": each.request_id,
            "reply": to_json(each.reply),
            "at_ms": at_ms,
        }
        for each in answered
    )
    tx.execute_many(ADD, rows)


def close(tx: Transaction, key: RequestKey) -> None:
    """The file is gone: what bears its name from now on is another request."""
    tx.execute(CLOSE, _key(key))


def close_all(tx: Transaction, keys: Sequence[RequestKey]) -> None:
    """As `close`, for many."""
    tx.execute_many(CLOSE, (_key(key) for key in keys))


def close_box(tx: Transaction, box: BoxName) -> None:
    """The box is gone with every file in it."""
    tx.execute(CLOSE_BOX, {"box": box})


def prune(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` answers older than `before` whose files are gone; how many."""
    return tx.execute(PRUNE, {"before_ms": to_ms(before), "count": count}).rowcount


async def unwritten_replies(reader: Reader) -> list[tuple[BoxName, Reply]]:
    """Answers whose reply file may not have been written, oldest first."""
    return [(BoxName(row["box"]), from_json(Reply, row["reply"])) for row in await reader.all(UNWRITTEN, {})]
