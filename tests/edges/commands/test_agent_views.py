"""How agents stand, as their parents, the operator and the source document see them."""

import asyncio
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from orchestrator.commands.agents.agent_views import agent_views, as_metadata, as_tree, tree_list, tree_view
from orchestrator.contracts.callers import KeyCaller, OperatorCaller, caller_of
from orchestrator.contracts.ids import AgentId, RunId, TreeId
from orchestrator.contracts.records.agents import Agent, AgentKind, AgentStatus
from orchestrator.contracts.records.spawns import WaitFor, WishedPermissions
from orchestrator.contracts.records.tasks import RunStatus, TaskRun
from orchestrator.contracts.records.tokens import Scope
from orchestrator.contracts.wire.agent_requests import GetAgentStatus, ReportProgress
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store import agents, spawn_texts, task_runs, tasks
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench
from tests.support import task_rows
from tests.support.store_rows import CHAT, OTHER_CHAT, agent

OPERATOR = OperatorCaller()


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_bench(desk)


async def test_an_agent_sees_itself_and_what_came_of_it_and_nobody_else(bench: SpawnBench) -> None:
    """FP11: any agent could read all trees."""
    child = await bench.started("lead")
    grandchild = await bench.spawn("help", by=child)
    sister = await bench.spawn("sing")
    services, caller = bench.desk.services, caller_of(child)

    seen = await agent_views(services, caller)

    assert {each.agent_id for each in seen} == {child.agent_id, grandchild}
    for hidden in (sister, bench.root.agent_id):
        assert await bench.code(agent_views(services, caller, hidden)) == "AGENT_NOT_FOUND"


async def test_the_operator_sees_all_live_ones_first(bench: SpawnBench) -> None:
    ended = await bench.started("first")
    await bench.end(ended.agent_id)
    child = await bench.spawn("second")

    seen = [each.agent_id for each in await agent_views(bench.desk.services, OPERATOR)]

    assert set(seen[:2]) == {bench.root.agent_id, child}
    assert seen[2:] == [ended.agent_id]


async def test_the_metadata_have_the_fields_of_the_source_document(bench: SpawnBench) -> None:
    child = await bench.started("count", writable_paths=("out/",))
    await bench.spawn("help", by=child)
    await bench.desk.run(lambda tx: spawn_texts.add(tx, child.agent_id, 1, "seven doves"))
    await bench.end(child.agent_id)

    [view] = await agent_views(bench.desk.services, OPERATOR, child.agent_id)

    told = as_metadata(view)
    assert told["id"] == child.agent_id
    assert told["task"] == "count"
    assert told["workspacePath"] == str(bench.desk.services.paths.groups / "family" / "workspace")
    assert told["writablePaths"] == ["out/"]
    assert told["startedAt"] == "2026-01-01T00:00:00.000Z"
    assert told["endedAt"] == "2026-01-01T00:00:00.000Z"
    assert (told["status"], told["exitCode"], told["output"]) == ("completed", 0, "seven doves")
    assert told["parentAgentId"] == "agent-root"
    assert len(view.child_agent_ids) == 1
    assert told["childAgentIds"] == list(view.child_agent_ids)
    assert (told["nestingDepth"], told["treeId"]) == (1, "tree-root")


async def test_a_root_says_that_it_has_no_parent(bench: SpawnBench) -> None:
    [view] = await agent_views(bench.desk.services, OPERATOR, bench.root.agent_id)

    told = as_metadata(view)
    assert (told["parentAgentId"], told["nestingDepth"], told["childAgentIds"]) == (None, 0, [])
    assert "endedAt" not in told


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (AgentStatus.PENDING, "running"),
        (AgentStatus.STARTING, "running"),
        (AgentStatus.RUNNING, "running"),
        (AgentStatus.STOPPING, "running"),
        (AgentStatus.COMPLETED, "completed"),
        (AgentStatus.FAILED, "failed"),
        (AgentStatus.TIMED_OUT, "failed"),
        (AgentStatus.TERMINATED, "failed"),
        (AgentStatus.LOST, "failed"),
    ],
)
async def test_a_status_is_projected_on_the_three_of_the_source_document(
    bench: SpawnBench, status: AgentStatus, word: str
) -> None:
    await bench.desk.run(lambda tx: agents.add(tx, agent("agent-x", status=status)))

    [view] = await agent_views(bench.desk.services, OPERATOR, "agent-x")

    assert (as_metadata(view)["status"], as_metadata(view)["lifecycle"]) == (word, status.value)


