"""Callers who stay for what comes of a spawn, and who hang up at the worst moment. agents.md section 2."""

import asyncio

import pytest

from orchestrator.commands.agents.agent_waits import wait_for_agent
from orchestrator.commands.spawning.spawn_calls import spawn_and_wait, spawn_response
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import SpawnSpec, WaitFor
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench


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
