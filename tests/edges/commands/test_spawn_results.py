"""What comes of a spawned agent: its texts, who wrote beside it, what its parent is told.

Source: agents.md section 2.
"""

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from orchestrator.commands.running.burial import bury
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.running.reserved import LOST, end_unwanted
from orchestrator.commands.running.results import take_result_text
from orchestrator.commands.running.turns import PairKey
from orchestrator.commands.running.waiting import waiting_work
from orchestrator.commands.spawning.spawn_replies import due_replies, note_ready
from orchestrator.contracts.ids import AgentId, TurnId
from orchestrator.contracts.records.agents import Agent, AgentStatus, DeathCause, EndReason
from orchestrator.contracts.records.spawns import OnParentExit, SpawnResult, WaitFor, WishedPermissions
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.engine.old_workspaces import remove_old_workspaces
from orchestrator.store import agents, spawns, waits
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import TURN, SpawnBench, open_bench


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    """A desk with the family's agent, which may start others."""
    return await open_bench(desk)


async def result_of(bench: SpawnBench, agent_id: AgentId) -> SpawnResult:
    """What is kept of one that has ended."""
    result = (await bench.record(agent_id)).result
    assert result is not None
    return result


async def say(bench: SpawnBench, child: Agent, ordinal: int, text: str) -> bool:
    """It prints a pair."""
    key = PairKey(agent=child, ordinal=ordinal, turn_id=TURN)
    return await bench.desk.run(lambda tx: take_result_text(tx, key, text, at=bench.desk.now))


async def told(bench: SpawnBench) -> list[dict[str, object]]:
    """What is to be written into the boxes of parents."""
    replies = await bench.desk.run(due_replies)
    return [dict(reply.result or {}) for _, reply in replies]


async def test_texts_are_joined_in_order_each_once_however_often_they_are_read(bench: SpawnBench) -> None:
    child = await bench.started()
    taken = [await say(bench, child, n, text) for n, text in ((1, "a"), (2, "b"), (1, "a"), (2, "b"))]
    await bench.end(child.agent_id)

    assert taken == [True, True, False, False]
    assert (await result_of(bench, child.agent_id)).output == "a\n\nb"
    assert await bench.desk.texts() == []


async def test_other_live_writers_of_the_same_paths_are_named(bench: SpawnBench) -> None:
    paths = {"src": ("src/",), "inner": ("src/app/",), "beside": ("docs/",), "none": ()}
    live = {name: await bench.started(name, writable_paths=writable) for name, writable in paths.items()}
    mine = await bench.started("mine", writable_paths=("src/app/main.py",))
    await bench.end(mine.agent_id)

    shared = (await result_of(bench, mine.agent_id)).shared_with
    assert set(shared) == {bench.root.agent_id, live["src"].agent_id, live["inner"].agent_id}


async def test_a_parent_that_is_held_until_the_end_writes_nothing_meanwhile(bench: SpawnBench) -> None:
    child = await bench.started(wait=WaitFor.RESULT, writable_paths=("src/",))
    await bench.end(child.agent_id)

    assert (await result_of(bench, child.agent_id)).shared_with == ()


async def test_who_waits_for_ready_is_let_go_then_and_who_waits_for_the_result_at_the_end(
    bench: SpawnBench,
) -> None:
    ready = await bench.started("one", wait=WaitFor.READY)
    result = await bench.started("two", wait=WaitFor.RESULT)
    for child in (ready, result):
        await bench.desk.run(lambda tx, child=child: note_ready(tx, child))  # type: ignore[misc]
    held_first = await bench.desk.run(waits.all_waits)
    first = await told(bench)
    await bench.end(result.agent_id)

    assert [wait.awaited for wait in held_first] == [result.agent_id]
    assert [(each["agentId"], each["status"]) for each in first] == [(ready.agent_id, "running")]
    assert await bench.desk.run(waits.all_waits) == []
    statuses = {each["agentId"]: each["status"] for each in await told(bench)}
    assert statuses == {ready.agent_id: "running", result.agent_id: "completed"}


async def test_a_parent_is_told_all_that_came_of_its_child_until_it_was_written(bench: SpawnBench) -> None:
    child = await bench.started()
    await say(bench, child, 1, "done")
    bench.desk.clock.advance(2)
    await bench.end(child.agent_id)
    (first,) = await told(bench)
    await bench.desk.run(lambda tx: spawns.set_reply_due(tx, child.agent_id, is_due=False))

    assert first == {
        "agentId": child.agent_id,
        "treeId": child.tree_id,
        "depth": 1,
        "status": "completed",
        "lifecycle": "completed",
        "exitCode": 0,
        "output": "done",
        "durationMs": 2_000,
        "filesModified": None,
        "sharedWith": (),
    } | {key: first[key] for key in first if key == "quotaInfo"}
    assert await told(bench) == []


async def test_one_whose_time_passed_before_its_start_is_timed_out_and_the_next_time_is_told(
    bench: SpawnBench,
) -> None:
    short = await bench.spawn("one", timeout_ms=500)
    long = await bench.spawn("two", timeout_ms=60_000)
    bench.desk.clock.advance(1)
    services, at = bench.desk.services, bench.desk.now
    next_at = await bench.desk.run(lambda tx: end_unwanted(tx, services, at=at))
    waiting = await bench.desk.run(lambda tx: waiting_work(tx, at=at))

    assert (await bench.agent(short)).status is AgentStatus.TIMED_OUT
    assert (await bench.agent(short)).end_reason is EndReason.TIMED_OUT
    assert (await result_of(bench, short)).error == "It took longer than it may: 500 ms."
    assert next_at == (await bench.record(long)).deadline_at
    assert [work.key for work in waiting] == [f"@{long}"]