async def test_an_agent_sees_paths_of_containers_only(bench: SpawnBench) -> None:
    await bench.spawn()

    reply = await bench.by_box(GetAgentStatus(include_tree=True))

    assert reply.result is not None
    assert str(bench.desk.services.paths.home) not in str(reply.result)
    assert "/workspace/group" in str(reply.result)


async def test_the_tree_of_the_box_is_the_callers_own_part(bench: SpawnBench) -> None:
    child = await bench.started("lead")
    grandchild = await bench.spawn("help", by=child)
    await bench.spawn("sing")

    reply = await bench.by_box(GetAgentStatus(include_tree=True), caller=caller_of(child))

    assert reply.result is not None
    tree = reply.result["tree"]
    assert isinstance(tree, dict)
    assert [each["id"] for each in tree["agents"]] == [child.agent_id, grandchild]
    assert (tree["treeId"], tree["rootAgentId"], tree["status"]) == ("tree-root", "agent-root", "active")


async def test_the_operators_tree_has_parents_before_children_and_is_there_after_its_end(
    bench: SpawnBench,
) -> None:
    child = await bench.started("lead")
    grandchild = await bench.started("help", by=child)
    late = await bench.started("late")
    for each in (grandchild, late, child, bench.root):
        await bench.end(each.agent_id)

    view = await tree_view(bench.desk.services, OPERATOR, tree_id="tree-root")

    told = as_tree(view)
    found = [each.agent_id for each in view.agents]
    assert found == ["agent-root", child.agent_id, late.agent_id, grandchild.agent_id]
    assert (told["status"], told["totalAgents"], told["liveAgents"], told["maxDepthReached"]) == (
        "terminated",
        4,
        0,
        2,
    )


async def test_a_tree_is_found_by_any_agent_in_it(bench: SpawnBench) -> None:
    child = await bench.spawn()

    by_agent = await tree_view(bench.desk.services, OPERATOR, agent_id=child)

    assert by_agent == await tree_view(bench.desk.services, OPERATOR, tree_id="tree-root")


async def test_a_foreign_or_absent_tree_is_not_found(bench: SpawnBench) -> None:
    other = await bench.ask_as_operator()
    services, caller = bench.desk.services, bench.caller

    for tree_id in (str(other["treeId"]), "tree-nobody"):
        code = await bench.code(tree_view(services, caller, tree_id=tree_id))
        assert code == "NOT_FOUND"


async def test_trees_are_listed_the_newest_first_and_for_a_day_after_their_end(bench: SpawnBench) -> None:
    bench.desk.clock.advance(60)
    answer = await bench.ask_as_operator()
    root = await bench.run_it(AgentId(str(answer["agentId"])))
    await bench.end(root.agent_id)

    soon = await tree_list(bench.desk.services, count=10)
    bench.desk.clock.advance(24 * 3600 + 1)
    later = await tree_list(bench.desk.services, count=10)

    assert [each.tree_id for each in soon] == [root.tree_id, "tree-root"]
    assert [each.tree_id for each in later] == ["tree-root"]


async def test_who_waits_for_whom_is_shown(bench: SpawnBench) -> None:
    child = await bench.spawn(wait=WaitFor.RESULT)

    [view] = await agent_views(bench.desk.services, OPERATOR, bench.root.agent_id)

    assert view.waits_for == (child,)


async def test_what_is_long_is_whole_where_one_is_asked_for_and_cut_where_all_are(bench: SpawnBench) -> None:
    child = await bench.started("y" * 5_000)
    text = "x" * 10_000
    await bench.desk.run(lambda tx: spawn_texts.add(tx, child.agent_id, 1, text))
    await bench.end(child.agent_id, AgentEventKind.ENDED_WELL)

    [alone] = await agent_views(bench.desk.services, OPERATOR, child.agent_id)
    listed = {each.agent_id: each for each in await agent_views(bench.desk.services, OPERATOR)}

    assert alone.result is not None
    assert (alone.result.output, alone.task) == (text, "y" * 5_000)
    among = listed[child.agent_id].result
    assert among is not None
    assert text.startswith(among.output)
    assert (len(among.output), len(listed[child.agent_id].task)) == (4_000, 1_000)


async def test_progress_is_told_to_whoever_watches(bench: SpawnBench) -> None:
    child = await bench.started()

    reply = await bench.by_box(ReportProgress(progress=40, description="half"), caller=caller_of(child))

    kind, fields = (await bench.logged(bench.root.tree_id))[-1]
    assert reply.result == {"progress": 40}
    assert kind == "agent.progress"
    assert (fields["agentId"], fields["progress"], fields["description"]) == (child.agent_id, 40, "half")


