"""IPC file renamed in → its effect committed, with few and many boxes, by events and by polling alone."""

import asyncio
import hashlib
import json
import sqlite3
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator.runners.catalog import RunnerOptions, make_runner
from tests.benchmarks.bare_agents import agent_uid, make_ground
from tests.benchmarks.bench_app import bench_home, usable_runners
from tests.benchmarks.bench_boxes import Watched, drop, request_bytes, watched_boxes
from tests.benchmarks.sampling import percentile, until
from tests.benchmarks.table import Row, at_most
from tests.support.agent_image import IMAGE

_COUNT: Final = 200
_POLLED_COUNT: Final = 6
_SETTLE_S: Final = 3.0
_IDLE_S: Final = 4.0
_INSIDE: Final = """
import os, time
os.chdir("/workspace/ipc/messages")
for number in range({count}):
    with open(".a.tmp", "wb") as file:
        file.write({request!r})
    name = f"{{number:06}}.json"
    began = time.monotonic()
    os.rename(".a.tmp", name)
    print(began, flush=True)
    while os.path.exists(name):
        time.sleep(0.001)
"""
"""What the agent does: the clock is the machine's, so its times can be compared with ours."""


async def run() -> list[Row]:
    """The floor reads the file and commits its row in one plain thread, without anything to notice it by."""
    floor_ms = [each * 1000 for each in await asyncio.to_thread(_floor)]
    runner_name = (await usable_runners())[0]
    rows: list[Row] = []
    for boxes in (1, 100, 1_000):
        async with watched_boxes(boxes, owner_of_first=agent_uid()) as watched:
            watched.watch_all()
            idle_percent = await _idle_percent()
            took_ms = [each * 1000 for each in await _from_inside_s(watched, runner_name)]
        name = f"{boxes:,} box{'es' if boxes > 1 else ''}"
        rows += [
            Row(
                name=f"IPC file in {runner_name} → effect committed, {name}, p{percent}",
                figure=percentile(took_ms, percent),
                unit="ms",
                floor=percentile(floor_ms, percent),
                bar=at_most(limit) if boxes <= 100 else None,
            )
            for percent, limit in ((50, 4), (99, 15))
        ]
        rows.append(
            Row(
                name=f"{name}, idle: one core",
                figure=idle_percent,
                unit="%",
                bar=at_most(0.5) if boxes <= 100 else None,
            )
        )
    return [*rows, await _polled()]


async def _polled() -> Row:
    async with watched_boxes(1, is_polled_only=True) as watched:
        watched.watch_all()
        await _committed_s(watched, 0, 0)
        polled_s = [await _committed_s(watched, 0, n + 1) for n in range(_POLLED_COUNT)]
    return Row(
        name="IPC file → effect committed, by polling alone, worst",
        figure=max(polled_s),
        unit="s",
        bar=at_most(1.2),
    )


async def _from_inside_s(watched: Watched, runner_name: str) -> list[float]:
    """From each rename inside a real container of the first box to its commit; one file at a time."""
    committed = watched.marks.at_s["request.committed"]
    before = len(committed)
    with bench_home() as paths:
        ground = make_ground(paths.home, uid=agent_uid())
        places = replace(ground.places, box=watched.directories[0].parent)
        options = RunnerOptions(image=IMAGE, programs_directory=ground.programs)
        runner = make_runner(runner_name, options)
        script = _INSIDE.format(count=_COUNT, request=request_bytes(0, "text"))
        try:
            handle = await runner.start(replace(ground, places=places).plan(("python3", "-c", script)))
            try:
                printed = b"".join([chunk async for chunk in handle.output()])
                await handle.wait()
            finally:
                await handle.close()
        finally:
            await runner.close()
    renamed = [float(line) for line in printed.split()]
    return [at - began for began, at in zip(renamed, committed[before:], strict=True)]


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
