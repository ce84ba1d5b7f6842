"""Inbound messages: stored before acted on; their status is the truth."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from orchestrator.contracts.ids import AgentId, Jid, MessageId, TurnId
from orchestrator.contracts.records.messages import (
    Attachment,
    InboundMessage,
    MessageStatus,
    Quoted,
    SenderRole,
    StoredMessage,
)
from orchestrator.store.slices import Slice, prune_slice
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingChat:
    """A chat whose oldest unanswered trigger is due. last_served orders groups that wait."""

    chat_jid: Jid
    folder: str
    oldest_seq: int
    last_served: int


ADD: Final = """
INSERT INTO messages (chat_jid, message_id, sender_jid, sender_name, sender_role, text, quoted, attachments,
                      sent_ms, received_ms, is_trigger, status)
VALUES (:chat_jid, :message_id, :sender_jid, :sender_name, :sender_role, :text, :quoted, :attachments,
        :sent_ms, :received_ms, :is_trigger, :status)
ON CONFLICT (chat_jid, message_id) DO NOTHING
RETURNING seq
"""
# SQLite gives a bare column, here due_ms, from the row that has the min(): the oldest trigger's.
WAITING_CHATS: Final = """
SELECT m.chat_jid, g.folder, g.last_served, min(m.seq) AS oldest_seq, m.due_ms
  FROM messages AS m JOIN groups AS g ON g.jid = m.chat_jid
 WHERE m.status = 'pending' AND m.is_trigger = 1
 GROUP BY m.chat_jid
HAVING m.due_ms <= :now_ms OR m.due_ms > :too_far_ms
"""
PENDING_TRIGGERS: Final = """
SELECT * FROM messages
 WHERE chat_jid = :chat AND status = 'pending' AND is_trigger = 1
 ORDER BY seq
"""
PENDING_CHATTER: Final = """
SELECT * FROM messages
 WHERE chat_jid = :chat AND status = 'pending' AND is_trigger = 0 AND seq < :before
 ORDER BY seq DESC LIMIT :count
"""
SKIP_CHATTER: Final = """
UPDATE messages SET status = 'skipped'
 WHERE chat_jid = :chat AND status = 'pending' AND is_trigger = 0 AND seq < :before
"""
COUNT_CHATTER: Final = """
SELECT count(*) AS n FROM messages
 WHERE chat_jid = :chat AND status = 'pending' AND is_trigger = 0 AND seq < :before
"""
DISPATCH: Final = """
UPDATE messages
   SET status = 'dispatched', agent_id = :agent_id, turn_id = :turn_id, is_in_turn = 0,
       input_file = :input_file
 WHERE seq IN (SELECT value FROM json_each(:seqs)) AND status = 'pending'
"""
TAKE_BACK: Final = """
UPDATE messages SET status = 'pending', agent_id = NULL, turn_id = NULL, input_file = NULL
 WHERE seq IN (SELECT value FROM json_each(:seqs))
   AND agent_id = :agent_id AND turn_id = :turn_id AND status = 'dispatched'
"""
ENTER_TURN: Final = """
UPDATE messages SET is_in_turn = 1, turn_id = :turn_id
 WHERE agent_id = :agent_id AND status = 'dispatched'
   AND message_id IN (SELECT value FROM json_each(:message_ids))
"""
OF_AGENT: Final = "SELECT * FROM messages WHERE agent_id = :agent_id AND status = 'dispatched' ORDER BY seq"
MOVE: Final = """
UPDATE messages SET status = :now
 WHERE seq IN (SELECT value FROM json_each(:seqs)) AND status = :was
"""
GIVE_BACK: Final = """
UPDATE messages
   SET status = 'pending', agent_id = NULL, turn_id = NULL, is_in_turn = 0, input_file = NULL,
       tries = :tries, deaths = :deaths, is_nudged = :is_nudged, held_since_ms = :held_since_ms,
       due_ms = :due_ms
 WHERE seq = :seq AND status IN ('dispatched', 'partial', 'failed')
"""
HOLD: Final = """
UPDATE messages
   SET due_ms = :due_ms, held_since_ms = coalesce(held_since_ms, :now_ms)
 WHERE chat_jid = :chat AND status = 'pending' AND is_trigger = 1
