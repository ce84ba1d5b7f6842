"""Incidents by the kind that their names begin with."""

from datetime import timedelta

from orchestrator.store import notices
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import NOON


async def test_incidents_are_found_and_forgotten_by_what_their_names_begin_with(db: Database) -> None:
    incidents = ("senders:a", "senders:b", "senders", "sendersx:c", "sender:d", "senderz:")

    def body(tx: Transaction) -> tuple[frozenset[str], frozenset[str]]:
        for hour, name in enumerate(incidents):
            notices.count_one(tx, name, at=NOON + timedelta(hours=hour))
        found = notices.names(tx, prefix="senders:")
        notices.forget(tx, prefix="senders:", before=NOON + timedelta(hours=1))
        return found, notices.names(tx, prefix="s")

    found, left = await db.run(body)

    assert found == {"senders:a", "senders:b"}
    assert left == set(incidents) - {"senders:a"}


async def test_when_an_incident_began_is_known_while_it_lasts(db: Database) -> None:
    def body(tx: Transaction) -> list[object]:
        before = notices.opened_at(tx, "disk")
        notices.count_one(tx, "disk", at=NOON)
        notices.count_one(tx, "disk", at=NOON + timedelta(hours=1))
        during = notices.opened_at(tx, "disk")
        notices.close(tx, "disk")
        return [before, during, notices.opened_at(tx, "disk")]

    assert await db.run(body) == [None, NOON, None]
