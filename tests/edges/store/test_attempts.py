"""Parts of a body that stand or fall alone, and statements for many rows."""

import sqlite3

import pytest

from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.seams import Topic
from orchestrator.store.database import Database
from orchestrator.store.transaction import HalfDone, Transaction


def _add(tx: Transaction, text: str) -> int:
    tx.execute("INSERT INTO notes (text) VALUES (:text)", {"text": text})
    row = tx.one("SELECT last_insert_rowid() AS id")
    assert row is not None
    return int(row["id"])


async def _texts(database: Database) -> list[str]:
    async with database.reader() as reader:
        return [row["text"] for row in await reader.all("SELECT text FROM notes ORDER BY id")]


async def test_an_attempt_that_fails_undoes_and_wakes_nothing_and_the_rest_of_the_body_goes_on(
    database: Database,
) -> None:
    def spoilt(tx: Transaction) -> None:
        _add(tx, "spoilt")
        tx.wake(Topic.OUTBOX)
        raise ValueError("changed its mind")

    def body(tx: Transaction) -> list[object]:
        outcomes = [tx.attempt(lambda: _add(tx, "milk")), tx.attempt(lambda: spoilt(tx))]
        assert tx.topics == []
        return [*outcomes, tx.attempt(lambda: _add(tx, "eggs"))]

    milk, error, eggs = await database.run(body)

    assert (isinstance(error, ValueError), isinstance(milk, int), isinstance(eggs, int)) == (True, True, True)
    assert await _texts(database) == ["milk", "eggs"]


async def test_an_attempt_does_not_hide_that_the_store_failed(database: Database) -> None:
    def full(tx: Transaction) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    def body(tx: Transaction) -> None:
        _add(tx, "milk")
        tx.attempt(lambda: full(tx))

    with pytest.raises(Unavailable):
        await database.run(body)

    assert await _texts(database) == []


async def test_an_unsaved_attempt_that_wrote_nothing_fails_alone(database: Database) -> None:
    def refused(tx: Transaction) -> None:
        tx.wake(Topic.OUTBOX)
        tx.execute("DELETE FROM notes WHERE text = 'no such note'")
        raise ValueError("changed its mind")

    def body(tx: Transaction) -> list[object]:
        outcomes = [tx.attempt_unsaved(lambda: _add(tx, "milk")), tx.attempt_unsaved(lambda: refused(tx))]
        assert tx.topics == []
        return [*outcomes, tx.attempt_unsaved(lambda: _add(tx, "eggs"))]

    milk, error, eggs = await database.run(body)

    assert (isinstance(error, ValueError), isinstance(milk, int), isinstance(eggs, int)) == (True, True, True)
    assert await _texts(database) == ["milk", "eggs"]


async def test_an_unsaved_attempt_that_wrote_before_it_failed_is_never_kept(database: Database) -> None:
    def spoilt(tx: Transaction) -> None:
        _add(tx, "spoilt")
        raise ValueError("changed its mind")

    with pytest.raises(HalfDone):
        await database.run(lambda tx: tx.attempt_unsaved(lambda: spoilt(tx)))

    assert await _texts(database) == []


async def test_an_unsaved_attempt_does_not_hide_that_the_store_failed(database: Database) -> None:
    def full(tx: Transaction) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    with pytest.raises(Unavailable):
        await database.run(lambda tx: tx.attempt_unsaved(lambda: full(tx)))


async def test_a_statement_for_many_rows_is_part_of_the_transaction(database: Database) -> None:
    def body(tx: Transaction) -> None:
        tx.execute_many("INSERT INTO notes (text) VALUES (:text)", [{"text": "milk"}, {"text": "eggs"}])

    def undone(tx: Transaction) -> None:
        body(tx)
        raise ValueError("changed its mind")

    await database.run(body)
    with pytest.raises(ValueError, match="changed its mind"):
        await database.run(undone)

    assert await _texts(database) == ["milk", "eggs"]


_ADD = "INSERT INTO notes (text) VALUES (:text)"


async def test_what_is_put_off_is_there_for_who_asks_and_in_the_order_of_the_calls(
    database: Database,
) -> None:
    def body(tx: Transaction) -> int:
        tx.insert_later("notes", _ADD, {"text": "milk"})
        tx.insert_later("notes", _ADD, {"text": "eggs"})
        found = tx.all("SELECT text FROM notes")
        tx.insert_later("notes", _ADD, {"text": "salt"})
        return len(found)

    assert await database.run(body) == 2
    assert await _texts(database) == ["milk", "eggs", "salt"]


async def test_an_unsaved_attempt_that_fails_takes_back_what_it_put_off_and_no_more(
    database: Database,
) -> None:
    def spoilt(tx: Transaction) -> None:
        tx.insert_later("notes", _ADD, {"text": "spoilt"})
        raise ValueError("changed its mind")

    def body(tx: Transaction) -> None:
        tx.insert_later("notes", _ADD, {"text": "milk"})
        tx.attempt_unsaved(lambda: spoilt(tx))
        tx.attempt(lambda: spoilt(tx))

    await database.run(body)

    assert await _texts(database) == ["milk"]


async def test_what_was_recalled_is_asked_anew_after_a_write(database: Database) -> None:
    ask = "SELECT count(*) AS n FROM notes WHERE text = :text"

    def count(tx: Transaction) -> int:
        row = tx.recall(ask, {"text": "milk"})
        assert row is not None
        return int(row["n"])

    def body(tx: Transaction) -> list[int]:
        counts = [count(tx)]
        tx.insert_later("notes", _ADD, {"text": "milk"})
        counts.append(count(tx))
        tx.execute("DELETE FROM notes")
        return [*counts, count(tx)]

    assert await database.run(body) == [0, 1, 0]