"""
UNFINISHED: Final = """
SELECT * FROM messages
 WHERE chat_jid = :chat AND status IN ('partial', 'failed') AND is_trigger = 1
 ORDER BY seq DESC LIMIT 1000
"""
ROLE_OF: Final = "SELECT sender_role FROM messages WHERE chat_jid = :chat AND message_id = :message_id"
SENDER_OF: Final = "SELECT sender_jid FROM messages WHERE chat_jid = :chat AND message_id = :message_id"
TEXT_OF: Final = "SELECT text FROM messages WHERE chat_jid = :chat AND message_id = :message_id"
AT_WORK: Final = """
SELECT * FROM messages
 WHERE chat_jid = :chat AND status = 'dispatched' AND is_trigger = 1
 ORDER BY seq
"""
BROKEN_WITH: Final = """
SELECT * FROM messages
 WHERE chat_jid = :chat AND status IN ('partial', 'failed') AND is_trigger = 0
   AND agent_id = :agent_id AND turn_id = :turn_id
 ORDER BY seq
"""
MOVE_CURSOR: Final = """
INSERT INTO cursors (chat_jid, seq)
VALUES (:chat,
        coalesce((SELECT min(seq) - 1 FROM messages
                   WHERE chat_jid = :chat AND status IN ('pending', 'dispatched')),
                 (SELECT max(seq) FROM messages WHERE chat_jid = :chat), 0))
ON CONFLICT (chat_jid) DO UPDATE SET seq = excluded.seq
"""
SOME: Final = """
SELECT count(*) AS n, max(seq) AS last, min(received_ms) AS oldest_ms
  FROM (SELECT seq, received_ms FROM messages WHERE seq > :after ORDER BY seq LIMIT :count)
"""
PRUNE: Final = """
DELETE FROM messages
 WHERE seq > :after AND seq <= :last AND received_ms < :before_ms
   AND NOT (status = 'dispatched' OR (status = 'pending' AND is_trigger = 1))
   AND NOT EXISTS (SELECT 1 FROM waiting_words AS w WHERE w.seq = messages.seq)