@pytest.mark.parametrize("policy", list(OnParentExit))
async def test_one_whose_parent_ended_before_its_start_is_not_started_unless_it_is_to_outlive_it(
    bench: SpawnBench, policy: OnParentExit
) -> None:
    child = await bench.spawn(on_parent_exit=policy)
    await bench.desk.die(bench.root, event=AgentEventKind.ENDED_WELL, code=0)
    services, at = bench.desk.services, bench.desk.now
    await bench.desk.run(lambda tx: end_unwanted(tx, services, at=at))

    is_left = policy is OnParentExit.DETACH
    assert (await bench.agent(child)).status is (AgentStatus.PENDING if is_left else AgentStatus.TERMINATED)
    if not is_left:
        assert (await result_of(bench, child)).error == "It was stopped with what had started it."


@pytest.mark.parametrize("policy", list(OnParentExit))
async def test_one_whose_parent_waits_for_its_place_is_started_after_it(
    bench: SpawnBench, policy: OnParentExit
) -> None:
    may_detach = WishedPermissions(can_spawn=True, detach=True)
    parent = AgentId(str((await bench.ask_as_operator(permissions=may_detach))["agentId"]))
    child = AgentId(str((await bench.ask_as_operator(parent=parent, on_parent_exit=policy))["agentId"]))
    services, at = bench.desk.services, bench.desk.now

    async def waiting() -> list[str]:
        await bench.desk.run(lambda tx: end_unwanted(tx, services, at=at))
        return [work.key for work in await bench.desk.run(lambda tx: waiting_work(tx, at=at))]

    assert await waiting() == [f"@{parent}"]
    await bench.desk.run(lambda tx: agents.claim(tx, parent, runner="process", provider="script", at=at))
    assert await waiting() == [f"@{child}"]


async def test_a_child_that_could_not_be_started_holds_up_no_chat(bench: SpawnBench) -> None:
    child = await bench.spawn()
    at, services = bench.desk.now, bench.desk.services
    remains = Remains(
        cause=DeathCause.AGENT,
        reason=EndReason.START_FAILED,
        event=AgentEventKind.START_FAILED,
        acks={},
        unread=(),
        exit=None,
        failed_start="There is no image.",
    )
    await bench.desk.run(lambda tx: agents.claim(tx, child, runner="docker", provider="p", at=at))
    await bench.desk.run(lambda tx: agents.start_turn(tx, child, TurnId("t"), bench.root.chat_jid, at=at))
    await bench.desk.run(lambda tx: bury(tx, services, child, remains, at=at))
    await bench.desk.hear("m-1")

    result = await result_of(bench, child)
    assert ((await bench.agent(child)).status, result.exit_code) == (AgentStatus.FAILED, None)
    assert result.error == "There is no image."
    assert await bench.desk.texts() == []
    assert [work.key for work in await bench.desk.run(lambda tx: waiting_work(tx, at=at))] == ["family"]


async def test_one_of_which_nothing_is_seen_any_more_is_lost(bench: SpawnBench) -> None:
    child = await bench.started()
    services, at = bench.desk.services, bench.desk.now
    await bench.desk.run(lambda tx: bury(tx, services, child.agent_id, LOST, at=at))

    assert (await bench.agent(child.agent_id)).status is AgentStatus.LOST
    (reply,) = await told(bench)
    assert (reply["status"], reply["lifecycle"]) == ("failed", "lost")


async def test_scratch_goes_a_day_after_its_agent_and_a_workspace_with_its_record(bench: SpawnBench) -> None:
    top = bench.desk.services.paths.workspaces
    live, ended = await bench.started("one"), await bench.started("two")
    await bench.end(ended.agent_id)
    for name in (live.agent_id, ended.agent_id, "agent-unknown"):
        for place in (top / name, top / f"@{name}"):
            place.mkdir(parents=True, exist_ok=True)
            (place / "work").write_text("w")

    left = [await names_after(bench, top, timedelta(hours=hours)) for hours in (0, 23, 2)]

    every = {str(live.agent_id), f"@{live.agent_id}", str(ended.agent_id), f"@{ended.agent_id}"}
    assert left == [every, every, every - {f"@{ended.agent_id}"}]


async def names_after(bench: SpawnBench, top: Path, passed: timedelta) -> set[str]:
    """What is left there after so much time."""
    bench.desk.clock.advance(passed.total_seconds())
    await remove_old_workspaces(replace(bench.desk.services))
    return set(os.listdir(top))


@pytest.mark.parametrize("status", [AgentStatus.TIMED_OUT, AgentStatus.TERMINATED])
async def test_who_was_stopped_in_good_order_has_no_exit_code_of_success(
    bench: SpawnBench, status: AgentStatus
) -> None:
    child = (await bench.started()).agent_id
    ran_out = status is AgentStatus.TIMED_OUT
    if not ran_out:
        was, now = AgentStatus.RUNNING, AgentStatus.STOPPING
        await bench.desk.run(lambda tx: agents.move(tx, child, was=was, now=now))
    await bench.end(child, AgentEventKind.RAN_OUT if ran_out else AgentEventKind.ENDED_WELL, 0)

    ended = await bench.agent(child)
    assert (ended.status, ended.exit_code) == (status, None)
    assert (await result_of(bench, child)).exit_code is None
