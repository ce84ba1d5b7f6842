"""Why an agent is not started: each code of seed 000, and what the audit keeps."""

from typing import Any, Final

import pytest

from orchestrator.commands.decisions import confirm_proposal
from orchestrator.commands.keeping.retention import prune_rows
from orchestrator.commands.recent import refused_requests
from orchestrator.commands.standing import status_report
from orchestrator.contracts.callers import KeyCaller, OperatorCaller
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import AgentId, own_box
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.spawns import OnParentExit, SpawnProfile, WishedPermissions
from orchestrator.contracts.records.tokens import Scope
from orchestrator.contracts.wire.agent_requests import SpawnAgent
from orchestrator.store import agents, lineage, proposals
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench
from tests.support.store_rows import agent

DAY_S: Final = 86_400
NOBODY = AgentId("agent-nobody")


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_bench(desk)


@pytest.mark.parametrize("task", ["", "  \n", "\x07"])
async def test_no_task(bench: SpawnBench, task: str) -> None:
    assert await bench.code(bench.spawn(task)) == "MISSING_TASK"


async def test_a_task_that_is_too_long(bench: SpawnBench) -> None:
    assert await bench.code(bench.spawn("x" * 50_000)) == "done"
    assert await bench.code(bench.spawn("x" * 50_001)) == "INVALID_REQUEST"


@pytest.mark.parametrize("timeout_ms", [0, -5, 86_400_001])
async def test_a_time_out_of_range(bench: SpawnBench, timeout_ms: int) -> None:
    assert await bench.code(bench.spawn(timeout_ms=timeout_ms)) == "INVALID_TIMEOUT"


@pytest.mark.parametrize("path", ["src", "../main", "/workspace/group/..", "/workspace/group/nothing-there"])
async def test_a_workspace_that_is_none(bench: SpawnBench, path: str) -> None:
    assert await bench.code(bench.spawn(workspace_path=path)) == "INVALID_WORKSPACE"


@pytest.mark.parametrize("field", ["wait", "profile", "on_parent_exit"])
async def test_a_word_that_nobody_knows(bench: SpawnBench, field: str) -> None:
    words: dict[str, Any] = {field: "sometimes"}

    reply = await bench.by_box(SpawnAgent(task="count", **words))

    assert reply.error is not None
    assert (reply.error.code, "sometimes" in reply.error.message) == ("INVALID_REQUEST", True)


async def test_the_more_specific_code_wins(bench: SpawnBench) -> None:
    assert await bench.code(bench.spawn("", timeout_ms=0, workspace_path="x")) == "MISSING_TASK"
    assert await bench.code(bench.spawn(timeout_ms=0, workspace_path="x")) == "INVALID_TIMEOUT"


async def test_nested_spawning_is_disabled(bench: SpawnBench) -> None:
    bench.set(enabled=False)

    assert await bench.code(bench.spawn()) == "SPAWN_DISABLED"
    assert await bench.code(bench.ask_as_operator()) == "done"


async def test_a_parent_that_is_not_there(bench: SpawnBench) -> None:
    assert await bench.code(bench.ask_as_operator(parent=NOBODY)) == "PARENT_NOT_FOUND"

    assert await bench.logged(None) == [
        (
            "spawn.parent_not_found",
            {"type": "spawn.parent_not_found", "parentAgentId": "agent-nobody"},
        )
    ]


async def test_a_parent_that_is_not_the_callers_looks_as_one_that_is_not_there(bench: SpawnBench) -> None:
    foreign = agent("agent-foreign", status=AgentStatus.RUNNING)
    await bench.desk.run(lambda tx: agents.add(tx, foreign))
    messages = []
    for named in ("agent-foreign", "agent-nobodyyy"):
        with pytest.raises(DovecoteError) as caught:
            await bench.ask(parent=AgentId(named))
        messages.append((caught.value.code, caught.value.message.replace(named, "X")))

    assert messages[0] == messages[1]
    assert messages[0][0] == "PARENT_NOT_FOUND"


async def test_a_child_may_not_start_agents_for_its_parent(bench: SpawnBench) -> None:
    child = await bench.started()

    assert await bench.code(bench.ask(by=child, parent=bench.root.agent_id)) == "PARENT_NOT_FOUND"


