"""Callers who stay for what comes of a spawn, and who hang up at the worst moment. agents.md section 2."""

import asyncio

import pytest

from orchestrator.commands.agents.agent_waits import wait_for_agent
from orchestrator.commands.spawning.spawn_calls import spawn_and_wait, spawn_response
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import TurnOutcome
from orchestrator.contracts.records.spawns import SpawnSpec, WaitFor
from orchestrator.core.states.agent import AgentEventKind
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench
from tests.support.eventually import eventually


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_bench(desk)


@pytest.mark.parametrize("steps", range(6))
async def test_a_wait_that_is_given_up_while_it_begins_leaves_nobody_waiting(
    bench: SpawnBench, steps: int
) -> None:
    child = await bench.spawn()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(
            wait_for_agent(bench.desk.services, bench.caller, child, WaitFor.RESULT, at_most_s=60)
        )
        for _ in range(steps):
            await asyncio.sleep(0)
        waiting.cancel()

    left = await bench.desk.run(lambda tx: tx.all("SELECT waiter, awaited FROM waits"))
    assert [tuple(row) for row in left] == []


async def test_a_caller_who_does_not_wait_is_told_that_it_runs_and_an_operator_may_be_the_parent(
    bench: SpawnBench,
) -> None:
    spec = SpawnSpec(task="count", timeout_ms=5_000)

    call = await spawn_and_wait(bench.desk.services, OperatorCaller(), spec, parent=bench.root.agent_id)

    told = spawn_response(call)
    assert (told["status"], told["exit_code"], told["depth"]) == ("running", None, 1)
    assert told["effective_timeout_ms"] == 5_000
    assert (await bench.agent(AgentId(str(told["agent_id"])))).parent_agent_id == bench.root.agent_id


@pytest.mark.parametrize(
    ("event", "code", "word"),
    [
        (AgentEventKind.ENDED_WELL, 0, "completed"),
        (AgentEventKind.ENDED_BADLY, 3, "failed"),
        (AgentEventKind.ENDED_BADLY, None, "failed"),
        (AgentEventKind.RAN_OUT, None, "timeout"),
        (AgentEventKind.RAN_OUT, 137, "timeout"),
    ],
)
async def test_fp9_a_caller_is_told_the_end_that_was_recorded_and_no_code_that_nobody_saw(
    bench: SpawnBench, event: AgentEventKind, code: int | None, word: str
) -> None:
    spec = SpawnSpec(task="count", wait=WaitFor.RESULT)
    outcome = TurnOutcome.SUCCESS if word == "completed" else TurnOutcome.ERROR

    async with asyncio.TaskGroup() as tasks:
        calling = tasks.create_task(spawn_and_wait(bench.desk.services, bench.caller, spec))
        await eventually(lambda: reserved(bench))
        (child,) = await reserved(bench)
        await bench.run_it(child)
        await bench.end(child, event, code, outcome=outcome)

    told = spawn_response(calling.result())
    assert (told["agent_id"], told["status"], told["exit_code"]) == (child, word, code)


async def reserved(bench: SpawnBench) -> list[AgentId]:
    """The agents that wait for their place to run."""
    rows = await bench.desk.run(lambda tx: tx.all("SELECT agent_id FROM agents WHERE status = 'pending'"))
    return [AgentId(row["agent_id"]) for row in rows]
