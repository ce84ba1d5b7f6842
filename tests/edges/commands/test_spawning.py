"""Starting agents: what is made of a wish, and what is said at once. Source: agents.md section 2."""

import asyncio
from datetime import timedelta

import pytest

from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import AgentKind, AgentStatus, SpawnPermissions
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.spawns import OnParentExit, TreeStatus, WaitFor, WishedPermissions
from orchestrator.contracts.wire.agent_requests import PermissionWish, SpawnAgent
from orchestrator.store import agents, waits
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_bench(desk)


async def test_a_child_is_reserved_below_its_parent_in_its_group_and_tree(bench: SpawnBench) -> None:
    answer = await bench.ask("write the tests", name="tester")

    child = await bench.agent(AgentId(str(answer["agentId"])))
    assert (child.status, child.kind, child.depth) == (AgentStatus.PENDING, AgentKind.JOB, 1)
    assert (child.parent_agent_id, child.tree_id) == (bench.root.agent_id, bench.root.tree_id)
    assert (child.group, child.chat_jid, child.box) == ("family", bench.root.chat_jid, f"@{child.agent_id}")
    assert not child.is_main
    assert answer == {
        "agentId": child.agent_id,
        "treeId": "tree-root",
        "depth": 1,
        "status": "pending",
        "effectiveTimeoutMs": 3_600_000,
        "cappedBy": None,
        "quotaInfo": {"treeAgentsRemaining": 8, "depthRemaining": 1},
    }


async def test_a_child_works_in_its_parents_workspace_and_writes_nothing_unasked(bench: SpawnBench) -> None:
    record = await bench.record(await bench.spawn())

    assert record.workspace == str(bench.desk.services.paths.groups / "family" / "workspace")
    assert (record.writable_paths, record.is_own_workspace) == ((), False)
    assert record.deadline_at == bench.desk.now + timedelta(hours=1)


async def test_a_spawn_is_told_to_the_event_log_and_counted_in_its_tree(bench: SpawnBench) -> None:
    child = await bench.spawn("write the tests")

    [(kind, fields)] = await bench.logged(bench.root.tree_id)
    tree = await bench.tree()
    assert kind == "spawn.nested"
    assert fields == {
        "type": "spawn.nested",
        "agentId": child,
        "parentAgentId": "agent-root",
        "treeId": "tree-root",
        "depth": 1,
        "task": "write the tests",
    }
    assert (tree.total_agents, tree.max_depth_reached, tree.status) == (2, 1, TreeStatus.ACTIVE)


async def test_an_operators_agent_is_a_root_with_a_workspace_of_its_own_and_no_chat(
    bench: SpawnBench,
) -> None:
    answer = await bench.ask_as_operator("tidy up")

    root = await bench.agent(AgentId(str(answer["agentId"])))
    record = await bench.record(root.agent_id)
    tree = await bench.tree(root.tree_id)
    assert (root.depth, root.parent_agent_id, root.group, root.is_main) == (0, None, "main", False)
    assert (tree.root_agent_id, tree.total_agents) == (root.agent_id, 1)
    assert record.is_own_workspace
    assert record.workspace == str(bench.desk.services.paths.workspaces / root.agent_id)
    assert not root.permissions.chat
    assert await bench.events(root.tree_id) == []


async def test_the_operator_may_start_a_child_of_any_running_agent(bench: SpawnBench) -> None:
    answer = await bench.ask_as_operator(parent=bench.root.agent_id)

    child = await bench.agent(AgentId(str(answer["agentId"])))
    assert (child.parent_agent_id, child.tree_id) == (bench.root.agent_id, bench.root.tree_id)


async def test_an_agent_may_start_a_child_of_one_that_came_of_it(bench: SpawnBench) -> None:
    child = await bench.started()

    answer = await bench.ask(parent=child.agent_id)

    grandchild = await bench.agent(AgentId(str(answer["agentId"])))
    assert (grandchild.parent_agent_id, grandchild.depth) == (child.agent_id, 2)


@pytest.mark.parametrize("rights", Rights)
async def test_a_child_has_the_rights_of_the_run_that_started_it(bench: SpawnBench, rights: Rights) -> None:
    await bench.desk.run(lambda tx: agents.set_rights(tx, bench.root.agent_id, rights))

    child = await bench.agent(await bench.spawn())

    assert child.rights is rights


async def test_an_operators_child_of_an_agent_has_no_more_rights_than_that_agent(bench: SpawnBench) -> None:
    await bench.desk.run(lambda tx: agents.set_rights(tx, bench.root.agent_id, Rights.MEMBER))

    answer = await bench.ask_as_operator(parent=bench.root.agent_id)

    assert (await bench.agent(AgentId(str(answer["agentId"])))).rights is Rights.MEMBER