async def test_a_parent_that_has_ended(bench: SpawnBench) -> None:
    child = await bench.started()
    await bench.end(child.agent_id)

    assert await bench.code(bench.ask(parent=child.agent_id)) == "PARENT_NOT_RUNNING"

    kind, fields = (await bench.logged(bench.root.tree_id))[-1]
    assert kind == "spawn.parent_not_running"
    assert fields == {
        "type": "spawn.parent_not_running",
        "parentAgentId": child.agent_id,
        "parentStatus": "completed",
    }


async def test_a_caller_that_waits_for_its_next_start_is_no_parent_meanwhile(bench: SpawnBench) -> None:
    child = await bench.agent(await bench.spawn())

    with pytest.raises(DovecoteError) as caught:
        await bench.ask(by=child)

    assert caught.value.code == "PARENT_NOT_RUNNING"
    assert str(caught.value.suggestion).startswith("Wait until that agent runs")
    (kept,) = await bench.desk.run(lambda tx: tx.all("SELECT message FROM refused_spawns"))
    assert kept["message"] == f"{caught.value.message} {caught.value.suggestion}"


async def test_a_parent_whose_time_is_over(bench: SpawnBench) -> None:
    child = await bench.started(timeout_ms=1_000)
    bench.desk.clock.advance(1)

    assert await bench.code(bench.ask(by=child)) == "PARENT_NOT_RUNNING"


async def test_the_depth_is_used_up(bench: SpawnBench) -> None:
    child = await bench.started()
    grandchild = await bench.started(by=child)

    assert await bench.code(bench.ask(by=grandchild)) == "DEPTH_EXCEEDED"

    kind, fields = (await bench.logged(bench.root.tree_id))[-1]
    assert kind == "spawn.depth_limit_exceeded"
    assert {name: fields[name] for name in ("depth", "maxDepth", "treeId")} == {
        "depth": 2,
        "maxDepth": 2,
        "treeId": "tree-root",
    }


async def test_the_tree_is_full_and_has_room_again_when_one_ends(bench: SpawnBench) -> None:
    bench.set(max_agents_per_tree=3)
    first = await bench.started()
    await bench.spawn()

    assert await bench.code(bench.spawn()) == "QUOTA_EXCEEDED"
    kind, fields = (await bench.logged(bench.root.tree_id))[-1]
    await bench.end(first.agent_id)

    assert kind == "spawn.tree_limit_exceeded"
    assert {name: fields[name] for name in ("totalAgents", "maxAgents", "treeId")} == {
        "totalAgents": 3,
        "maxAgents": 3,
        "treeId": "tree-root",
    }
    assert await bench.code(bench.spawn()) == "done"


async def test_a_tree_that_has_had_all_its_agents_has_no_room_again(bench: SpawnBench) -> None:
    bench.set(max_spawns_per_tree=1)
    await bench.end((await bench.started()).agent_id)

    assert await bench.code(bench.spawn()) == "QUOTA_EXCEEDED"


async def test_all_places_of_the_installation_are_taken(bench: SpawnBench) -> None:
    bench.set(max_live=2)
    await bench.spawn()

    with pytest.raises(DovecoteError) as caught:
        await bench.spawn()

    assert (caught.value.code, caught.value.details["limit"]) == ("LIMIT_EXCEEDED", "live_agents")
    assert caught.value.retry_after_s


async def test_a_chats_agent_that_is_idle_takes_nobodys_place(bench: SpawnBench) -> None:
    idle = agent("agent-idle", status=AgentStatus.RUNNING)
    await bench.desk.run(lambda tx: agents.add(tx, idle))
    bench.set(max_live=2)

    assert await bench.code(bench.spawn()) == "done"


async def test_ten_spawns_in_a_minute_are_the_most_of_one_caller(bench: SpawnBench) -> None:
    bench.set(per_minute=10, max_agents_per_tree=100)
    for _ in range(10):
        await bench.spawn()
        bench.desk.clock.advance(1)

    with pytest.raises(DovecoteError) as caught:
        await bench.spawn()
    others = await bench.code(bench.ask("count", caller=OperatorCaller()))
    bench.desk.clock.advance(50)

    assert (caught.value.code, caught.value.retry_after_s) == ("RATE_LIMITED", 50)
    assert others == "done"
    assert await bench.code(bench.spawn()) == "done"
    assert await bench.code(bench.spawn()) == "RATE_LIMITED"


