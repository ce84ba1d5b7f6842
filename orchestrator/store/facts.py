"""Single values that the installation remembers, such as its own id."""

from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import new_id
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = "INSERT INTO facts (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING"
SET: Final = """
INSERT INTO facts (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
GET: Final = "SELECT value FROM facts WHERE name = :name"
NEWEST: Final = """
SELECT max(at_ms) AS newest_ms
  FROM (SELECT * FROM (SELECT claimed_ms AS at_ms FROM task_runs ORDER BY rowid DESC LIMIT 1)
        UNION ALL
        SELECT * FROM (SELECT received_ms AS at_ms FROM messages ORDER BY seq DESC LIMIT 1))
"""


def instance_id(tx: Transaction) -> str:
    """The id of this installation, made once; what its containers are labelled with."""
    tx.execute(ADD, {"name": "instance", "value": new_id("dovecote")})
    row = tx.one(GET, {"name": "instance"})
    assert row is not None
    return str(row["value"])


def newest_time(tx: Transaction) -> datetime | None:
    """When the newest message came or the newest run was claimed, by the clock of that moment."""
    row = tx.one(NEWEST)
    return None if row is None else maybe_from_ms(row["newest_ms"])


def note_sync(tx: Transaction, channel: str, *, at: datetime) -> None:
    """A channel said which group chats there are."""
    for name in ("chats_synced", f"chats_synced:{channel}"):
        tx.execute(SET, {"name": name, "value": str(to_ms(at))})


def was_synced(tx: Transaction, channel: str) -> bool:
    """Whether this channel ever said which group chats there are."""
    return tx.one(GET, {"name": f"chats_synced:{channel}"}) is not None


def last_sync(tx: Transaction) -> datetime | None:
    """When a channel last said which group chats there are."""
    row = tx.one(GET, {"name": "chats_synced"})
    return None if row is None else from_ms(int(row["value"]))
