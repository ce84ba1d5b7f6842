"""A run that people do not want any more. Source: contracts.md section 7."""

from datetime import datetime
from typing import Any

import pytest

from orchestrator.commands.command import Context
from orchestrator.commands.running.task_runs import stopped_runs
from orchestrator.commands.tasks.tasks import cancel_task, pause_task
from orchestrator.contracts.callers import Caller, OperatorCaller, caller_of
from orchestrator.contracts.records.agents import Agent, DeathCause, EndReason
from orchestrator.contracts.records.tasks import CatchUp, ContextMode, RunStatus, ScheduleKind, TaskStatus
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.contracts.wire.task_requests import CancelTask, PauseTask
from tests.edges.commands.task_bench import HOUR_S, Bench
from tests.edges.commands.task_bench import bench as bench
from tests.support.store_rows import agent


async def cancel(bench: Bench, caller: Caller) -> Any:
    """The answer to a wish to cancel."""
    services = bench.desk.services
    context = Context(services=services, caller=caller, at=bench.desk.now, key="k")
    return await bench.desk.run(lambda tx: cancel_task(tx, context, CancelTask(task_id="task-1")))


async def begun(bench: Bench, **fields: Any) -> Agent:
    """A task whose run is under way."""
    await bench.add(**fields)
    await bench.claim(after_s=HOUR_S)
    return await bench.start()


async def unwanted(bench: Bench) -> list[str]:
    """The runs whose agents are to be stopped."""
    ids = [run.run_id for run in await bench.runs()]
    return list(await bench.desk.run(lambda tx: stopped_runs(tx, ids)))


async def stop_agent(bench: Bench, held: Agent) -> None:
    """The agent obeys in the middle of its turn."""
    stopped = DeathCause.STOPPED
    await bench.desk.end(held, turn=bench.turn, status=TurnStatus.CANCELLED, cancelled_by=stopped)
    await bench.desk.die(held, stopped, reason=EndReason.STOPPED)


async def test_f13_who_cancels_a_task_stops_its_run_and_the_history_says_so(bench: Bench) -> None:
    """Case F13."""
    held = await begun(bench)

    answer = await cancel(bench, OperatorCaller())
    to_stop = await unwanted(bench)
    await stop_agent(bench, held)

    (run,) = await bench.runs()
    assert to_stop == [answer["stoppedRun"]] == [run.run_id]
    assert (run.status, run.failure, run.error) == (RunStatus.STOPPED, None, "the task was cancelled")
    assert (answer["status"], answer["lastStatus"]) == ("cancelled", "stopped")
    assert await bench.desk.texts() == []
    assert await bench.waiting() == []


async def test_f13_what_a_run_says_after_it_was_cancelled_is_kept_and_not_sent(bench: Bench) -> None:
    """Case F13."""
    held = await begun(bench)
    await cancel(bench, OperatorCaller())

    await bench.desk.say(held, "Too late.", turn=bench.turn)
    await bench.desk.end(held, turn=bench.turn)
    await bench.exit(held)

    (run,) = await bench.runs()
    assert (run.status, run.output) == (RunStatus.STOPPED, "Too late.")
    assert await bench.desk.texts() == []


async def test_f13_another_agent_of_the_group_stops_the_run_by_cancelling_and_its_own_may_finish(
    bench: Bench,
) -> None:
    """Case F13."""
    held = await begun(bench, context_mode=ContextMode.ISOLATED)

    by_itself = await cancel(bench, caller_of(held))
    after_its_own = await unwanted(bench)
    by_another = await cancel(bench, caller_of(agent("agent-of-the-chat")))

    assert "stoppedRun" not in by_itself
    assert after_its_own == []
    assert await unwanted(bench) == [by_another["stoppedRun"]]


async def test_f13_runs_that_wait_do_not_begin_once_their_task_is_cancelled(bench: Bench) -> None:
    """Case F13."""
    await bench.add(catch_up=CatchUp.ALL)
    await bench.claim(after_s=3 * HOUR_S)

    await cancel(bench, OperatorCaller())

    assert await bench.statuses() == ["skipped"] * 3
    assert {run.error for run in await bench.runs()} == {"the task is cancelled"}


async def test_f13_a_paused_task_finishes_its_run_and_begins_no_other(bench: Bench) -> None:
    """Case F13: a pause is for what is to come; the answer says that a run goes on."""
    held = await begun(bench)
    context = Context(services=bench.desk.services, caller=OperatorCaller(), at=bench.desk.now, key="k")

    answer = await bench.desk.run(lambda tx: pause_task(tx, context, PauseTask(task_id="task-1")))
    to_stop = await unwanted(bench)
    await bench.desk.end(held, turn=bench.turn)
    await bench.exit(held)
    await bench.claim(after_s=HOUR_S)

    (run,) = await bench.runs()
    assert (run.run_id, run.status, to_stop) == (answer["runUnderWay"], RunStatus.SUCCEEDED, [])
    assert (await bench.task()).status is TaskStatus.PAUSED


@pytest.mark.parametrize("is_once", [True, False])
async def test_f13_a_run_that_is_stopped_in_its_chat_is_no_failure_of_its_task(
    bench: Bench, *, is_once: bool
) -> None:
    """Case F13: `/stop` answers in the chat itself."""
    at: datetime = bench.desk.later(HOUR_S)
    once = {"kind": ScheduleKind.ONCE, "schedule_value": at.isoformat(), "next_run_at": at}
    held = await begun(bench, **(once if is_once else {}))
    await bench.desk.run(lambda tx: tx.execute("UPDATE tasks SET failures = 4"))

    await stop_agent(bench, held)

    after = await bench.task()
    assert await bench.statuses() == ["stopped"]
    assert (after.failures, after.last_status) == (4, RunStatus.STOPPED)
    assert after.status is (TaskStatus.COMPLETED if is_once else TaskStatus.ACTIVE)
    assert await bench.desk.texts() == []
