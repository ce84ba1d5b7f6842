"""Work that is tried in a transaction and undone, whatever comes of it."""

import pytest

from orchestrator.contracts.seams import Topic
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction


def note(tx: Transaction, text: str) -> None:
    """Something that is written and wakes somebody."""
    tx.execute("INSERT INTO notes (text) VALUES (:text)", {"text": text})
    tx.wake(Topic.OUTBOX)


async def texts(database: Database) -> list[str]:
    """What is committed."""
    async with database.reader() as reader:
        return [row["text"] for row in await reader.all("SELECT text FROM notes ORDER BY id")]


async def test_nothing_of_a_rehearsal_stays_and_what_is_around_it_does(database: Database) -> None:
    def body(tx: Transaction) -> list[Topic]:
        note(tx, "before")
        tx.rehearse(lambda: note(tx, "rehearsed"))
        note(tx, "after")
        return tx.topics

    woken = await database.run(body)

    assert await texts(database) == ["before", "after"]
    assert woken == [Topic.OUTBOX, Topic.OUTBOX]


async def test_what_a_rehearsal_raises_is_raised_and_the_body_may_go_on(database: Database) -> None:
    def fails(tx: Transaction) -> None:
        note(tx, "rehearsed")
        raise ValueError("it would not work")

    def body(tx: Transaction) -> list[Topic]:
        note(tx, "before")
        with pytest.raises(ValueError, match="would not work"):
            tx.rehearse(lambda: fails(tx))
        return tx.topics

    woken = await database.run(body)

    assert (await texts(database), woken) == (["before"], [Topic.OUTBOX])
