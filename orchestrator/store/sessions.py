"""The drivers' own sessions, so that a later run resumes where an earlier one stopped."""

from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import GroupFolder
from orchestrator.store.database import Transaction
from orchestrator.store.times import to_ms

KEEP: Final = """
INSERT INTO sessions (folder, driver, session_id, updated_ms)
VALUES (:folder, :driver, :session_id, :at_ms)
ON CONFLICT (folder, driver) DO UPDATE
   SET session_id = excluded.session_id, updated_ms = excluded.updated_ms
"""
GET: Final = "SELECT session_id FROM sessions WHERE folder = :folder AND driver = :driver"


def keep(tx: Transaction, folder: GroupFolder, driver: str, session_id: str, *, at: datetime) -> None:
    """Remember the session that this group's driver named last."""
    tx.execute(KEEP, {"folder": folder, "driver": driver, "session_id": session_id, "at_ms": to_ms(at)})


def get(tx: Transaction, folder: GroupFolder, driver: str) -> str | None:
    """The session to resume."""
    row = tx.one(GET, {"folder": folder, "driver": driver})
    return None if row is None else str(row["session_id"])
