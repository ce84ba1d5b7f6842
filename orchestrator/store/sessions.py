"""The drivers' own sessions, so that a later run resumes where an earlier one stopped."""

from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.records.agents import Agent
from orchestrator.store.database import Transaction
from orchestrator.store.times import to_ms

# An empty session_id says that people asked for a new conversation then: an agent that was started
# before belongs to the old one, whatever it says later.
KEEP: Final = """
INSERT INTO sessions (folder, driver, session_id, updated_ms)
VALUES (:folder, :driver, :session_id, :at_ms)
ON CONFLICT (folder, driver) DO UPDATE
   SET session_id = excluded.session_id, updated_ms = excluded.updated_ms
 WHERE sessions.session_id <> '' OR sessions.updated_ms < :started_ms
"""
DROP: Final = """
INSERT INTO sessions (folder, driver, session_id, updated_ms)
VALUES (:folder, :driver, '', :at_ms)
ON CONFLICT (folder, driver) DO UPDATE SET session_id = '', updated_ms = excluded.updated_ms
"""
GET: Final = """
SELECT session_id FROM sessions WHERE folder = :folder AND driver = :driver AND session_id <> ''
"""


def keep(tx: Transaction, agent: Agent, session_id: str, *, at: datetime) -> None:
    """Remember the session that this group's driver named last, unless it was dropped since that agent
    started."""
    tx.execute(
        KEEP,
        {
            "folder": agent.group,
            "driver": agent.driver,
            "session_id": session_id,
            "at_ms": to_ms(at),
            "started_ms": to_ms(agent.started_at),
        },
    )


def drop(tx: Transaction, folder: GroupFolder, driver: str, *, at: datetime) -> None:
    """Let the next agent of this group begin a new conversation."""
    tx.execute(DROP, {"folder": folder, "driver": driver, "at_ms": to_ms(at)})


def get(tx: Transaction, folder: GroupFolder, driver: str) -> str | None:
    """The session to resume."""
    row = tx.one(GET, {"folder": folder, "driver": driver})
    return None if row is None else str(row["session_id"])