async def test_a_child_gets_what_is_wished_of_what_its_parent_has(bench: SpawnBench) -> None:
    wish = WishedPermissions(can_spawn=False, chat=True)
    child = await bench.started(permissions=wish)

    assert child.permissions == SpawnPermissions(
        can_spawn=False, chat=True, inherit_github_token=False, detach=False
    )


async def test_the_box_and_the_call_make_the_same_of_the_same_words(bench: SpawnBench) -> None:
    request = SpawnAgent(
        task="count",
        writable_paths=("src/",),
        timeout_ms=5_000,
        wait="result",
        on_parent_exit="request_stop",
        permissions=PermissionWish(chat=True, inherit_git_hub_token=True),
        name="counter",
    )

    reply = await bench.by_box(request)

    assert reply.result is not None
    by_box = await bench.record(AgentId(str(reply.result["agentId"])))
    by_call = await bench.record(
        await bench.spawn(
            "count",
            writable_paths=("src/",),
            timeout_ms=5_000,
            wait=WaitFor.RESULT,
            on_parent_exit=OnParentExit.REQUEST_STOP,
            permissions=WishedPermissions(chat=True, inherit_github_token=True),
            name="counter",
        )
    )
    assert by_box.body_sha256 == by_call.body_sha256
    assert by_box.workspace == by_call.workspace
    assert by_box.writable_paths == by_call.writable_paths == ("src/",)
    assert (by_box.caller_key, by_call.caller_key) == ("agent:agent-root", "agent:agent-root")
    first, second = await bench.agent(by_box.agent_id), await bench.agent(by_call.agent_id)
    assert first.permissions == second.permissions


@pytest.mark.parametrize("wait", WaitFor)
async def test_whoever_waits_is_written_down_in_the_same_transaction(
    bench: SpawnBench, wait: WaitFor
) -> None:
    child = await bench.spawn(wait=wait)

    found = await bench.desk.run(waits.all_waits)

    expected = [] if wait is WaitFor.NONE else [(bench.root.agent_id, child, wait)]
    assert [(each.waiter, each.awaited, each.wanted) for each in found] == expected


async def test_the_same_key_is_the_same_spawn_however_often_it_comes(bench: SpawnBench) -> None:
    answers = await asyncio.gather(*(bench.ask(idempotency_key="k-1") for _ in range(100)))

    assert all(answer == answers[0] for answer in answers)
    assert (await bench.tree()).total_agents == 2


async def test_the_same_key_may_be_waited_with_until_its_agent_has_ended(bench: SpawnBench) -> None:
    child = await bench.spawn(idempotency_key="k-1")
    await bench.spawn(idempotency_key="k-1", wait=WaitFor.RESULT)
    held = await bench.desk.run(waits.all_waits)
    await bench.run_it(child)
    await bench.end(child)

    await bench.spawn(idempotency_key="k-1", wait=WaitFor.RESULT)

    assert [(each.waiter, each.awaited) for each in held] == [(bench.root.agent_id, child)]
    assert await bench.desk.run(waits.all_waits) == []


async def test_a_key_with_other_words_is_refused(bench: SpawnBench) -> None:
    await bench.spawn("count", idempotency_key="k-1")

    assert await bench.code(bench.spawn("sing", idempotency_key="k-1")) == "INVALID_REQUEST"


async def test_keys_of_different_callers_have_nothing_to_do_with_each_other(bench: SpawnBench) -> None:
    first = await bench.spawn("count", idempotency_key="k-1")

    second = await bench.ask("count", caller=OperatorCaller(), idempotency_key="k-1")

    assert first != second["agentId"]


async def test_a_key_gives_its_answer_also_when_there_is_no_room_any_more(bench: SpawnBench) -> None:
    first = await bench.ask(idempotency_key="k-1")
    bench.set(max_agents_per_tree=1)

    assert await bench.ask(idempotency_key="k-1") == first


async def test_a_childs_time_ends_with_its_parents_unless_it_outlives_it(bench: SpawnBench) -> None:
    child = await bench.started(timeout_ms=10_000, permissions=WishedPermissions(detach=True))
    bench.desk.clock.advance(4)

    capped = await bench.ask(by=child, timeout_ms=60_000)
    shorter = await bench.ask(by=child, timeout_ms=1_000)
    outlives = await bench.ask(by=child, timeout_ms=60_000, on_parent_exit=OnParentExit.DETACH)

    said = [(each["effectiveTimeoutMs"], each["cappedBy"]) for each in (capped, shorter, outlives)]
    assert said == [(6_000, "parent_deadline"), (1_000, None), (60_000, None)]


async def test_the_longest_time_of_the_settings_caps_and_says_so(bench: SpawnBench) -> None:
    bench.set(absolute_max_timeout_s=2)

    answer = await bench.ask(timeout_ms=60_000)

    assert (answer["effectiveTimeoutMs"], answer["cappedBy"]) == (2_000, "absolute_max_timeout")
