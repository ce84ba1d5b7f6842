"""Texts on their way out: in order within a chat, each sent once or noted."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NotRequired, TypedDict, Unpack

from orchestrator.contracts.ids import AgentId, Jid, MessageId, TurnId
from orchestrator.contracts.records.messages import OutboxItem, OutboxStatus, TextSource
from orchestrator.store.database import Reader
from orchestrator.store.outbox_files import file_of
from orchestrator.store.slices import Slice, prune_slice
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO outbox (chat_jid, text, source, source_key, part, parts, status, created_ms, sent_ms,
                    agent_id, turn_id, reply_to)
VALUES (:chat_jid, :text, :source, :source_key, :part, :parts, :status, :at_ms, NULL,
        :agent_id, :turn_id, :reply_to)
ON CONFLICT (source, source_key, part) DO NOTHING
"""
WAITING_CHATS: Final = """
SELECT chat_jid FROM outbox WHERE status IN ('queued', 'sending', 'unknown') GROUP BY chat_jid
"""
OLDEST: Final = """
SELECT * FROM outbox INDEXED BY outbox_waiting
 WHERE chat_jid = :chat AND status IN ('queued', 'sending', 'unknown')
 ORDER BY id LIMIT 1
"""
CLAIM: Final = """
UPDATE outbox
   SET status = 'sending', attempts = attempts + 1, was_resent = was_resent OR :is_resend
 WHERE id = :id AND status = :was
RETURNING *
"""
MOVE: Final = """
UPDATE outbox
   SET status = :now, sent_ms = :sent_ms, channel_message_id = :channel_message_id,
       send_after_ms = :send_after_ms, error = :error,
       unknown_since_ms = CASE WHEN :now = 'unknown' THEN coalesce(unknown_since_ms, :at_ms) END
 WHERE id = :id AND status = :was
"""
IN_FLIGHT: Final = """
SELECT * FROM outbox
 WHERE status IN ('queued', 'sending', 'unknown') AND status = 'sending'
 ORDER BY chat_jid, id
"""
TEXTS_REQUESTED: Final = """
SELECT source, source_key, group_concat(text, char(10)) AS text
  FROM (SELECT * FROM outbox
         WHERE agent_id = :agent_id AND created_ms >= :since_ms AND source = 'request'
           AND turn_id IN (SELECT turn_id FROM turns INDEXED BY turns_open
                            WHERE agent_id = :agent_id AND ended_ms IS NULL
                           UNION ALL
                           SELECT turn_id FROM turns INDEXED BY turns_ended
                            WHERE agent_id = :agent_id AND ended_ms >= :since_ms)
        UNION ALL
        SELECT * FROM outbox
         WHERE agent_id = :agent_id AND turn_id IS NULL AND created_ms >= :since_ms AND source = 'request'
         ORDER BY id)
 GROUP BY source, source_key
"""
IS_OURS: Final = """
SELECT 1 AS found FROM outbox WHERE chat_jid = :chat AND channel_message_id = :message_id LIMIT 1
"""
SENT_AS: Final = """
SELECT * FROM outbox WHERE chat_jid = :chat AND channel_message_id = :message_id LIMIT 1
"""
IN_FLIGHT_OF_CHAT: Final = """
SELECT * FROM outbox INDEXED BY outbox_waiting
 WHERE chat_jid = :chat AND status IN ('queued', 'sending', 'unknown') AND status <> 'queued'
 ORDER BY id
"""
COUNT_UNTOLD_FAILURES: Final = """
SELECT count(*) AS n FROM outbox WHERE chat_jid = :chat AND status = 'failed' AND told_with_seq IS NULL
"""
MARK_TOLD: Final = """
UPDATE outbox SET told_with_seq = :seq
 WHERE id IN (SELECT id FROM outbox
               WHERE chat_jid = :chat AND status = 'failed' AND told_with_seq IS NULL
               ORDER BY id LIMIT :count)
"""
MARK_UNTOLD: Final = """
UPDATE outbox SET told_with_seq = NULL
 WHERE chat_jid = :chat AND status = 'failed' AND told_with_seq = :seq
"""
TEXTS_AFTER: Final = """
SELECT * FROM outbox WHERE chat_jid = :chat AND id > :after AND status = 'sent' ORDER BY id LIMIT :count
"""
NEWEST: Final = "SELECT * FROM outbox WHERE status = 'sent' ORDER BY id DESC LIMIT :count"
NEWEST_OF_CHAT: Final = """
SELECT * FROM outbox WHERE chat_jid = :chat AND status = 'sent' ORDER BY id DESC LIMIT :count
"""
COUNT_WAITING: Final = """
SELECT count(*) AS n FROM outbox INDEXED BY outbox_waiting
 WHERE chat_jid = :chat AND status IN ('queued', 'sending', 'unknown')
"""
COUNT_ALL_WAITING: Final = """
SELECT count(*) AS n FROM outbox WHERE status IN ('queued', 'sending', 'unknown')
"""
LAST_ID: Final = "SELECT coalesce(max(id), 0) AS id FROM outbox WHERE chat_jid = :chat AND status = 'sent'"
COUNT_FAILED: Final = """
SELECT count(*) AS n FROM outbox WHERE chat_jid = :chat AND status = 'failed' AND id > :after
"""
SOME: Final = """
SELECT count(*) AS n, max(id) AS last, min(created_ms) AS oldest_ms
  FROM (SELECT id, created_ms FROM outbox WHERE id > :after ORDER BY id LIMIT :count)
"""
PRUNE: Final = """
DELETE FROM outbox
 WHERE id > :after AND id <= :last AND created_ms < :before_ms AND status IN ('sent', 'failed')
"""


