"""Which files of the outbox lie in the spool: their rows are the truth, the copies their shadows."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import SpooledFile
from orchestrator.store.transaction import Transaction

ATTACH: Final = """
UPDATE outbox
   SET file_name = :name, file_type = :media_type, file_size = :size_bytes, spool_name = :spool_name
 WHERE id = :id
"""
WAITING_BYTES: Final = """
SELECT coalesce(sum(file_size), 0) AS n FROM outbox
 WHERE chat_jid = :chat AND spool_name IS NOT NULL AND status IN ('queued', 'sending', 'unknown')
"""
IS_SPOOLED: Final = "SELECT 1 AS found FROM outbox WHERE spool_name = :spool_name"
IS_KNOWN: Final = "SELECT 1 AS found FROM outbox WHERE id = :id"
ENDED: Final = """
SELECT spool_name FROM outbox WHERE spool_name IS NOT NULL AND status IN ('sent', 'failed')
"""
FORGET: Final = "UPDATE outbox SET spool_name = NULL WHERE spool_name = :spool_name"


def attach(tx: Transaction, outbox_id: int, file: SpooledFile) -> None:
    """Give a row its file."""
    tx.execute(
        ATTACH,
        {
            "id": outbox_id,
            "name": file.name,
            "media_type": file.media_type,
            "size_bytes": file.size_bytes,
            "spool_name": file.spool_name,
        },
    )


def waiting_bytes(tx: Transaction, chat: Jid) -> int:
    """How many bytes of files wait to be sent to a chat."""
    row = tx.one(WAITING_BYTES, {"chat": chat})
    return 0 if row is None else int(row["n"])


def is_spooled(tx: Transaction, spool_name: str) -> bool:
    """Whether a row holds that copy."""
    return tx.one(IS_SPOOLED, {"spool_name": spool_name}) is not None


def is_known(tx: Transaction, outbox_id: int) -> bool:
    """Whether the outbox still has that row."""
    return tx.one(IS_KNOWN, {"id": outbox_id}) is not None


def ended(tx: Transaction) -> list[str]:
    """The copies that are needed no more, since their rows are sent or failed."""
    return [row["spool_name"] for row in tx.all(ENDED, {})]


def forget(tx: Transaction, spool_names: Sequence[str]) -> None:
    """The copies are gone."""
    for name in spool_names:
        tx.execute(FORGET, {"spool_name": name})


def file_of(row: sqlite3.Row) -> SpooledFile | None:
    """The file that a row of the outbox holds, or held."""
    if row["file_name"] is None:
        return None
    return SpooledFile(
        name=row["file_name"],
        media_type=row["file_type"],
        size_bytes=row["file_size"],
        spool_name=row["spool_name"] or "",
    )
