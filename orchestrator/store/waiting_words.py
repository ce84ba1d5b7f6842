"""Words to Dovecote itself that are stored and not done yet: a crash in between loses none."""

import sqlite3
from typing import Final

from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.words import SpokenWord
from orchestrator.store.transaction import Transaction

ADD: Final = "INSERT INTO waiting_words (seq, name, argument) VALUES (:seq, :name, :argument)"
WAITING: Final = """
SELECT w.seq, w.name, w.argument, m.chat_jid, m.message_id, m.sender_jid
  FROM waiting_words AS w JOIN messages AS m ON m.seq = w.seq
 ORDER BY w.seq
"""
OF_MESSAGE: Final = """
SELECT w.seq, w.name, w.argument, m.chat_jid, m.message_id, m.sender_jid
  FROM messages AS m JOIN waiting_words AS w ON w.seq = m.seq
 WHERE m.chat_jid = :chat AND m.message_id = :message_id
"""
IS_WAITING: Final = "SELECT 1 AS found FROM waiting_words WHERE seq = :seq"
REMOVE: Final = "DELETE FROM waiting_words WHERE seq = :seq"


def add(tx: Transaction, word: SpokenWord) -> None:
    """Remember it until it is done."""
    tx.execute(ADD, {"seq": word.seq, "name": word.name, "argument": word.argument})


def waiting(tx: Transaction) -> list[SpokenWord]:
    """All that are not done, oldest first."""
    return [_word(row) for row in tx.all(WAITING, {})]


def of_message(tx: Transaction, chat: Jid, message_id: MessageId) -> SpokenWord | None:
    """The word that a stored message is, if it is not done."""
    row = tx.one(OF_MESSAGE, {"chat": chat, "message_id": message_id})
    return None if row is None else _word(row)


def is_waiting(tx: Transaction, word: SpokenWord) -> bool:
    """Whether it still is to be done."""
    return tx.one(IS_WAITING, {"seq": word.seq}) is not None


def remove(tx: Transaction, word: SpokenWord) -> None:
    """It is done, or its sender was told why not."""
    tx.execute(REMOVE, {"seq": word.seq})


def _word(row: sqlite3.Row) -> SpokenWord:
    return SpokenWord(
        seq=row["seq"],
        chat_jid=Jid(row["chat_jid"]),
        message_id=MessageId(row["message_id"]),
        sender_jid=Jid(row["sender_jid"]),
        name=row["name"],
        argument=row["argument"],
    )