class NewTexts(TypedDict):
    """A text, split into its `parts`, that is put into the outbox. reply_to: what its first part quotes."""

    chat_jid: Jid
    parts: Sequence[str]
    source: TextSource
    source_key: str
    at: datetime
    status: NotRequired[OutboxStatus]
    agent_id: NotRequired[AgentId | None]
    turn_id: NotRequired[TurnId | None]
    reply_to: NotRequired[MessageId | None]


def add(tx: Transaction, **new: Unpack[NewTexts]) -> list[int]:
    """Store a text. Met again with the same source and key it adds nothing."""
    ids: list[int] = []
    for row in _rows(new):
        added = tx.execute(ADD, row)
        if added.rowcount and added.lastrowid is not None:
            ids.append(added.lastrowid)
    return ids


def add_later(tx: Transaction, **new: Unpack[NewTexts]) -> None:
    """As `add`, together with other texts of the same transaction."""
    for row in _rows(new):
        tx.insert_later("outbox", ADD, row)


def _rows(new: NewTexts) -> Iterator[Mapping[str, object]]:
    for number, text in enumerate(new["parts"], start=1):
        yield {
            "chat_jid": new["chat_jid"],
            "text": text,
            "source": new["source"].value,
            "source_key": new["source_key"],
            "part": number,
            "parts": len(new["parts"]),
            "status": new.get("status", OutboxStatus.QUEUED).value,
            "at_ms": to_ms(new["at"]),
            "agent_id": new.get("agent_id"),
            "turn_id": new.get("turn_id"),
            "reply_to": new.get("reply_to") if number == 1 else None,
        }


def waiting_chats(tx: Transaction) -> list[Jid]:
    """The chats that have something to send or in flight."""
    return [Jid(row["chat_jid"]) for row in tx.all(WAITING_CHATS, {})]


def oldest(tx: Transaction, chat: Jid) -> tuple[OutboxItem, datetime | None, datetime] | None:
    """The text whose turn it is in a chat, since when its fate is unknown, and not before when it goes."""
    row = tx.one(OLDEST, {"chat": chat})
    if row is None:
        return None
    return _item(row), maybe_from_ms(row["unknown_since_ms"]), from_ms(row["send_after_ms"])


def claim(tx: Transaction, item: OutboxItem, *, is_resend: bool) -> OutboxItem | None:
    """Make it `sending`, if it still is where we think it is."""
    row = tx.one(CLAIM, {"id": item.id, "was": item.status.value, "is_resend": int(is_resend)})
    return None if row is None else _item(row)


def move(
    tx: Transaction,
    item: OutboxItem,
    *,
    now: OutboxStatus,
    at: datetime,
    send_after: datetime | None = None,
    channel_message_id: MessageId | None = None,
    error: str | None = None,
) -> bool:
    """Change the status if the row still has the one of `item`."""
    changed = tx.execute(
        MOVE,
        {
            "id": item.id,
            "was": item.status.value,
            "now": now.value,
            "at_ms": to_ms(at),
            "sent_ms": to_ms(at) if now is OutboxStatus.SENT else None,
            "channel_message_id": channel_message_id,
            "send_after_ms": 0 if send_after is None else to_ms(send_after),
            "error": error,
        },
    )
    return changed.rowcount == 1


def in_flight(tx: Transaction) -> list[OutboxItem]:
    """What was being sent; at a start, by a process that is no more."""
    return [_item(row) for row in tx.all(IN_FLIGHT, {})]


