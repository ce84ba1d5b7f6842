"""Every conversation that was seen, registered or not: its name and when something last happened."""

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.store.times import maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

SEE: Final = """
INSERT INTO chats (jid, channel, name, is_group, last_activity_ms)
VALUES (:jid, :channel, :name, :is_group, :at_ms)
ON CONFLICT (jid) DO UPDATE
   SET name = coalesce(excluded.name, name),
       last_activity_ms = max(coalesce(last_activity_ms, 0), excluded.last_activity_ms)
"""

KNOWN: Final = """
SELECT jid, name, folder, last_activity_ms
  FROM (SELECT g.jid, g.name, g.folder, c.last_activity_ms
          FROM groups AS g LEFT JOIN chats AS c ON c.jid = g.jid
        UNION ALL
        SELECT c.jid, coalesce(c.name, c.jid), NULL, c.last_activity_ms
          FROM chats AS c
         WHERE c.is_group = 1 AND c.is_member IS NOT 0
           AND NOT EXISTS (SELECT 1 FROM groups AS g WHERE g.jid = c.jid))
 ORDER BY folder IS NULL, last_activity_ms DESC, jid
 LIMIT :count
"""
KNOWN_OF_GROUP: Final = """
SELECT g.jid, g.name, g.folder, c.last_activity_ms
  FROM groups AS g LEFT JOIN chats AS c ON c.jid = g.jid
 WHERE g.folder = :folder
"""
NOTE_FOUND: Final = """
INSERT INTO chats (jid, channel, name, is_group, is_member) VALUES (:jid, :channel, :name, 1, 1)
ON CONFLICT (jid) DO UPDATE SET name = coalesce(excluded.name, name), is_group = 1, is_member = 1
"""
CALL: Final = "UPDATE chats SET name = :name WHERE jid = :jid"
LEAVE: Final = "UPDATE chats SET is_member = 0 WHERE jid = :jid AND is_member IS NOT 0"
WE_ARE_IN: Final = "SELECT jid FROM chats WHERE channel = :channel AND is_member = 1"
NAME: Final = "SELECT name FROM chats WHERE jid = :jid"
IS_SEEN: Final = "SELECT 1 AS found FROM chats WHERE jid = :jid"
# One that was never heard is only known for our being in it.
SILENT: Final = """
SELECT jid FROM chats AS c
 WHERE coalesce(last_activity_ms < :before_ms, is_member = 0) AND is_member IS NOT 1
   AND NOT EXISTS (SELECT 1 FROM groups AS g WHERE g.jid = c.jid)
   AND NOT EXISTS (SELECT 1 FROM messages AS m WHERE m.chat_jid = c.jid)
   AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.chat_jid = c.jid)
 LIMIT :count
"""
_CHATS: Final = "(SELECT value FROM json_each(:chats))"
OF_SILENT: Final = (
    f"DELETE FROM members WHERE chat_jid IN {_CHATS}",
    f"DELETE FROM cursors WHERE chat_jid IN {_CHATS}",
    f"DELETE FROM chats WHERE jid IN {_CHATS}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownChat:
    """A chat that is registered, or a group chat that could be. folder None: it is not."""

    jid: Jid
    name: str
    folder: GroupFolder | None
    last_activity_at: datetime | None


def known(tx: Transaction, *, count: int) -> list[KnownChat]:
    """Registered chats, then group chats that could be registered; each the latest active first."""
    return [_known(row) for row in tx.all(KNOWN, {"count": count})]


def known_of_group(tx: Transaction, folder: GroupFolder) -> list[KnownChat]:
    """A group's own chat."""
    return [_known(row) for row in tx.all(KNOWN_OF_GROUP, {"folder": folder})]


def see(tx: Transaction, jid: Jid, *, channel: str, name: str | None, is_group: bool, at: datetime) -> None:
    """Remember that something happened in this chat."""
    tx.execute(
        SEE, {"jid": jid, "channel": channel, "name": name, "is_group": int(is_group), "at_ms": to_ms(at)}
    )


def is_seen(tx: Transaction, jid: Jid) -> bool:
    """Whether something ever happened in this chat."""
    return tx.one(IS_SEEN, {"jid": jid}) is not None


def note_found(tx: Transaction, jid: Jid, *, channel: str, name: str | None) -> None:
    """The channel says that we are in this group chat."""
    tx.execute(NOTE_FOUND, {"jid": jid, "channel": channel, "name": name})


def call(tx: Transaction, jid: Jid, name: str) -> None:
    """The chat, if it is known, is called so from now on."""
    tx.execute(CALL, {"jid": jid, "name": name})


def leave(tx: Transaction, jid: Jid) -> bool:
    """We are in this chat no more; False if that was known, or the chat is not."""
    return tx.execute(LEAVE, {"jid": jid}).rowcount == 1


def we_are_in(tx: Transaction, channel: str) -> frozenset[Jid]:
    """The group chats of a channel that we are known to be in."""
    return frozenset(Jid(row["jid"]) for row in tx.all(WE_ARE_IN, {"channel": channel}))


def name_of(tx: Transaction, jid: Jid) -> str | None:
    """What the chat is called, as far as its network said."""
    row = tx.one(NAME, {"jid": jid})
    return None if row is None else row["name"]


def prune(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` chats that are not registered, nothing was heard of since then, and we are not
    in as far as we know; how many."""
    found = tx.all(SILENT, {"before_ms": to_ms(before), "count": count})
    gone = {"chats": json.dumps([row["jid"] for row in found])}
    for sql in OF_SILENT if found else ():
        tx.execute(sql, gone)
    return len(found)


def _known(row: sqlite3.Row) -> KnownChat:
    return KnownChat(
        jid=Jid(row["jid"]),
        name=row["name"],
        folder=None if row["folder"] is None else GroupFolder(row["folder"]),
        last_activity_at=maybe_from_ms(row["last_activity_ms"]),
    )
