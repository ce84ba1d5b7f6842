"""20,000 IPC files over 100 boxes: rate, none lost, none doubled, and how a lone file fares meanwhile."""

import asyncio
import hashlib
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from orchestrator.store.database import MAX_GROUP
from tests.benchmarks.bench_boxes import Watched, drop, request_bytes, watched_boxes
from tests.benchmarks.sampling import until
from tests.benchmarks.table import Row, at_least, at_least_floors, at_most

_BOXES: Final = 100
_FILES: Final = 20_000
_ROUNDS: Final = 4
"""Files written long ago cost the file system more to remove: each round takes fresh ones."""
_PER_ROUND: Final = _FILES // _ROUNDS
_LONE: Final = _BOXES
_LONE_EVERY_S: Final = 0.05
_TEXTS: Final = "SELECT text FROM outbox WHERE text NOT LIKE 'lone%' ORDER BY text"


async def run() -> list[Row]:
    """The floor is one plain thread doing the same file and SQLite work, 300 files a commit."""
    floor_s = plain_s = replied_s = 0.0
    lone_s: list[float] = []
    for _ in range(_ROUNDS):  # in turns, so that all meet the same machine
        floor_s += await asyncio.to_thread(_floor_s)
        plain_s += await _round_s(lone_s, with_replies=False)
        replied_s += await _round_s([], with_replies=True)
    floor = _FILES / floor_s
    return [
        Row(
            name="burst of 20,000 IPC files over 100 boxes",
            figure=_FILES / plain_s,
            unit="files/s",
            floor=floor,
            bar=at_least_floors(0.8),
        ),
        Row(
            name="the same with a reply file each",
            figure=_FILES / replied_s,
            unit="files/s",
            floor=floor,
            bar=at_least(6_000),
        ),
        Row(
            name="a lone box's file during the burst, worst",
            figure=max(lone_s) * 1000,
            unit="ms",
            bar=at_most(100),
        ),
    ]


async def _round_s(lone_s: list[float], *, with_replies: bool) -> float:
    """Seconds until every effect is durable and every file gone."""
    async with watched_boxes(_BOXES + 1) as watched:
        await asyncio.to_thread(_fill, watched, with_replies=with_replies)
        async with asyncio.TaskGroup() as tasks:
            began = time.monotonic()
            watched.watch_all()
            lone = tasks.create_task(_lone_files(watched, lone_s))
            full = list(watched.directories[:_BOXES])
            while full:
                if os.listdir(full[-1]):  # one look a while: more would be work beside the measured one
                    await asyncio.sleep(0.01)
                else:
                    full.pop()
            took_s = time.monotonic() - began
            lone.cancel()
        await _check(watched)
    return took_s


def _fill(watched: Watched, *, with_replies: bool) -> None:
    for number in range(_PER_ROUND):
        box, name = number % _BOXES, f"{number:06}"
        watched.drop(box, name, request_id=f"r{name}" if with_replies else None)


async def _lone_files(watched: Watched, took_s: list[float]) -> None:
    """One file at a time in a box of its own: from its rename until it is taken and gone."""
    for number in range(10_000):
        path = watched.directories[_LONE] / f"lone{number}.json"
        began = time.monotonic()
        watched.drop(_LONE, f"lone{number}")
        await until(lambda path=path: not path.exists(), within_s=30)  # type: ignore[misc]  # bound now
        took_s.append(time.monotonic() - began)
        await asyncio.sleep(_LONE_EVERY_S)


async def _check(watched: Watched) -> None:
    """Each file has its one effect."""
    async with watched.database.reader() as reader:
        rows = await reader.all(_TEXTS)
    assert [row["text"] for row in rows] == [f"{number:06}" for number in range(_PER_ROUND)]


def _floor_s() -> float:
    with tempfile.TemporaryDirectory(prefix="dove-") as name:
        directories = [Path(name, f"b{number}") for number in range(_BOXES)]
        for directory in directories:
            directory.mkdir()
        for number in range(_PER_ROUND):
            box = number % _BOXES
            drop(directories[box], f"{number:06}", request_bytes(box, f"{number:06}"))
        store = sqlite3.connect(Path(name) / "store.db", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            store.execute(f"PRAGMA {pragma}").fetchall()
        store.execute("CREATE TABLE requests (box TEXT, name TEXT, inode INT, sha256 BLOB)")
        store.execute("CREATE UNIQUE INDEX requests_key ON requests (box, name, inode)")
        store.execute("CREATE TABLE outbox (id INTEGER PRIMARY KEY, chat TEXT, text TEXT)")
        began = time.monotonic()
        _drain(store, directories)
        took_s = time.monotonic() - began
        store.close()
    return took_s


def _drain(store: sqlite3.Connection, directories: Sequence[Path]) -> None:
    waiting = [str(directory / name) for directory in directories for name in sorted(os.listdir(directory))]
    for first in range(0, len(waiting), MAX_GROUP):
        group = waiting[first : first + MAX_GROUP]
        store.execute("BEGIN IMMEDIATE")
        for path in group:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            status, raw = os.fstat(descriptor), os.read(descriptor, 65_536)
            os.close(descriptor)
            plain = json.loads(raw)
            store.execute(
                "INSERT INTO requests VALUES (?, ?, ?, ?)",
                (plain["chatJid"], path, status.st_ino, hashlib.sha256(raw).digest()),
            )
            store.execute("INSERT INTO outbox (chat, text) VALUES (?, ?)", (plain["chatJid"], plain["text"]))
        store.execute("COMMIT")
        for path in group:
            os.unlink(path)