"""


def add(
    tx: Transaction,
    message: InboundMessage,
    *,
    role: SenderRole,
    is_trigger: bool,
    status: MessageStatus,
    at: datetime,
) -> int | None:
    """Store a message; its seq, or None when this id of the chat was stored before."""
    row = tx.one(
        ADD,
        {
            "chat_jid": message.chat_jid,
            "message_id": message.message_id,
            "sender_jid": message.sender_jid,
            "sender_name": message.sender_name,
            "sender_role": role.value,
            "text": message.text,
            "quoted": _quoted_json(message.quoted),
            "attachments": attachments_json(message.attachments),
            "sent_ms": to_ms(message.sent_at),
            "received_ms": to_ms(at),
            "is_trigger": int(is_trigger),
            "status": status.value,
        },
    )
    return None if row is None else int(row["seq"])


def waiting_chats(tx: Transaction, *, now: datetime, longest_wait: timedelta) -> list[WaitingChat]:
    """The chats that want a turn. A chat whose oldest trigger backs off waits as a whole.

    A wait that seems longer than `longest_wait` was begun before the wall clock was set back: it is over.
    """
    wanted = {"now_ms": to_ms(now), "too_far_ms": to_ms(now + longest_wait)}
    return [
        WaitingChat(
            chat_jid=Jid(row["chat_jid"]),
            folder=row["folder"],
            oldest_seq=row["oldest_seq"],
            last_served=row["last_served"],
        )
        for row in tx.all(WAITING_CHATS, wanted)
    ]


def pending_triggers(tx: Transaction, chat: Jid) -> list[StoredMessage]:
    """Every trigger of the chat that was given to no agent, oldest first."""
    return [of_row(row) for row in tx.all(PENDING_TRIGGERS, {"chat": chat})]


def pending_chatter(tx: Transaction, chat: Jid, *, before_seq: int, count: int) -> list[StoredMessage]:
    """The newest `count` messages below `before_seq` that trigger nothing, oldest first."""
    rows = tx.all(PENDING_CHATTER, {"chat": chat, "before": before_seq, "count": count})
    return [of_row(row) for row in reversed(rows)]


def count_chatter(tx: Transaction, chat: Jid, *, before_seq: int) -> int:
    """How many messages below `before_seq` trigger nothing and were given to no agent."""
    row = tx.one(COUNT_CHATTER, {"chat": chat, "before": before_seq})
    return 0 if row is None else int(row["n"])


def skip_chatter(tx: Transaction, chat: Jid, *, before_seq: int) -> int:
    """Pass over chatter that no batch will hold; how many messages that were."""
    return tx.execute(SKIP_CHATTER, {"chat": chat, "before": before_seq}).rowcount


def dispatch(
    tx: Transaction,
    seqs: Sequence[int],
    *,
    agent_id: AgentId,
    turn_id: TurnId,
    input_file: str | None,
) -> int:
    """Give messages to an agent; how many still were free.

    input_file: the stem of the follow-up that carries them; None: they go by standard input.
    """
    changed = tx.execute(
        DISPATCH,
        {"seqs": json.dumps(list(seqs)), "agent_id": agent_id, "turn_id": turn_id, "input_file": input_file},
    )
    return changed.rowcount


def take_back(tx: Transaction, seqs: Sequence[int], *, agent_id: AgentId, turn_id: TurnId) -> None:
    """Undo a `dispatch` that the agent never saw; what it holds of other turns stays its own."""
    tx.execute(TAKE_BACK, {"seqs": json.dumps(list(seqs)), "agent_id": agent_id, "turn_id": turn_id})


def enter_turn(tx: Transaction, agent_id: AgentId, turn_id: TurnId, ids: Iterable[str]) -> None:
    """The agent says that these are in the turn; ids it was never given are passed over."""
    tx.execute(ENTER_TURN, {"agent_id": agent_id, "turn_id": turn_id, "message_ids": json.dumps(list(ids))})


def of_agent(tx: Transaction, agent_id: AgentId) -> list[StoredMessage]:
    """What the agent was given and has not settled, oldest first."""
    return [of_row(row) for row in tx.all(OF_AGENT, {"agent_id": agent_id})]


def input_files(tx: Transaction, agent_id: AgentId) -> dict[int, str | None]:
    """Of each unsettled message of the agent: the follow-up file that carried it, None for stdin."""
    return {row["seq"]: row["input_file"] for row in tx.all(OF_AGENT, {"agent_id": agent_id})}


def move(tx: Transaction, seqs: Sequence[int], *, was: MessageStatus, now: MessageStatus) -> int:
    """Change the status of those that still are `was`; how many that were."""
    changed = tx.execute(MOVE, {"seqs": json.dumps(list(seqs)), "was": was.value, "now": now.value})
    return changed.rowcount


def give_back(
    tx: Transaction,
    message: StoredMessage,
    *,
    tries: int,
    deaths: int,
    due_at: datetime | None = None,
    held_since: datetime | None = None,
    is_nudged: bool = False,
) -> None:
    """Make it pending again. due_at: not before; None means at once."""
    tx.execute(
        GIVE_BACK,
        {
            "seq": message.seq,
            "tries": tries,
            "deaths": deaths,
            "is_nudged": int(is_nudged),
            "held_since_ms": None if held_since is None else to_ms(held_since),
            "due_ms": 0 if due_at is None else to_ms(due_at),
        },
    )


def hold_chat(tx: Transaction, chat: Jid, *, until: datetime, now: datetime) -> None:
    """Let a chat wait for something that is not its fault; its first day counts from the first hold."""
    tx.execute(HOLD, {"chat": chat, "due_ms": to_ms(until), "now_ms": to_ms(now)})


def held_since(tx: Transaction, seq: int) -> datetime | None:
    """Since when a message is held back for a failure that is not its own."""
    row = tx.one("SELECT held_since_ms FROM messages WHERE seq = :seq", {"seq": seq})
    return None if row is None else maybe_from_ms(row["held_since_ms"])


def unfinished(tx: Transaction, chat: Jid) -> list[StoredMessage]:
    """Triggers that ended half-way or failed, newest first."""
    return [of_row(row) for row in tx.all(UNFINISHED, {"chat": chat})]


def broken_with(tx: Transaction, trigger: StoredMessage) -> list[StoredMessage]:
    """The context that broke off in the same turn as `trigger`, oldest first."""
    wanted = {"chat": trigger.chat_jid, "agent_id": trigger.agent_id, "turn_id": trigger.turn_id}
    return [of_row(row) for row in tx.all(BROKEN_WITH, wanted)]


def role_of(tx: Transaction, chat: Jid, message_id: MessageId) -> SenderRole | None:
    """What the sender of a stored message is to us."""
    row = tx.one(ROLE_OF, {"chat": chat, "message_id": message_id})
    return None if row is None else SenderRole(row["sender_role"])


def sender_of(tx: Transaction, chat: Jid, message_id: MessageId) -> Jid | None:
    """Who sent a stored message, by the id that the network gave."""
    row = tx.one(SENDER_OF, {"chat": chat, "message_id": message_id})
    return None if row is None else Jid(row["sender_jid"])


def text_of(tx: Transaction, chat: Jid, message_id: MessageId) -> str:
    """What a stored message says; empty if it is not known."""
    row = tx.one(TEXT_OF, {"chat": chat, "message_id": message_id})
    return "" if row is None else str(row["text"])


def triggers_at_work(tx: Transaction, chat: Jid) -> list[StoredMessage]:
    """The triggers of a chat that some agent holds."""
    return [of_row(row) for row in tx.all(AT_WORK, {"chat": chat})]


def move_cursor(tx: Transaction, chat: Jid) -> None:
    """Write down up to where nothing of the chat is unsettled; `/retry` can move it back."""
    tx.execute(MOVE_CURSOR, {"chat": chat})


def prune(tx: Transaction, *, before: datetime, after: int, count: int) -> Slice:
    """Forget those of the next `count` messages that were received before and wait for nothing."""
    return prune_slice(tx, SOME, PRUNE, after=after, before=before, count=count)


def _quoted_json(quoted: Quoted | None) -> str | None:
    if quoted is None:
        return None
    return json.dumps([quoted.message_id, quoted.sender_name, quoted.text, quoted.is_ours])


def attachments_json(attachments: Sequence[Attachment]) -> str | None:
    """Files of a message as its row holds them."""
    if not attachments:
        return None
    return json.dumps([[a.name, a.media_type, a.size_bytes, a.path] for a in attachments])


def _quoted(text: str | None) -> Quoted | None:
    if text is None:
        return None
    message_id, sender_name, body, is_ours = json.loads(text)
    return Quoted(message_id=message_id, sender_name=sender_name, text=body, is_ours=is_ours)


def _attachments(text: str | None) -> tuple[Attachment, ...]:
    plain: list[list[Any]] = [] if text is None else json.loads(text)
    return tuple(
        Attachment(name=name, media_type=media_type, size_bytes=size, path=path)
        for name, media_type, size, path in plain
    )


def of_row(row: sqlite3.Row) -> StoredMessage:
    """A row of `messages` as a record."""
    return StoredMessage(
        seq=row["seq"],
        chat_jid=Jid(row["chat_jid"]),
        message_id=MessageId(row["message_id"]),
        sender_jid=Jid(row["sender_jid"]),
        sender_name=row["sender_name"],
        sender_role=SenderRole(row["sender_role"]),
        text=row["text"],
        sent_at=from_ms(row["sent_ms"]),
        status=MessageStatus(row["status"]),
        is_trigger=bool(row["is_trigger"]),
        tries=row["tries"],
        deaths=row["deaths"],
        is_nudged=bool(row["is_nudged"]),
        agent_id=None if row["agent_id"] is None else AgentId(row["agent_id"]),
        turn_id=None if row["turn_id"] is None else TurnId(row["turn_id"]),
        is_in_turn=bool(row["is_in_turn"]),
        quoted=_quoted(row["quoted"]),
        attachments=_attachments(row["attachments"]),
        revision=row["revision"],
    )
