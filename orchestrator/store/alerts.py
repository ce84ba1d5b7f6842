"""What waits to be told to operators by their own command."""

from datetime import datetime
from typing import Final

from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = "INSERT INTO alerts (text, created_ms) VALUES (:text, :at_ms)"
OLDEST: Final = "SELECT id, text FROM alerts ORDER BY id LIMIT 1"
REMOVE: Final = "DELETE FROM alerts WHERE id = :id"


def add(tx: Transaction, text: str, *, at: datetime) -> None:
    """Have it told."""
    tx.execute(ADD, {"text": text, "at_ms": to_ms(at)})


def oldest(tx: Transaction) -> tuple[int, str] | None:
    """The next one to tell: its id and its text."""
    row = tx.one(OLDEST, {})
    return None if row is None else (int(row["id"]), str(row["text"]))


def remove(tx: Transaction, alert_id: int) -> None:
    """It was told, or could not be."""
    tx.execute(REMOVE, {"id": alert_id})
