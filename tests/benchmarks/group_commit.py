"""Group commit: rows a second of many writers who each wait for their own row."""

import asyncio
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Final

from orchestrator.store.database import MAX_GROUP, Database
from orchestrator.store.migrate import Migration
from orchestrator.store.transaction import Transaction
from tests.benchmarks.table import Row

_TABLE: Final = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;"
_SCHEMA: Final = (Migration(number=1, name="notes", sql=_TABLE),)
_ADD: Final = "INSERT INTO notes (text) VALUES (?)"
_ROWS: Final = 10_000


async def run() -> list[Row]:
    """Floors: plain sqlite3 in one thread, a commit a row, and a commit as many rows as a group holds."""
    single = await asyncio.to_thread(_plain, 1, 1_000)
    grouped = await asyncio.to_thread(_plain, MAX_GROUP, _ROWS)
    return [
        Row(
            name="group commit, 1 writer (floor: a commit a row)",
            figure=await _rate(writers=1, rows=1_000),
            unit="rows/s",
            floor=single,
        ),
        *[
            Row(
                name=f"group commit, {writers} writers (floor: {MAX_GROUP} rows a commit)",
                figure=await _rate(writers=writers, rows=_ROWS),
                unit="rows/s",
                floor=grouped,
            )
            for writers in (50, 500)
        ],
    ]


async def _rate(*, writers: int, rows: int) -> float:
    with tempfile.TemporaryDirectory(prefix="dove-") as name:
        root = Path(name)
        database = await Database.open(
            root / "store.db", backups=root / "backups", on_wake=None, migrations=_SCHEMA
        )

        def body(tx: Transaction) -> None:
            tx.execute(_ADD, ("x" * 100,))

        async def write() -> None:
            for _ in range(rows // writers):
                await database.run(body)

        began = time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(writers):
                tasks.create_task(write())
        took_s = time.monotonic() - began
        await database.close()
    return rows / took_s


def _plain(rows_a_commit: int, rows: int) -> float:
    with tempfile.TemporaryDirectory(prefix="dove-") as name:
        store = sqlite3.connect(Path(name) / "store.db", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            store.execute(f"PRAGMA {pragma}").fetchall()
        store.execute(_TABLE)
        began = time.monotonic()
        for _ in range(rows // rows_a_commit):
            store.execute("BEGIN IMMEDIATE")
            for _ in range(rows_a_commit):
                store.execute(_ADD, ("x" * 100,))
            store.execute("COMMIT")
        took_s = time.monotonic() - began
        store.close()
    return rows / took_s