async def test_an_agent_without_the_right_starts_none(bench: SpawnBench) -> None:
    child = await bench.started(permissions=WishedPermissions(can_spawn=False))

    assert await bench.code(bench.ask(by=child)) == "FORBIDDEN"


@pytest.mark.parametrize("right", ["chat", "inherit_github_token", "detach"])
async def test_nobody_gives_a_right_that_he_does_not_have(bench: SpawnBench, right: str) -> None:
    child = await bench.started()

    wish = WishedPermissions(**{right: True})

    assert await bench.code(bench.ask(by=child, permissions=wish)) == "FORBIDDEN"
    assert await bench.code(bench.ask(permissions=wish)) == "done"


async def test_only_who_may_starts_an_agent_that_outlives_it(bench: SpawnBench) -> None:
    child = await bench.started()

    detach = OnParentExit.DETACH

    assert await bench.code(bench.ask(by=child, on_parent_exit=detach)) == "FORBIDDEN"
    assert await bench.code(bench.ask(on_parent_exit=detach)) == "done"


SAFE: Final[dict[str, Any]] = {"profile": SpawnProfile.SAFE, "timeout_ms": 60_000}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, "done"),
        ({"timeout_ms": None}, "INVALID_TIMEOUT"),
        ({"workspace_path": "/workspace/group"}, "WORKSPACE_NOT_ALLOWED"),
        ({"permissions": WishedPermissions(can_spawn=True)}, "FORBIDDEN"),
        ({"on_parent_exit": OnParentExit.DETACH}, "FORBIDDEN"),
    ],
    ids=["as it must be", "without a time", "elsewhere", "may start others", "outlives its parent"],
)
async def test_the_safe_profile_of_seed_004(bench: SpawnBench, fields: dict[str, Any], code: str) -> None:
    assert await bench.code(bench.spawn(**{**SAFE, **fields})) == code


async def test_a_safe_child_starts_no_others_and_a_child_starts_no_safe_ones(bench: SpawnBench) -> None:
    safe, usual = await bench.started(**SAFE), await bench.started()

    assert not safe.permissions.can_spawn
    assert await bench.code(bench.ask(by=safe)) == "FORBIDDEN"
    assert await bench.code(bench.ask(by=usual, **SAFE)) == "DEPTH_EXCEEDED"


async def test_five_safe_children_are_the_most_and_standard_ones_go_on(bench: SpawnBench) -> None:
    for _ in range(5):
        await bench.spawn(**SAFE)

    assert await bench.code(bench.spawn(**SAFE)) == "LIMIT_EXCEEDED"
    assert await bench.code(bench.spawn()) == "done"


async def test_safe_is_nothing_for_a_root(bench: SpawnBench) -> None:
    assert await bench.code(bench.ask_as_operator(**SAFE)) == "INVALID_REQUEST"


async def test_a_refusal_by_the_box_names_the_same_code_and_is_audited(bench: SpawnBench) -> None:
    bench.set(max_depth=0)

    reply = await bench.by_box(SpawnAgent(task="count"))

    assert reply.error is not None
    assert reply.error.code == "DEPTH_EXCEEDED"
    assert reply.error.details is not None
    assert reply.error.details["quota_info"] == {"tree_agents_remaining": 9, "depth_remaining": 0}
    assert await bench.events() == ["spawn.depth_limit_exceeded"]


async def test_a_refused_spawn_leaves_no_agent_behind(bench: SpawnBench) -> None:
    bench.set(max_agents_per_tree=1)

    await bench.code(bench.spawn())
    await bench.by_box(SpawnAgent(task="count"))

    assert (await bench.tree()).total_agents == 1


async def test_where_members_spoke_a_directory_of_the_host_is_asked_of_the_operator(
    bench: SpawnBench,
) -> None:
    project = bench.desk.services.paths.home.parent / "project"
    project.mkdir()
    bench.set(roots=(str(project),))
    await bench.desk.run(lambda tx: agents.set_rights(tx, bench.root.agent_id, Rights.MEMBER))

    by_call = await bench.code(bench.spawn("build it", workspace_path=str(project)))
    by_box = await bench.by_box(SpawnAgent(task="build it", workspace_path=str(project)))

    waiting = await bench.desk.run(lambda tx: proposals.open_of_group(tx, bench.root.group))
    assert by_call == "CONFIRMATION_NEEDED"
    assert by_box.error is not None
    assert by_box.error.code == "CONFIRMATION_NEEDED"
    assert [each.command for each in waiting] == ["spawn_agent"]
    assert f"in the directory: {project}" in waiting[0].effect
    assert (await bench.tree()).total_agents == 1