@pytest.mark.parametrize("progress", [-1, 100.5])
async def test_progress_beyond_what_there_is_is_refused(bench: SpawnBench, progress: float) -> None:
    reply = await bench.by_box(ReportProgress(progress=progress))

    assert reply.error is not None
    assert reply.error.code == "INVALID_REQUEST"


@pytest.mark.parametrize("may_chat", [False, True])
async def test_a_child_speaks_in_the_chat_only_with_the_right(bench: SpawnBench, may_chat: bool) -> None:
    child = await bench.started(permissions=WishedPermissions(chat=may_chat))

    reply = await bench.by_box(SendMessage(chat_jid=CHAT, text="coo"), caller=caller_of(child))

    assert reply.ok is may_chat
    assert await bench.desk.texts() == (["coo"] if may_chat else [])


async def test_a_program_sees_what_it_started_and_all_that_came_of_that(bench: SpawnBench) -> None:
    program = KeyCaller(name="mine", scopes=frozenset({Scope.SPAWN}))
    mine = await bench.agent(AgentId(str((await bench.ask("lead", caller=program))["agentId"])))
    await bench.run_it(mine.agent_id)
    below = await bench.spawn("help", by=await bench.agent(mine.agent_id))
    await bench.spawn("sing")

    seen = {each.agent_id for each in await agent_views(bench.desk.services, program)}

    assert seen == {mine.agent_id, below}


async def test_how_agents_stand_is_told_while_the_writer_is_busy(bench: SpawnBench) -> None:
    child = await bench.spawn("count")
    has_begun, may_end = threading.Event(), threading.Event()

    def write(tx: Transaction) -> None:
        has_begun.set()
        assert may_end.wait(60)

    async with asyncio.TaskGroup() as tasks_at_once:
        tasks_at_once.create_task(bench.desk.services.db.run(write))
        await asyncio.to_thread(has_begun.wait, 60)
        try:
            seen = await agent_views(bench.desk.services, OPERATOR)
            tree = await tree_view(bench.desk.services, OPERATOR, tree_id=bench.root.tree_id)
        finally:
            may_end.set()

    assert {each.agent_id for each in seen} == {bench.root.agent_id, child}
    assert [each.agent_id for each in tree.agents] == [bench.root.agent_id, child]


async def test_what_a_scheduled_agent_is_for_is_its_tasks_title(bench: SpawnBench) -> None:
    task, at = task_rows.task(title="Water the plants"), bench.desk.now
    run = TaskRun(
        run_id=RunId("run-1"),
        task_id=task.task_id,
        planned_at=at,
        status=RunStatus.STARTED,
        claimed_at=at,
        due_at=at,
    )
    made = agent("agent-9", task_run_id=run.run_id)

    def body(tx: Transaction) -> None:
        tasks.add(tx, task)
        task_runs.add(tx, run)
        agents.add(tx, made)

    await bench.desk.run(body)

    told = {each.agent_id: each.task for each in await agent_views(bench.desk.services, OPERATOR)}

    assert told == {bench.root.agent_id: f"Answer {CHAT}", made.agent_id: "Water the plants"}


async def earlier_told(bench: SpawnBench, asks: Agent) -> list[Mapping[str, Any]]:
    """What this agent is told of those before its time."""
    reply = await bench.by_box(GetAgentStatus(), caller=caller_of(asks))
    told: dict[str, Any] = dict(reply.result or {})
    return list(told.get("earlier", ()))


async def test_a_chats_agent_is_told_which_helpers_ended_before_its_time_and_nobody_else_is(
    bench: SpawnBench,
) -> None:
    child = await bench.started("dig", name="helper 1")
    await bench.end(child.agent_id)
    now, running = bench.desk.now, AgentStatus.RUNNING
    next_one = agent("next", status=running, tree_id=TreeId("tree-next"), started_at=now)
    elsewhere = agent(
        "else", status=running, tree_id=TreeId("tree-else"), started_at=now, chat_jid=OTHER_CHAT
    )
    job = agent("job", status=running, tree_id=TreeId("tree-job"), started_at=now, kind=AgentKind.JOB)

    def body(tx: Transaction) -> None:
        for each in (next_one, elsewhere, job):
            agents.add(tx, each)

    await bench.desk.run(body)

    [told] = await earlier_told(bench, next_one)

    assert (told["name"], told["task"], told["lifecycle"]) == ("helper 1", "dig", "completed")
    assert "output" not in told
    for asks in (elsewhere, job, bench.root, child):
        assert await earlier_told(bench, asks) == []
    bench.desk.clock.advance(timedelta(days=1, seconds=1).total_seconds())
    assert await earlier_told(bench, next_one) == []
