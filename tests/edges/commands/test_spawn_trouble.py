"""Spawns in odd moments: keys that come again, clocks that jump, limits that changed, callers gone."""

from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from orchestrator.commands.running.reserved import end_unwanted
from orchestrator.commands.spawning.spawn_replies import due_replies, note_ready
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import AgentId, GroupFolder, RunId, TreeId
from orchestrator.contracts.records.agents import AgentKind, AgentStatus, EndReason
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.spawns import WaitFor
from orchestrator.contracts.wire.agent_requests import SpawnAgent
from orchestrator.store import agents, spawns, waits
from orchestrator.store.group_folders import group_workspace
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench
from tests.support.store_rows import OTHER_CHAT, agent

KEY: Final[dict[str, Any]] = {"idempotency_key": "k-1"}


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_bench(desk)


async def held(bench: SpawnBench) -> list[tuple[AgentId, AgentId, WaitFor]]:
    """Who waits for whom, and until when."""
    found = await bench.desk.run(waits.all_waits)
    return [(each.waiter, each.awaited, each.wanted) for each in found]


async def told(bench: SpawnBench) -> list[tuple[AgentId, object]]:
    """What is to be written into boxes: of whom, and how it stands."""

    def body(tx: Transaction) -> list[tuple[AgentId, object]]:
        found = due_replies(tx)
        for spawn, _ in found:
            spawns.set_reply_due(tx, spawn.agent_id, is_due=False)
        return [(spawn.agent_id, (reply.result or {})["status"]) for spawn, reply in found]

    return await bench.desk.run(body)


async def get_ready(bench: SpawnBench, agent_id: AgentId) -> None:
    """It runs, as the engine notes it."""
    ready = await bench.run_it(agent_id)
    await bench.desk.run(lambda tx: note_ready(tx, ready))


async def test_a_key_that_comes_again_for_what_runs_already_holds_nobody(bench: SpawnBench) -> None:
    child = await bench.spawn(**KEY)
    await get_ready(bench, child)
    before = await told(bench)

    await bench.spawn(**KEY, wait=WaitFor.READY)

    assert before == []
    assert await held(bench) == []
    assert await told(bench) == [(child, "running")]


async def test_a_key_that_comes_again_is_told_of_the_start_though_the_first_call_did_not_wait(
    bench: SpawnBench,
) -> None:
    child = await bench.spawn(**KEY)
    await bench.spawn(**KEY, wait=WaitFor.READY)
    before = await held(bench)

    await get_ready(bench, child)

    assert before == [(bench.root.agent_id, child, WaitFor.READY)]
    assert await held(bench) == []
    assert await told(bench) == [(child, "running")]


async def test_a_key_that_comes_again_after_the_end_is_told_the_end_again(bench: SpawnBench) -> None:
    child = await bench.spawn(**KEY)
    await bench.run_it(child)
    await bench.end(child)
    first = await told(bench)

    await bench.spawn(**KEY, wait=WaitFor.RESULT)

    assert await held(bench) == []
    assert first == await told(bench) == [(child, "completed")]


async def test_a_caller_that_has_ended_waits_for_nobody(bench: SpawnBench) -> None:
    child = await bench.spawn(**KEY)
    await bench.end(bench.root.agent_id)

    await bench.by_box(SpawnAgent(task="count the doves", idempotency_key="k-1", wait="result"))

    assert await held(bench) == []
    assert (await bench.agent(child)).status is AgentStatus.PENDING


async def test_what_an_agent_left_in_its_box_starts_nobody_after_its_end(bench: SpawnBench) -> None:
    await bench.end(bench.root.agent_id)

    reply = await bench.by_box(SpawnAgent(task="count"))

    assert reply.error is not None
    assert reply.error.code == "PARENT_NOT_RUNNING"


async def test_a_clock_that_is_set_right_does_not_make_a_caller_wait_for_a_day(bench: SpawnBench) -> None:
    bench.set(per_minute=2, max_agents_per_tree=100)
    for _ in range(2):
        await bench.spawn()
    bench.desk.clock.set_wall_back(86_400)

    codes = [await bench.code(bench.ask()) for _ in range(3)]

    assert codes == ["done", "done", "RATE_LIMITED"]


async def test_a_clock_that_jumps_ahead_ends_who_waits_for_a_place_by_its_time(bench: SpawnBench) -> None:
    child, services = await bench.spawn(timeout_ms=60_000), bench.desk.services
    bench.desk.clock.advance(86_400)
    late = await bench.spawn(timeout_ms=60_000)

    next_at = await bench.desk.run(lambda tx: end_unwanted(tx, services, at=bench.desk.now))

    assert (await bench.agent(child)).status is AgentStatus.TIMED_OUT
    assert (await bench.agent(late)).status is AgentStatus.PENDING
    assert next_at == bench.desk.now + timedelta(minutes=1)
    assert await told(bench) == [(child, "timeout")]