async def test_what_the_operator_confirms_is_started_as_the_agent_asked_for_it(bench: SpawnBench) -> None:
    project = bench.desk.services.paths.home.parent / "confirmed"
    (project / "out").mkdir(parents=True)
    bench.set(roots=(str(project),))
    await bench.desk.run(lambda tx: agents.set_rights(tx, bench.root.agent_id, Rights.MEMBER))
    wish = WishedPermissions(chat=True)
    for key in ("k-1", "k-2"):
        await bench.code(
            bench.spawn(
                workspace_path=str(project), writable_paths=("out/",), permissions=wish, idempotency_key=key
            )
        )
    [waiting] = await bench.desk.run(lambda tx: proposals.open_of_group(tx, bench.root.group))

    decided = await confirm_proposal(bench.desk.services, OperatorCaller(), waiting.number)

    [child] = await bench.desk.run(lambda tx: lineage.children(tx, bench.root.agent_id))
    record = await bench.record(child.agent_id)
    assert decided["status"] == "confirmed"
    assert (record.workspace, record.writable_paths) == (str(project), ("out/",))
    assert (child.rights, child.permissions.chat) == (Rights.MEMBER, True)


async def listed(bench: SpawnBench, box: str | None = None) -> list[tuple[object, ...]]:
    """What an operator is shown of refusals: who asked, the code, how often."""
    found = await refused_requests(bench.desk.services, box, count=50)
    return [(each["box"], each["code"], each["count"]) for each in found]


async def test_each_refusal_is_counted_by_its_code_however_it_was_asked_for(bench: SpawnBench) -> None:
    bench.set(max_depth=0)
    of_root = f"agent:{bench.root.agent_id}"
    program = KeyCaller(name="ci", scopes=frozenset({Scope.SPAWN, Scope.MANAGE}))

    await bench.code(bench.ask())
    await bench.by_box(SpawnAgent(task="count"))
    await bench.by_box(SpawnAgent(task="count", wait="sometimes"))
    await bench.code(bench.ask(caller=program, parent=bench.root.agent_id))
    await bench.code(bench.ask_as_operator(parent=NOBODY))

    report = await status_report(bench.desk.services)
    assert report.standing.refused_spawns == {
        "DEPTH_EXCEEDED": 3,
        "INVALID_REQUEST": 1,
        "PARENT_NOT_FOUND": 1,
    }
    # Of the malformed one a copy lies among what was refused of boxes.
    assert sorted(await listed(bench)) == [
        (of_root, "DEPTH_EXCEEDED", 2),
        ("key:ci", "DEPTH_EXCEEDED", 1),
        ("operator", "PARENT_NOT_FOUND", 1),
    ]
    assert await listed(bench, own_box(bench.root.agent_id)) == [(of_root, "DEPTH_EXCEEDED", 2)]
    assert await listed(bench, "kitchen") == []


async def test_attack_who_is_refused_without_end_fills_no_store(bench: SpawnBench) -> None:
    bench.set(max_depth=0)

    for _ in range(100):
        await bench.code(bench.ask())

    assert len(await bench.desk.run(lambda tx: tx.all("SELECT 1 FROM refused_spawns", {}))) == 1
    assert [count for _, _, count in await listed(bench)] == [100]


async def test_refusals_are_of_the_last_day_and_are_kept_for_a_week(bench: SpawnBench) -> None:
    bench.set(max_depth=0)
    await bench.code(bench.ask())

    bench.desk.clock.advance(2 * DAY_S)
    await prune_rows(bench.desk.services)
    lately = (await status_report(bench.desk.services)).standing.refused_spawns
    kept = await listed(bench)
    bench.desk.clock.advance(6 * DAY_S)
    await prune_rows(bench.desk.services)

    assert (lately, len(kept), await listed(bench)) == ({}, 1, [])
