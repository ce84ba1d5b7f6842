"""Texts that take the place of earlier ones, and the versions of a message."""

import json
from collections.abc import Sequence
from typing import Final

from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import Attachment, StoredMessage
from orchestrator.store.messages import attachments_json, of_row
from orchestrator.store.transaction import Transaction

VERSIONS: Final = """
SELECT * FROM messages WHERE chat_jid = :chat AND message_id = :message_id
UNION ALL
SELECT * FROM messages WHERE chat_jid = :chat AND edits = :message_id
 ORDER BY seq
"""
REPLACE_TEXT: Final = """
UPDATE messages SET text = :text, is_trigger = :is_trigger, revision = revision + 1 WHERE seq = :seq
"""
GIVE_FILES: Final = """
UPDATE messages SET text = :text, attachments = :attachments, revision = revision + 1 WHERE seq = :seq
"""
MARK_EDIT: Final = "UPDATE messages SET edits = :message_id WHERE seq = :seq"
REVISIONS: Final = """
SELECT coalesce(sum(revision), 0) AS n FROM messages WHERE seq IN (SELECT value FROM json_each(:seqs))
"""


def versions(tx: Transaction, chat: Jid, message_id: MessageId) -> list[StoredMessage]:
    """The message and the notes that edits of it became, oldest first; none if it was never stored."""
    rows = tx.all(VERSIONS, {"chat": chat, "message_id": message_id})
    return [of_row(row) for row in rows]


def replace_text(tx: Transaction, seq: int, *, text: str, is_trigger: bool) -> None:
    """Another text takes the place of the stored one."""
    tx.execute(REPLACE_TEXT, {"seq": seq, "text": text, "is_trigger": int(is_trigger)})


def give_files(tx: Transaction, seq: int, *, text: str, attachments: Sequence[Attachment]) -> None:
    """The message has these files now, and says so."""
    tx.execute(GIVE_FILES, {"seq": seq, "text": text, "attachments": attachments_json(attachments)})


def mark_edit(tx: Transaction, seq: int, *, of: MessageId) -> None:
    """This message is a later text of that one."""
    tx.execute(MARK_EDIT, {"seq": seq, "message_id": of})


def are_unchanged(tx: Transaction, read: Sequence[StoredMessage]) -> bool:
    """Whether all these still say what they said when they were read. A revision only grows."""
    row = tx.one(REVISIONS, {"seqs": json.dumps([each.seq for each in read])})
    return row is not None and row["n"] == sum(each.revision for each in read)
