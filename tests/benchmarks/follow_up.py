"""Inbound message stored → follow-up file renamed into the box of a warm agent."""

import os
import sqlite3
import tempfile
import time
from pathlib import Path

from tests.benchmarks.bench_app import Bench, bench_app
from tests.benchmarks.sampling import percentile, until
from tests.benchmarks.table import Row, at_most

COUNT = 300


async def run() -> list[Row]:
    """p50 and p99 of messages one after another; the floor is one thread doing the same writes."""
    async with bench_app(runner="process") as bench:
        await _answered(bench, "warm up", 1)
        for number in range(COUNT):
            await _answered(bench, f"message {number}", number + 2)
        stored_s = bench.marks.at_s["inbound.committed"][-COUNT:]
        published_s = bench.marks.at_s["follow_up.published"]
    assert len(published_s) == COUNT
    took_ms = [(b - a) * 1000 for a, b in zip(stored_s, published_s, strict=True)]
    floor_ms = [each * 1000 for each in _floor()]
    return [
        Row(
            name=f"follow-up into a warm box, p{percent}",
            figure=percentile(took_ms, percent),
            unit="ms",
            floor=percentile(floor_ms, percent),
            bar=at_most(limit),
        )
        for percent, limit in ((50, 5), (99, 25))
    ]


async def _answered(bench: Bench, text: str, number: int) -> None:
    await bench.channel.hear(bench.chats[0], text, message_id=f"m-{number}")
    await until(lambda: len(bench.channel.sent) == number, within_s=20)
    ended = bench.marks.at_s["turn_ended.read"]
    await until(lambda: len(ended) == number, within_s=20)


def _floor() -> list[float]:
    """Write a file, commit a row, rename the file: what must happen, and nothing else."""
    took_s: list[float] = []
    with tempfile.TemporaryDirectory(prefix="dove-") as name:
        store = sqlite3.connect(Path(name) / "store.db", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            store.execute(f"PRAGMA {pragma}").fetchall()
        store.execute("CREATE TABLE messages (seq INTEGER PRIMARY KEY, status TEXT NOT NULL)")
        store.execute(
            "INSERT INTO messages WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
            " WHERE i < ?) SELECT i, 'pending' FROM n",
            (COUNT,),
        )
        for number in range(COUNT):
            began = time.monotonic()
            temporary, final = Path(name, f".{number}.json.tmp"), Path(name, f"{number}.json")
            temporary.write_bytes(b"x" * 400)
            store.execute("UPDATE messages SET status = 'dispatched' WHERE seq = ?", (number + 1,))
            os.rename(temporary, final)
            took_s.append(time.monotonic() - began)
        store.close()
    return took_s
