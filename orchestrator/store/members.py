"""Who is in a group chat, as its network last said."""

from collections.abc import Iterable
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.store.transaction import Transaction

ADD: Final = "INSERT INTO members (chat_jid, jid) VALUES (:chat, :jid) ON CONFLICT DO NOTHING"
REMOVE: Final = "DELETE FROM members WHERE chat_jid = :chat AND jid = :jid"
CLEAR: Final = "DELETE FROM members WHERE chat_jid = :chat"
OF_CHAT: Final = "SELECT jid FROM members WHERE chat_jid = :chat ORDER BY jid"


def of_chat(tx: Transaction, chat: Jid) -> list[Jid]:
    """Everybody who is in it, ourselves too; empty while that is not known."""
    return [Jid(row["jid"]) for row in tx.all(OF_CHAT, {"chat": chat})]


def set_all(tx: Transaction, chat: Jid, people: Iterable[Jid]) -> None:
    """These are in it and nobody else."""
    wanted, known = set(people), set(of_chat(tx, chat))
    remove(tx, chat, known - wanted)
    add(tx, chat, wanted - known)


def add(tx: Transaction, chat: Jid, people: Iterable[Jid]) -> None:
    """These came."""
    for jid in people:
        tx.execute(ADD, {"chat": chat, "jid": jid})


def remove(tx: Transaction, chat: Jid, people: Iterable[Jid]) -> None:
    """These went."""
    for jid in people:
        tx.execute(REMOVE, {"chat": chat, "jid": jid})


def clear(tx: Transaction, chat: Jid) -> None:
    """Nobody is known to be in it any more."""
    tx.execute(CLEAR, {"chat": chat})
