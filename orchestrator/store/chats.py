"""Every conversation that was seen, registered or not: its name and when something last happened."""

from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.store.database import Transaction
from orchestrator.store.times import to_ms

SEE: Final = """
INSERT INTO chats (jid, channel, name, is_group, last_activity_ms)
VALUES (:jid, :channel, :name, :is_group, :at_ms)
ON CONFLICT (jid) DO UPDATE
   SET name = coalesce(excluded.name, name),
       last_activity_ms = max(coalesce(last_activity_ms, 0), excluded.last_activity_ms)
"""


def see(tx: Transaction, jid: Jid, *, channel: str, name: str | None, is_group: bool, at: datetime) -> None:
    """Remember that something happened in this chat."""
    tx.execute(
        SEE, {"jid": jid, "channel": channel, "name": name, "is_group": int(is_group), "at_ms": to_ms(at)}
    )
