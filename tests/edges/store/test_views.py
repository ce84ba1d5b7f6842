"""Slow looks at the store: whole, of one state, and in nobody's way."""

import asyncio
import threading
from pathlib import Path

import pytest

from orchestrator.contracts.errors import Unavailable
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.edges.store.conftest import SCHEMA
from tests.support.eventually import eventually


def add(tx: Transaction, text: str = "x") -> None:
    tx.execute("INSERT INTO notes (text) VALUES (:text)", {"text": text})


def count(tx: Transaction) -> int:
    return len(tx.all("SELECT id FROM notes"))


async def test_a_look_finds_what_was_committed_before_it(database: Database) -> None:
    await database.run(add)
    assert await database.view(count) == 1

    await database.run(add)
    assert await database.view(count) == 2


async def test_writers_go_on_while_a_look_takes_long_and_it_sees_one_state(database: Database) -> None:
    await database.run(add)
    has_begun, may_end = threading.Event(), threading.Event()

    def look(tx: Transaction) -> tuple[int, int]:
        before = count(tx)
        has_begun.set()
        assert may_end.wait(60)
        return before, count(tx)

    async with asyncio.TaskGroup() as tasks:
        looking = tasks.create_task(database.view(look))
        try:
            assert await asyncio.to_thread(has_begun.wait, 60)
            await database.run(add)
        finally:
            may_end.set()

    assert looking.result() == (1, 1)


async def test_a_look_goes_on_while_the_writer_takes_long(database: Database) -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def write(tx: Transaction) -> None:
        add(tx)
        has_begun.set()
        assert may_end.wait(60)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(database.run(write))
        try:
            assert await asyncio.to_thread(has_begun.wait, 60)
            assert await database.view(count) == 0
        finally:
            may_end.set()


async def test_a_look_can_write_nothing(database: Database) -> None:
    with pytest.raises(Unavailable, match="readonly"):
        await database.view(add)

    assert await database.view(count) == 0


async def test_an_error_of_a_look_is_its_callers_and_the_next_one_works(database: Database) -> None:
    def fail(tx: Transaction) -> None:
        count(tx)
        raise LookupError("no such tree")

    with pytest.raises(LookupError, match="no such tree"):
        await database.view(fail)

    assert await database.view(count) == 0


async def is_refused(database: Database) -> bool:
    """Whether the store takes nothing more."""
    try:
        await database.run(count)
    except Unavailable:
        return True
    return False


async def test_close_finishes_the_look_and_refuses_what_comes_after(tmp_path: Path) -> None:
    database = await Database.open(
        tmp_path / "store.db", backups=tmp_path / "backups", on_wake=None, migrations=SCHEMA
    )
    has_begun, may_end = threading.Event(), threading.Event()

    def look(tx: Transaction) -> int:
        has_begun.set()
        assert may_end.wait(60)
        return count(tx)

    async with asyncio.TaskGroup() as tasks:
        looking = tasks.create_task(database.view(look))
        try:
            assert await asyncio.to_thread(has_begun.wait, 60)
            closing = tasks.create_task(database.close())
            await eventually(lambda: is_refused(database))
            assert not closing.done()
        finally:
            may_end.set()

    assert (looking.result(), closing.result()) == (0, None)
    with pytest.raises(Unavailable, match="closed"):
        await database.view(count)
