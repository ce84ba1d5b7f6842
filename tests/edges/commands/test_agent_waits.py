"""Waiting for an agent. A timeout is a value; a circle is refused at once (I3)."""

import asyncio

import pytest

from orchestrator.commands.agents.agent_waits import wait_for_agent
from orchestrator.contracts.callers import OperatorCaller, caller_of
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.spawns import AgentView, WaitFor
from orchestrator.contracts.seams import Topic
from orchestrator.store import waits
from orchestrator.store.transaction import Transaction
from orchestrator.store.waits import Wait
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench
from tests.support.eventually import eventually


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_bench(desk)


async def wait(
    bench: SpawnBench, agent_id: AgentId, want: WaitFor, *, at_most_s: float = 3_600, by_agent: bool = True
) -> AgentView:
    caller = bench.caller if by_agent else OperatorCaller()
    return await wait_for_agent(bench.desk.services, caller, agent_id, want, at_most_s=at_most_s)


async def open_waits(bench: SpawnBench) -> list[Wait]:
    return await bench.desk.run(waits.all_waits)


@pytest.mark.parametrize("by_agent", [True, False])
async def test_a_wait_ends_when_its_agent_does(bench: SpawnBench, by_agent: bool) -> None:
    child = await bench.started()

    async with asyncio.TaskGroup() as tasks:
        listeners = bench.desk.wakeups.listeners
        waiting = tasks.create_task(wait(bench, child.agent_id, WaitFor.RESULT, by_agent=by_agent))
        await eventually(lambda: bench.desk.wakeups.listeners > listeners)
        await bench.end(child.agent_id)

    assert waiting.result().status is AgentStatus.COMPLETED
    assert waiting.result().result is not None
    assert await open_waits(bench) == []


async def test_a_wait_for_the_start_ends_with_the_start(bench: SpawnBench) -> None:
    child = await bench.spawn()

    async with asyncio.TaskGroup() as tasks:
        listeners = bench.desk.wakeups.listeners
        waiting = tasks.create_task(wait(bench, child, WaitFor.READY))
        await eventually(lambda: bench.desk.wakeups.listeners > listeners)
        await bench.run_it(child)
        bench.desk.wakeups.wake(Topic.AGENTS)

    assert waiting.result().status is AgentStatus.RUNNING


async def test_a_wait_whose_time_is_over_tells_how_the_agent_stands(bench: SpawnBench) -> None:
    child = await bench.started()

    view = await wait(bench, child.agent_id, WaitFor.RESULT, at_most_s=0)

    assert (view.status, view.result) == (AgentStatus.RUNNING, None)
    assert await open_waits(bench) == []


async def test_who_comes_late_finds_the_result(bench: SpawnBench) -> None:
    child = await bench.started()
    await bench.end(child.agent_id)

    views = [await wait(bench, child.agent_id, WaitFor.RESULT) for _ in range(3)]

    assert {each.status for each in views} == {AgentStatus.COMPLETED}


async def test_while_an_agent_waits_the_store_says_so(bench: SpawnBench) -> None:
    child = await bench.started()

    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(wait(bench, child.agent_id, WaitFor.RESULT))
        found: list[Wait] = []
        while not found:
            found = await open_waits(bench)
        waiting.cancel()

    assert [(each.waiter, each.awaited) for each in found] == [(bench.root.agent_id, child.agent_id)]
    assert await open_waits(bench) == []


async def test_an_agent_that_waits_for_itself_is_refused_at_once(bench: SpawnBench) -> None:
    asked = wait(bench, bench.root.agent_id, WaitFor.RESULT, at_most_s=0)

    assert await bench.code(asked) == "WOULD_DEADLOCK"


@pytest.mark.parametrize("length", [2, 3])
async def test_a_wait_that_would_close_a_circle_is_refused_at_once(bench: SpawnBench, length: int) -> None:
    bench.set(max_depth=10)
    chain = [bench.root]
    while len(chain) < length:
        chain.append(await bench.started(by=chain[-1]))

    def close_all_but_one(tx: Transaction) -> None:
        for waiter, awaited in zip(chain[1:], [*chain[2:], chain[0]], strict=True):
            edge = Wait(waiter=waiter.agent_id, awaited=awaited.agent_id, wanted=WaitFor.RESULT)
            waits.add(tx, edge, at=bench.desk.now)

    await bench.desk.run(close_all_but_one)

    asked = wait(bench, chain[1].agent_id, WaitFor.RESULT, at_most_s=0)

    assert await bench.code(asked) == "WOULD_DEADLOCK"
    assert len(await open_waits(bench)) == length - 1


async def test_an_agent_waits_for_what_came_of_it_only(bench: SpawnBench) -> None:
    child, sister = await bench.started("lead"), await bench.spawn("sing")
    services, caller = bench.desk.services, caller_of(child)

    for agent_id in (sister, bench.root.agent_id, AgentId("agent-nobody")):
        code = await bench.code(wait_for_agent(services, caller, agent_id, WaitFor.RESULT, at_most_s=60))
        assert code == "AGENT_NOT_FOUND"
