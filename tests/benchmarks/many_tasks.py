"""100,000 scheduled tasks: how long the next due one takes to find, and what they cost while none is due."""

import asyncio
import sqlite3
import time
from datetime import timedelta
from pathlib import Path
from typing import Final

from orchestrator.contracts.ids import GroupFolder, Jid, TaskId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import CatchUp, ContextMode, ScheduleKind, Task, TaskStatus
from orchestrator.paths import Paths
from orchestrator.store import tasks
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.benchmarks.bench_app import bench_home
from tests.benchmarks.bench_channel import NOON
from tests.benchmarks.idle import serve_idle
from tests.benchmarks.sampling import median_ms
from tests.benchmarks.table import Row, at_most

_TASKS: Final = 100_000
_LOOKS: Final = 500
_NOT_MEASURABLE_PERCENT: Final = 0.2
"""Two ticks of the clock by which a process's time is counted, of the ten seconds that are watched."""


async def run() -> list[Row]:
    """The floor of the search is the bare statement; that of the idle cost is the same without tasks."""
    with bench_home() as paths:
        idle_floor = (await asyncio.to_thread(serve_idle, paths)).percent
    with bench_home() as paths:
        found_s = await _fill_and_look(paths)
        bare_s = await asyncio.to_thread(_bare_s, paths.database)
        idle = await asyncio.to_thread(serve_idle, paths)
    return [
        Row(
            name=f"{_TASKS:,} tasks: next due found",
            figure=median_ms(found_s),
            unit="ms",
            floor=median_ms(bare_s),
            bar=at_most(1),
        ),
        Row(name=f"{_TASKS:,} tasks, idle: one core", figure=idle.percent, unit="%", floor=idle_floor),
        Row(
            name=f"{_TASKS:,} tasks, idle: more of one core than without",
            figure=max(idle.percent - idle_floor, 0),
            unit="%",
            bar=at_most(_NOT_MEASURABLE_PERCENT),
        ),
    ]


async def _fill_and_look(paths: Paths) -> list[float]:
    """What each search takes in the store's thread, where the scheduler has it done."""
    paths.ensure()
    database = await Database.open(paths.database, backups=paths.backups, on_wake=None)

    def fill(tx: Transaction) -> None:
        for number in range(_TASKS):
            tasks.add(tx, _task(number))

    def look(tx: Transaction) -> float:
        began = time.monotonic()
        assert tasks.next_due(tx) is not None
        return time.monotonic() - began

    await database.run(fill)
    took_s = [await database.run(look) for _ in range(_LOOKS)]
    await database.close()
    return took_s


def _bare_s(path: Path) -> list[float]:
    store, took_s = sqlite3.connect(path), list[float]()
    for _ in range(_LOOKS):
        began = time.monotonic()
        store.execute(tasks.NEXT_DUE).fetchone()
        took_s.append(time.monotonic() - began)
    store.close()
    return took_s


def _task(number: int) -> Task:
    """A daily one, first due in a hundred years."""
    return Task(
        task_id=TaskId(f"task-{number}"),
        group=GroupFolder(f"g{number % 100}"),
        chat_jid=Jid(f"bench:{number % 100}"),
        title="Bench",
        prompt="Say something.",
        kind=ScheduleKind.CRON,
        schedule_value="0 9 * * *",
        timezone="UTC",
        context_mode=ContextMode.GROUP,
        catch_up=CatchUp.LATEST,
        notify=True,
        status=TaskStatus.ACTIVE,
        rights=Rights.OPERATOR,
        created_at=NOON,
        next_run_at=NOON + timedelta(days=36_500, seconds=number),
    )
