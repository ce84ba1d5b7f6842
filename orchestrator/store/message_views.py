"""What was heard and what became of it, for people who look: read beside the writer, changes nothing."""

from typing import Final

from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import StoredMessage
from orchestrator.store.database import Reader
from orchestrator.store.messages import of_row
from orchestrator.store.transaction import Transaction

CURSORS: Final = "SELECT chat_jid, seq FROM cursors ORDER BY chat_jid"
COUNT_UNSETTLED: Final = """
SELECT (SELECT count(*) FROM messages WHERE chat_jid = :chat AND status = 'pending' AND is_trigger = 1)
     + (SELECT count(*) FROM messages WHERE chat_jid = :chat AND status = 'dispatched') AS n
"""
LIST_UNFINISHED: Final = """
SELECT message_id, status FROM messages
 WHERE chat_jid = :chat AND status IN ('partial', 'failed') AND seq > :after
 ORDER BY seq LIMIT 200
"""
# The plus keeps SQLite from walking through the chat by the index of its message ids.
HEARD_AFTER: Final = """
SELECT * FROM messages
 WHERE +chat_jid = :chat AND sender_role <> 'bot' AND seq > :after
 ORDER BY seq LIMIT :count
"""
NEWEST: Final = "SELECT * FROM messages ORDER BY seq DESC LIMIT :count"
NEWEST_OF_CHAT: Final = "SELECT * FROM messages WHERE chat_jid = :chat ORDER BY seq DESC LIMIT :count"
ANY_HELD: Final = """
SELECT EXISTS (
  SELECT 1 FROM messages
   WHERE chat_jid = :chat AND status = 'pending' AND is_trigger = 1 AND held_since_ms IS NOT NULL
) AS found
"""
LAST_SEQ: Final = "SELECT coalesce(max(seq), 0) AS seq FROM messages WHERE chat_jid = :chat"
COUNT_WAITING: Final = "SELECT count(*) AS n FROM messages WHERE status = 'pending' AND is_trigger = 1"


async def count_unsettled(reader: Reader, chat: Jid) -> int:
    """How many messages of the chat still wait for their outcome; idle chatter does not."""
    row = await reader.one(COUNT_UNSETTLED, {"chat": chat})
    return 0 if row is None else int(row["n"])


async def holds_any(reader: Reader, chat: Jid) -> bool:
    """Whether a message of the chat waits for the end of a failure that is not its own."""
    row = await reader.one(ANY_HELD, {"chat": chat})
    return row is not None and bool(row["found"])


def holds_any_now(tx: Transaction, chat: Jid) -> bool:
    """As `holds_any`, for who decides by it."""
    row = tx.one(ANY_HELD, {"chat": chat})
    return row is not None and bool(row["found"])


async def cursors(reader: Reader) -> dict[Jid, int]:
    """Of each chat: up to where nothing is unsettled."""
    return {Jid(row["chat_jid"]): row["seq"] for row in await reader.all(CURSORS, {})}


async def count_waiting(reader: Reader) -> int:
    """How many triggers of all chats wait for an agent."""
    row = await reader.one(COUNT_WAITING, {})
    return 0 if row is None else int(row["n"])


async def list_unfinished(reader: Reader, chat: Jid, *, after_seq: int) -> list[tuple[MessageId, str]]:
    """Ids and statuses of messages that ended half-way or failed."""
    rows = await reader.all(LIST_UNFINISHED, {"chat": chat, "after": after_seq})
    return [(MessageId(row["message_id"]), row["status"]) for row in rows]


async def heard_after(reader: Reader, chat: Jid, *, after_seq: int, count: int) -> list[StoredMessage]:
    """What people wrote behind `after_seq`, oldest first."""
    rows = await reader.all(HEARD_AFTER, {"chat": chat, "after": after_seq, "count": count})
    return [of_row(row) for row in rows]


async def newest(reader: Reader, chat: Jid | None, *, count: int) -> list[StoredMessage]:
    """The newest messages of one chat or of all, oldest first."""
    rows = await (
        reader.all(NEWEST, {"count": count})
        if chat is None
        else reader.all(NEWEST_OF_CHAT, {"chat": chat, "count": count})
    )
    return [of_row(row) for row in reversed(rows)]


async def last_seq(reader: Reader, chat: Jid) -> int:
    """The newest message's place in the order of arrival; 0 when there is none."""
    row = await reader.one(LAST_SEQ, {"chat": chat})
    return 0 if row is None else int(row["seq"])
