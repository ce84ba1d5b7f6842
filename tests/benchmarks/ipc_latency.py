"""IPC file renamed in → its effect committed, with few and many boxes, by events and by polling alone."""

import asyncio
import hashlib
import json
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.benchmarks.bench_boxes import Watched, drop, request_bytes, watched_boxes
from tests.benchmarks.sampling import percentile, until
from tests.benchmarks.table import Row, at_most

_COUNT: Final = 300
_POLLED_COUNT: Final = 6
_SETTLE_S: Final = 3.0
_IDLE_S: Final = 4.0


async def run() -> list[Row]:
    """The floor reads the file and commits its row in one plain thread, without anything to notice it by."""
    floor_ms = [each * 1000 for each in await asyncio.to_thread(_floor)]
    rows: list[Row] = []
    for boxes in (1, 100):
        async with watched_boxes(boxes) as watched:
            watched.watch_all()
            await _committed_s(watched, 0, 0)
            idle_percent = await _idle_percent()
            took_ms = [await _committed_s(watched, n % boxes, n + 1) * 1000 for n in range(_COUNT)]
        name = f"IPC file → effect committed, {boxes} box{'es' if boxes > 1 else ''}"
        rows += [
            Row(
                name=f"{name}, p{percent}",
                figure=percentile(took_ms, percent),
                unit="ms",
                floor=percentile(floor_ms, percent),
                bar=at_most(limit),
            )
            for percent, limit in ((50, 4), (99, 15))
        ]
        rows.append(
            Row(
                name=f"{boxes} idle box{'es' if boxes > 1 else ''}: one core",
                figure=idle_percent,
                unit="%",
                bar=at_most(0.5),
            )
        )
    async with watched_boxes(1, is_polled_only=True) as watched:
        watched.watch_all()
        await _committed_s(watched, 0, 0)
        polled_s = [await _committed_s(watched, 0, n + 1) for n in range(_POLLED_COUNT)]
    rows.append(
        Row(
            name="IPC file → effect committed, by polling alone, worst",
            figure=max(polled_s),
            unit="s",
            bar=at_most(1.2),
        )
    )
    return rows


async def _committed_s(watched: Watched, box: int, number: int) -> float:
    """From the rename to the commit; the next begins when the file is gone."""
    committed = watched.marks.at_s["request.committed"]
    before = len(committed)
    name = f"{number:06}"
    began = time.monotonic()
    watched.drop(box, name)
    await until(lambda: len(committed) > before, within_s=10)
    path = watched.directories[box] / f"{name}.json"
    await until(lambda: not path.exists(), within_s=10)
    return committed[before] - began


async def _idle_percent() -> float:
    await asyncio.sleep(_SETTLE_S)  # the first round of the upkeep is over by then
    used_s = time.process_time()
    await asyncio.sleep(_IDLE_S)  # what is measured is that nothing happens in this time
    return (time.process_time() - used_s) / _IDLE_S * 100


def _floor() -> list[float]:
    took_s: list[float] = []
    with tempfile.TemporaryDirectory(prefix="dove-") as name:
        store = sqlite3.connect(Path(name) / "store.db", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            store.execute(f"PRAGMA {pragma}").fetchall()
        store.execute("CREATE TABLE effects (id INTEGER PRIMARY KEY, sha256 BLOB, text TEXT)")
        for number in range(_COUNT):
            began = time.monotonic()
            drop(Path(name), str(number), request_bytes(0, "text"))
            raw = Path(name, f"{number}.json").read_bytes()
            text = json.loads(raw)["text"]
            store.execute(
                "INSERT INTO effects (sha256, text) VALUES (?, ?)", (hashlib.sha256(raw).digest(), text)
            )
            took_s.append(time.monotonic() - began)
        store.close()
    return took_s