async def test_limits_that_were_lowered_hold_for_trees_that_are_beyond_them(bench: SpawnBench) -> None:
    children = [await bench.spawn() for _ in range(4)]
    deep = await bench.run_it(await bench.spawn(by=await bench.run_it(children[0])))
    bench.set(max_agents_per_tree=3, max_spawns_per_tree=100, max_depth=1)

    with pytest.raises(DovecoteError) as wide:
        await bench.spawn()
    with pytest.raises(DovecoteError) as far:
        await bench.spawn(by=deep)

    assert (wide.value.code, wide.value.details["current"], wide.value.details["max"]) == (
        "QUOTA_EXCEEDED",
        6,
        3,
    )
    assert (far.value.code, far.value.details["current"], far.value.details["max"]) == (
        "DEPTH_EXCEEDED",
        2,
        1,
    )
    assert far.value.details["quota_info"] == {"tree_agents_remaining": 0, "depth_remaining": 0}


async def test_limits_that_were_raised_hold_at_once(bench: SpawnBench) -> None:
    bench.set(max_agents_per_tree=1)
    before = await bench.code(bench.ask())

    bench.set(max_agents_per_tree=2)

    assert (before, await bench.code(bench.ask()), await bench.code(bench.ask())) == (
        "QUOTA_EXCEEDED",
        "done",
        "QUOTA_EXCEEDED",
    )


async def test_the_run_of_a_task_is_a_root_like_any_other(bench: SpawnBench) -> None:
    run = agent(
        "agent-run",
        tree_id=TreeId("tree-run"),
        kind=AgentKind.JOB,
        status=AgentStatus.RUNNING,
        task_run_id=RunId("run-1"),
        rights=Rights.MEMBER,
        started_at=bench.desk.now,
    )
    await bench.desk.run(lambda tx: agents.add(tx, run))

    child = await bench.agent(await bench.spawn(by=run))

    assert (child.tree_id, child.depth, child.group) == ("tree-run", 1, "family")
    assert (child.rights, child.deadline_at is None) == (Rights.MEMBER, False)
    await bench.desk.run(
        lambda tx: agents.end(
            tx,
            run.agent_id,
            was=run.status,
            now=AgentStatus.COMPLETED,
            at=bench.desk.now,
            exit_code=0,
            reason=EndReason.EXITED,
        )
    )
    assert await bench.code(bench.ask(by=run)) == "PARENT_NOT_RUNNING"


async def test_a_child_of_the_main_groups_agent_is_not_the_main_agent(bench: SpawnBench) -> None:
    main = agent(
        "agent-main",
        tree_id=TreeId("tree-main"),
        group=GroupFolder("main"),
        chat_jid=OTHER_CHAT,
        status=AgentStatus.RUNNING,
        is_main=True,
        started_at=bench.desk.now,
    )
    await bench.desk.run(lambda tx: agents.add(tx, main))

    child = await bench.agent(await bench.spawn(by=main))

    assert (child.group, child.is_main, child.permissions.chat) == ("main", False, False)


@pytest.mark.parametrize("given", [{"parent": AgentId("")}, {"parent": AgentId("../" * 5_000)}])
async def test_a_parent_that_is_no_id_is_one_that_is_not_there(
    bench: SpawnBench, given: dict[str, Any]
) -> None:
    with pytest.raises(DovecoteError) as caught:
        await bench.ask(caller=OperatorCaller(), **given)

    assert caught.value.code == "PARENT_NOT_FOUND"
    assert len(str(caught.value)) < 1_000


async def test_attack_a_childs_path_behind_its_parents_link_is_judged_by_where_it_leads(
    bench: SpawnBench,
) -> None:
    workspace = Path(group_workspace(bench.desk.services.paths.groups, GroupFolder("family")))
    for name in ("out", "secret"):
        (workspace / name).mkdir()
    (workspace / "out" / "link").symlink_to("../secret")
    child = await bench.started(writable_paths=("out/",))

    code = await bench.code(bench.ask(by=child, writable_paths=("out/link/",)))

    assert code == "WORKSPACE_NOT_ALLOWED"


@pytest.mark.parametrize("path", ["notes.txt/", "notes.txt/more", "pipe", "a" * 300])
async def test_attack_a_writable_path_that_is_no_file_and_no_directory_starts_nobody(
    bench: SpawnBench, path: str
) -> None:
    workspace = Path(group_workspace(bench.desk.services.paths.groups, GroupFolder("family")))
    (workspace / "notes.txt").write_text("x")
    (workspace / "pipe").symlink_to("/dev/null")

    assert await bench.code(bench.ask(writable_paths=(path,))) == "INVALID_WORKSPACE"
    assert (await bench.tree()).total_agents == 1