def in_flight_of_chat(tx: Transaction, chat: Jid) -> list[OutboxItem]:
    """Texts of a chat that the network may have without our knowing its id."""
    return [_item(row) for row in tx.all(IN_FLIGHT_OF_CHAT, {"chat": chat})]


def requested_texts(tx: Transaction, agent_id: AgentId, *, since: datetime) -> list[str]:
    """What the agent sent by request from that instant on, each text whole again."""
    rows = tx.all(TEXTS_REQUESTED, {"agent_id": agent_id, "since_ms": to_ms(since)})
    return [row["text"] for row in rows]


def is_ours(tx: Transaction, chat: Jid, message_id: MessageId) -> bool:
    """Whether this id of the chat is a text that we sent."""
    return tx.one(IS_OURS, {"chat": chat, "message_id": message_id}) is not None


def sent_as(tx: Transaction, chat: Jid, message_id: MessageId) -> OutboxItem | None:
    """The text that we sent to a chat under this id."""
    row = tx.one(SENT_AS, {"chat": chat, "message_id": message_id})
    return None if row is None else _item(row)


def count_untold_failures(tx: Transaction, chat: Jid) -> int:
    """How many texts could not be delivered that no agent was told of."""
    row = tx.one(COUNT_UNTOLD_FAILURES, {"chat": chat})
    return 0 if row is None else int(row["n"])


def mark_told(tx: Transaction, chat: Jid, *, with_seq: int, count: int) -> None:
    """An agent is told of the oldest `count` failures, beside the message `with_seq`."""
    tx.execute(MARK_TOLD, {"chat": chat, "seq": with_seq, "count": count})


def mark_untold(tx: Transaction, chat: Jid, *, with_seq: int) -> None:
    """The message is given back, so what was said beside it is to be said again."""
    tx.execute(MARK_UNTOLD, {"chat": chat, "seq": with_seq})


def prune(tx: Transaction, *, before: datetime, after: int, count: int) -> Slice:
    """Forget those of the next `count` texts that were made before and whose fate is known."""
    return prune_slice(tx, SOME, PRUNE, after=after, before=before, count=count)


async def texts_after(reader: Reader, chat: Jid, *, after_id: int, count: int) -> list[OutboxItem]:
    """What was sent to a chat behind `after_id`, in order."""
    rows = await reader.all(TEXTS_AFTER, {"chat": chat, "after": after_id, "count": count})
    return [_item(row) for row in rows]


async def newest(reader: Reader, chat: Jid | None, *, count: int) -> list[OutboxItem]:
    """What was sent last, to one chat or to all, oldest first."""
    rows = await (
        reader.all(NEWEST, {"count": count})
        if chat is None
        else reader.all(NEWEST_OF_CHAT, {"chat": chat, "count": count})
    )
    return [_item(row) for row in reversed(rows)]


async def count_waiting(reader: Reader, chat: Jid) -> int:
    """How many texts of a chat are not sent yet."""
    row = await reader.one(COUNT_WAITING, {"chat": chat})
    return 0 if row is None else int(row["n"])


async def count_all_waiting(reader: Reader) -> int:
    """How many texts of all chats are not sent yet."""
    row = await reader.one(COUNT_ALL_WAITING, {})
    return 0 if row is None else int(row["n"])


async def last_id(reader: Reader, chat: Jid) -> int:
    """The newest text that was sent to a chat; 0 when there is none."""
    row = await reader.one(LAST_ID, {"chat": chat})
    return 0 if row is None else int(row["id"])


async def count_failed(reader: Reader, chat: Jid, *, after_id: int) -> int:
    """How many texts behind `after_id` could not be delivered."""
    row = await reader.one(COUNT_FAILED, {"chat": chat, "after": after_id})
    return 0 if row is None else int(row["n"])


def _item(row: sqlite3.Row) -> OutboxItem:
    return OutboxItem(
        id=row["id"],
        chat_jid=Jid(row["chat_jid"]),
        text=row["text"],
        source=TextSource(row["source"]),
        source_key=row["source_key"],
        part=row["part"],
        parts=row["parts"],
        status=OutboxStatus(row["status"]),
        attempts=row["attempts"],
        created_at=from_ms(row["created_ms"]),
        agent_id=None if row["agent_id"] is None else AgentId(row["agent_id"]),
        turn_id=None if row["turn_id"] is None else TurnId(row["turn_id"]),
        reply_to=None if row["reply_to"] is None else MessageId(row["reply_to"]),
        channel_message_id=None
        if row["channel_message_id"] is None
        else MessageId(row["channel_message_id"]),
        sent_at=maybe_from_ms(row["sent_ms"]),
        was_resent=bool(row["was_resent"]),
        error=row["error"],
        file=file_of(row),
    )
