"""The alarm clock: what is due is claimed, whatever the clocks do. Source: contracts.md section 7."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import structlog

from orchestrator.contracts.ids import TaskId
from orchestrator.contracts.records.tasks import TaskStatus
from orchestrator.contracts.seams import Topic
from orchestrator.engine.alarm import LOOK_AGAIN_S, AlarmClock
from orchestrator.store import task_runs, tasks
from orchestrator.store.times import to_ms
from tests.edges.commands.conftest import Desk
from tests.support.eventually import eventually
from tests.support.shifted_clock import ShiftedClock
from tests.support.task_rows import task


@contextlib.asynccontextmanager
async def alarm(desk: Desk, clock: ShiftedClock, *, look_again_s: float = 3600) -> AsyncIterator[None]:
    """An alarm clock that runs."""
    services = replace(desk.services, clock=clock)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(AlarmClock(services, look_again_s=look_again_s).run())
        yield
        assert not running.done()
        running.cancel()


async def add(desk: Desk, clock: ShiftedClock, name: str = "task-1", *, in_s: float, **fields: Any) -> None:
    now = clock.now()
    plain = {"created_at": now, "next_run_at": now + timedelta(seconds=in_s)}
    made = task(name, **(plain | fields))

    await desk.run(lambda tx: tasks.add(tx, made))


def is_claimed(desk: Desk, name: str = "task-1") -> Callable[[], Awaitable[bool]]:
    async def found() -> bool:
        return await desk.run(lambda tx: task_runs.open_of_task(tx, TaskId(name))) is not None

    return found


async def test_what_is_due_at_the_start_is_claimed_at_once(desk: Desk) -> None:
    clock = ShiftedClock()
    await add(desk, clock, in_s=-1)

    async with alarm(desk, clock):
        await eventually(is_claimed(desk))


async def test_it_rings_when_the_next_task_is_due(desk: Desk) -> None:
    clock = ShiftedClock()
    await add(desk, clock, in_s=0.5)

    async with alarm(desk, clock):
        await eventually(is_claimed(desk))

    assert (await desk.run(lambda tx: task_runs.waiting(tx, now=clock.now())))[0].planned_at is not None


async def test_a_task_that_comes_before_the_one_it_waits_for_moves_the_alarm(desk: Desk) -> None:
    clock = ShiftedClock()
    await add(desk, clock, "late", in_s=3000)

    async with alarm(desk, clock):
        await eventually(lambda: desk.wakeups.listeners > 0)
        await add(desk, clock, "soon", in_s=0.3)
        desk.wakeups.wake(Topic.ALARM)
        await eventually(is_claimed(desk, "soon"))

    assert not await is_claimed(desk, "late")()


async def test_a_clock_that_is_set_forward_is_seen_at_the_next_look(desk: Desk) -> None:
    clock = ShiftedClock()
    await add(desk, clock, in_s=3000)

    async with alarm(desk, clock, look_again_s=0.05):
        await eventually(lambda: desk.wakeups.listeners > 0)
        clock.advance(3001)
        await eventually(is_claimed(desk))


async def test_a_clock_that_is_set_back_claims_no_slot_again(desk: Desk) -> None:
    clock = ShiftedClock()
    await add(desk, clock, in_s=-1)

    async with alarm(desk, clock, look_again_s=0.05):
        await eventually(is_claimed(desk))
        clock.advance(-7200)
        await add(desk, clock, "soon", in_s=0.3)
        await eventually(is_claimed(desk, "soon"))

    rows = await desk.run(lambda tx: tx.all("SELECT count(*) AS n FROM task_runs WHERE task_id = 'task-1'"))
    assert rows[0]["n"] == 1


async def test_at_a_start_a_clock_behind_the_newest_row_is_waited_for(desk: Desk) -> None:
    clock = ShiftedClock()
    clock.advance(7200)
    await desk.hear("m-1")
    await desk.run(lambda tx: tx.execute("UPDATE messages SET received_ms = ?", (to_ms(clock.now()),)))
    clock.advance(-7200)
    await add(desk, clock, in_s=-1)

    async with alarm(desk, clock, look_again_s=0.05):
        await eventually(lambda: desk.wakeups.listeners > 0)
        before = await is_claimed(desk)()
        clock.advance(7201)
        await eventually(is_claimed(desk))

    assert not before


async def test_a_clock_that_stays_behind_is_waited_for_ten_minutes_and_then_said(desk: Desk) -> None:
    clock = ShiftedClock()
    await desk.hear("m-1")
    year_later = to_ms(clock.now() + timedelta(days=365))
    await desk.run(lambda tx: tx.execute("UPDATE messages SET received_ms = ?", (year_later,)))
    await add(desk, clock, in_s=-1)

    with structlog.testing.capture_logs() as logs:
        async with alarm(desk, clock, look_again_s=0.05):
            await eventually(lambda: desk.wakeups.listeners > 0)
            clock.advance(601)
            await eventually(is_claimed(desk))

    assert [line["event"] for line in logs].count("alarm.clock_behind") == 1


def test_wall_time_is_looked_at_every_half_minute() -> None:
    assert LOOK_AGAIN_S == 30


async def test_a_task_with_an_unreadable_zone_stops_no_other_and_not_the_alarm(desk: Desk) -> None:
    clock = ShiftedClock()
    await add(desk, clock, "broken", in_s=-2, timezone="Gone/Zone")
    await add(desk, clock, "whole", in_s=-1)

    async with alarm(desk, clock):
        await eventually(is_claimed(desk, "whole"))

    broken = await desk.run(lambda tx: tasks.get(tx, "broken"))
    assert broken is not None
    assert broken.status is TaskStatus.PAUSED
