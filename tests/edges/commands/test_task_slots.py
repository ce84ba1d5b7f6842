"""Slots: claimed with the next due time, made up for, missed. Source: contracts.md section 7."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.commands.running.task_runs import claim_due
from orchestrator.commands.running.waiting import WaitingWork
from orchestrator.contracts.records.tasks import (
    CatchUp,
    ContextMode,
    RunStatus,
    ScheduleKind,
    TaskStatus,
)
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.sentence_keys import Say
from orchestrator.settings.tree import Settings, TaskSettings
from orchestrator.store import tasks
from orchestrator.store.transaction import Transaction
from tests.edges.commands.task_bench import HOUR_S, Bench, told
from tests.edges.commands.task_bench import bench as bench


async def test_a_slot_is_claimed_together_with_the_next_due_time(bench: Bench) -> None:
    made = await bench.add()

    await bench.claim(after_s=HOUR_S)

    (run,) = await bench.runs()
    assert (run.planned_at, run.status) == (made.next_run_at, RunStatus.CLAIMED)
    assert (await bench.task()).next_run_at == bench.desk.later(HOUR_S)


async def test_a_claim_that_breaks_off_leaves_neither_the_run_nor_the_next_due_time(bench: Bench) -> None:
    made = await bench.add()
    bench.desk.clock.advance(HOUR_S)

    def claimed_and_dead(tx: Transaction) -> None:
        claim_due(tx, bench.desk.services, at=bench.desk.now)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        await bench.desk.run(claimed_and_dead)

    assert await bench.runs() == []
    assert await bench.task() == made


async def test_a_slot_is_never_claimed_twice_even_when_the_clock_is_set_back(bench: Bench) -> None:
    made = await bench.add()
    await bench.run_once()
    again = replace(await bench.task(), next_run_at=made.next_run_at)
    await bench.desk.run(lambda tx: tasks.write(tx, again, was=TaskStatus.ACTIVE, at=bench.desk.now))

    await bench.claim()

    assert await bench.statuses() == ["succeeded"]
    assert (await bench.task()).next_run_at == bench.desk.later(HOUR_S)


async def test_more_than_a_hundred_due_tasks_are_all_claimed(bench: Bench) -> None:
    for number in range(120):
        await bench.add(f"task-{number:03}", context_mode=ContextMode.ISOLATED)

    await bench.claim(after_s=HOUR_S)

    assert len(await bench.waiting()) == 120


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (CatchUp.LATEST, {3: "claimed"}),
        (CatchUp.SKIP, {}),
        (CatchUp.ALL, {1: "claimed", 2: "claimed", 3: "claimed"}),
    ],
)
async def test_f9_what_was_missed_while_down_is_made_up_for_as_the_task_says(
    bench: Bench, rule: CatchUp, expected: dict[int, str]
) -> None:
    """Case F9."""
    made = await bench.add(catch_up=rule)

    await bench.claim(after_s=3.5 * HOUR_S)

    assert made.next_run_at is not None
    begin = made.next_run_at - timedelta(hours=1)
    found = {
        int((run.planned_at - begin) / timedelta(hours=1)): run.status.value
        for run in await bench.runs()
        if run.planned_at is not None
    }
    assert found == expected
    assert (await bench.task()).next_run_at == begin + timedelta(hours=4)


@pytest.mark.parametrize("mode", ContextMode)
async def test_runs_that_are_made_up_for_go_one_after_another(bench: Bench, mode: ContextMode) -> None:
    await bench.add(catch_up=CatchUp.ALL, context_mode=mode)
    await bench.claim(after_s=3.5 * HOUR_S)
    planned: list[datetime | None] = []

    for _ in range(3):
        (work,) = await bench.waiting()
        held, first = await bench.try_start(work)
        assert first is not None
        await bench.desk.begin(held, *first.ids, turn=bench.turn)
        assert await bench.waiting() == []
        planned += [run.planned_at for run in await bench.runs() if run.status is RunStatus.STARTED]
        await bench.desk.end(held, turn=bench.turn)
        await bench.exit(held)

    assert planned == [run.planned_at for run in await bench.runs()]
    assert await bench.statuses() == ["succeeded"] * 3


async def test_f9_what_is_older_than_the_grace_is_missed_and_told_once(bench: Bench) -> None:
    """Case F9."""
    await bench.add(kind=ScheduleKind.CRON, schedule_value="0 1 * * *")
    bench.desk.set_settings(Settings(tasks=TaskSettings(misfire_grace_s=600)))

    await bench.claim(after_s=3 * 24 * HOUR_S)

    assert await bench.statuses() == ["missed"] * 3
    assert await bench.desk.texts() == [told(Say.TASK_MISSED)]
    assert (await bench.task()).next_run_at == datetime(2026, 1, 4, 1, tzinfo=UTC)


async def test_a_once_task_that_came_too_late_is_missed_told_and_over(bench: Bench) -> None:
    at = bench.desk.later(HOUR_S)
    await bench.add(kind=ScheduleKind.ONCE, schedule_value=at.isoformat(), next_run_at=at)

    await bench.claim(after_s=3 * 24 * HOUR_S)

    assert await bench.statuses() == ["missed"]
    assert (await bench.task()).status is TaskStatus.COMPLETED
    assert await bench.desk.texts() == [told(Say.TASK_MISSED)]


@pytest.mark.parametrize("status", [TurnStatus.SUCCESS, TurnStatus.ERROR])
async def test_a_once_task_is_over_after_its_run(bench: Bench, status: TurnStatus) -> None:
    at = bench.desk.later(HOUR_S)
    await bench.add(kind=ScheduleKind.ONCE, schedule_value=at.isoformat(), next_run_at=at)
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    while_running = (await bench.task()).status

    await bench.desk.end(held, turn=bench.turn, status=status)

    assert while_running is TaskStatus.ACTIVE
    assert (await bench.task()).status is TaskStatus.COMPLETED
    assert (await bench.task()).next_run_at is None


async def test_b4_a_slot_that_comes_while_the_run_before_goes_on_is_skipped_and_noted(bench: Bench) -> None:
    """Case B4."""
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()

    await bench.claim(after_s=HOUR_S)
    await bench.claim()
    await bench.desk.end(held, turn=bench.turn)
    await bench.claim(after_s=HOUR_S)

    assert await bench.statuses() == ["succeeded", "skipped", "claimed"]
    assert (await bench.runs())[1].error == "the run before had not ended"


async def test_b4_a_slot_that_comes_while_the_run_before_has_not_begun_is_skipped_too(bench: Bench) -> None:
    """Case B4: where all places for agents are taken, runs of one task would heap up."""
    await bench.add()
    await bench.claim(after_s=HOUR_S)

    await bench.claim(after_s=HOUR_S)

    assert await bench.statuses() == ["claimed", "skipped"]
    assert len(await bench.waiting()) == 1


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        pytest.param(
            datetime(2026, 3, 28, 1, 30, tzinfo=UTC),
            ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
            id="the gap: once, at the first instant after it",
        ),
        pytest.param(
            datetime(2026, 10, 24, 0, 30, tzinfo=UTC),
            ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"],
            id="the overlap: once",
        ),
    ],
)
async def test_a_daily_task_runs_once_a_day_when_the_clocks_change(
    bench: Bench, first: datetime, expected: list[str]
) -> None:
    bench.desk.clock.advance((first - bench.desk.now).total_seconds() - 60)
    await bench.add(
        kind=ScheduleKind.CRON,
        schedule_value="30 2 * * *",
        timezone="Europe/Berlin",
        next_run_at=first,
    )

    for _ in range(3 * 24 * 6):
        await bench.claim(after_s=600)
        for work in await bench.waiting():
            held, begun = await bench.try_start(work)
            assert begun is not None
            await bench.desk.begin(held, *begun.ids, turn=bench.turn)
            await bench.desk.end(held, turn=bench.turn)

    planned = [run.planned_at for run in await bench.runs() if run.planned_at is not None]
    assert [f"{at:%Y-%m-%dT%H:%M}" for at in planned][:3] == expected


async def test_messages_go_before_a_task_that_shares_their_box_for_a_minute_and_then_it_is_its_turn(
    bench: Bench,
) -> None:
    await bench.add()
    await bench.add("beside", context_mode=ContextMode.ISOLATED)
    await bench.claim(after_s=HOUR_S)
    await bench.desk.hear("m-1")

    at_first = await bench.waiting()
    bench.desk.clock.advance(61)
    await bench.desk.hear("m-2")
    later = await bench.waiting()

    def shown(works: list[WaitingWork]) -> list[tuple[str, str | None]]:
        return [(work.key, None if work.task is None else work.task.task_id) for work in works]

    assert shown(at_first)[0] == ("family", None)
    assert shown(later)[0] == ("family", "task-1")
    for works in (at_first, later):
        assert [work.task.task_id for work in works[1:] if work.task is not None] == ["beside"]
        assert works[1].key.startswith("@")
