"""The end of a run: well, badly, cut short, and who is told. Source: contracts.md section 7."""

import pytest

from orchestrator.contracts.records.agents import DeathCause, EndReason
from orchestrator.contracts.records.tasks import (
    FailureClass,
    RunStatus,
    TaskStatus,
)
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.agent import AgentEventKind
from tests.edges.commands.task_bench import HOUR_S, Bench, told
from tests.edges.commands.task_bench import bench as bench


async def test_b5_a_run_with_an_effect_is_interrupted_by_our_death_and_told_and_never_runs_again(
    bench: Bench,
) -> None:
    """Case B5."""
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    await bench.desk.say(held, "The plants are wet.", turn=bench.turn)

    await bench.host_dies(held)

    assert await bench.statuses() == ["interrupted"]
    assert await bench.waiting() == []
    assert await bench.desk.texts() == ["The plants are wet.", told(Say.TASK_INTERRUPTED)]
    assert (await bench.runs())[0].failure is FailureClass.HOST
    assert (await bench.task()).failures == 0  # it is no failure of the task's


async def test_b5_a_run_without_an_effect_runs_once_more_after_our_death_and_not_a_third_time(
    bench: Bench,
) -> None:
    """Case B5."""
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    await bench.host_dies(await bench.start())
    again = await bench.start()
    told_before = await bench.desk.texts()

    await bench.host_dies(again)

    assert told_before == []
    assert await bench.statuses() == ["interrupted"]
    assert await bench.waiting() == []
    assert await bench.desk.texts() == [told(Say.TASK_INTERRUPTED)]


async def test_a_run_that_died_without_an_effect_is_missed_out_when_the_grace_is_over(bench: Bench) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    bench.desk.clock.advance(3 * 24 * HOUR_S)

    await bench.host_dies(held)

    assert await bench.statuses() == ["interrupted"]
    assert await bench.desk.texts() == [told(Say.TASK_INTERRUPTED)]


async def test_a_run_whose_agent_crashes_runs_once_more_and_then_has_failed(bench: Bench) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    await bench.desk.die(await bench.start())

    await bench.desk.die(await bench.start())

    assert await bench.statuses() == ["failed"]
    assert await bench.desk.texts() == [told(Say.TASK_FAILED)]
    assert (await bench.task()).failures == 1


async def test_a_shutdown_gives_a_run_without_effect_back_and_it_runs_after_the_start(bench: Bench) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()

    await bench.desk.end(held, turn=bench.turn, status=TurnStatus.CANCELLED)
    await bench.desk.die(held, DeathCause.HOST, reason=EndReason.STOPPED)

    assert await bench.statuses() == ["claimed"]
    assert await bench.desk.texts() == []
    held = await bench.start()
    await bench.desk.end(held, turn=bench.turn)
    assert await bench.statuses() == ["succeeded"]


@pytest.mark.parametrize("is_polite", [True, False])
async def test_a_run_over_its_time_has_timed_out_whether_or_not_its_agent_obeyed(
    bench: Bench, *, is_polite: bool
) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()

    if is_polite:
        await bench.desk.end(
            held, turn=bench.turn, status=TurnStatus.CANCELLED, cancelled_by=DeathCause.TIMED_OUT
        )
    await bench.desk.die(held, DeathCause.TIMED_OUT, reason=EndReason.TIMED_OUT, event=AgentEventKind.RAN_OUT)

    assert await bench.statuses() == ["timed_out"]
    assert (await bench.task()).last_status is RunStatus.TIMED_OUT
    assert await bench.desk.texts() == [told(Say.TASK_FAILED)]


async def test_f10_a_failure_costs_one_occurrence_and_is_told(bench: Bench) -> None:
    """Case F10."""
    await bench.add()
    await bench.run_once(TurnStatus.ERROR)

    await bench.run_once()

    assert await bench.statuses() == ["failed", "succeeded"]
    assert await bench.desk.texts() == [told(Say.TASK_FAILED)]
    assert (await bench.task()).failures == 0


async def test_five_failures_in_a_row_pause_the_task_and_are_told(bench: Bench) -> None:
    await bench.add()
    for _ in range(5):
        assert (await bench.task()).status is TaskStatus.ACTIVE
        await bench.run_once(TurnStatus.ERROR)

    await bench.claim(after_s=5 * HOUR_S)

    rested = await bench.task()
    assert (rested.status, rested.paused_why) == (TaskStatus.PAUSED, "5 runs failed in a row")
    assert await bench.statuses() == ["failed"] * 5
    assert await bench.desk.texts() == [told(Say.TASK_FAILED)] * 4 + [told(Say.TASK_PAUSED)]


async def test_a_success_or_our_own_death_is_no_link_in_a_row_of_failures(bench: Bench) -> None:
    await bench.add()
    for _ in range(4):
        await bench.run_once(TurnStatus.ERROR)
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    await bench.desk.say(held, "so far", turn=bench.turn)
    await bench.host_dies(held)
    after_our_death = await bench.task()
    await bench.run_once()
    await bench.run_once(TurnStatus.ERROR)

    assert (after_our_death.failures, after_our_death.status) == (4, TaskStatus.ACTIVE)
    assert (await bench.task()).failures == 1
