"""What happens to agents stands in the event log, from structured facts only. Source: seed document 000."""

from collections.abc import Mapping
from typing import Any

import pytest

from orchestrator.commands.agents.event_keeping import prune_events
from orchestrator.commands.agents.event_views import ALL_EVENTS, flat, newest_page, tree_events
from orchestrator.commands.agents.event_writing import MAX_FILES, MAX_OUTPUT_BYTES, note_ended, note_started
from orchestrator.commands.agents.overview import overview
from orchestrator.commands.spawning.spawn_ends import end_tree
from orchestrator.contracts.callers import OperatorCaller, caller_of
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.live_events import Gap
from orchestrator.contracts.records.agents import Agent, AgentKind, AgentStatus, DeathCause, EndReason
from orchestrator.contracts.records.spawns import (
    SpawnResult,
    StopReason,
)
from orchestrator.contracts.wire.container_io import AgentLog, Progress
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.engine.log_events import LogEvents
from orchestrator.settings.events import EventSettings
from orchestrator.settings.tree import Settings
from orchestrator.store import agents, spawns, trees
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import agent, spawn_record

TREE, ROOT, CHILD = TreeId("tree-1"), AgentId("agent-1"), AgentId("agent-2")


async def events(desk: Desk, tree: TreeId = TREE) -> list[Mapping[str, Any]]:
    """All of a tree, as readers get them, without what the log adds."""
    found = (await newest_page(desk.services, tree, ALL_EVENTS, count=100)).events
    added = ("timestamp", "seq", "cursor", "class")
    return [{key: value for key, value in flat(each).items() if key not in added} for each in found]


async def child_of(desk: Desk, status: AgentStatus, **ended: Any) -> Agent:
    """A spawned agent below a root, in that status."""
    root = agent(ROOT, status=AgentStatus.RUNNING, started_at=desk.now)
    child = agent(
        CHILD,
        status=status,
        kind=AgentKind.JOB,
        parent_agent_id=ROOT,
        depth=1,
        started_at=desk.now,
    )
    spawn = spawn_record(CHILD, parent_agent_id=ROOT, at=desk.now)

    def body(tx: Transaction) -> None:
        trees.add(tx, TREE, ROOT, at=desk.now)
        for each in (root, child):
            agents.add(tx, each)
        spawns.add(tx, spawn)

    await desk.run(body)
    return child


async def end_child(
    desk: Desk,
    now: AgentStatus,
    result: SpawnResult,
    *,
    was: AgentStatus = AgentStatus.RUNNING,
    code: int | None = None,
    reason: EndReason = EndReason.CRASHED,
) -> Mapping[str, Any]:
    """Let the child end so; the event that tells of it."""
    child = await child_of(desk, was)

    def body(tx: Transaction) -> None:
        spawns.end(tx, CHILD, result)
        agents.end(tx, CHILD, was=child.status, now=now, at=desk.later(5), exit_code=code, reason=reason)
        note_ended(tx, CHILD, at=desk.later(5))

    await desk.run(body)
    return (await events(desk))[-1]


PLACE = {"agentId": "agent-2", "parentAgentId": "agent-1", "treeId": "tree-1", "depth": 1}


async def test_a_child_that_took_its_input_is_told_with_its_task_and_its_workspace(desk: Desk) -> None:
    child = await child_of(desk, AgentStatus.STARTING)

    await desk.run(lambda tx: note_started(tx, desk.services, child, at=desk.now))

    assert await events(desk) == [
        {"type": "agent.started", **PLACE, "task": "Write tests", "workspacePath": "/home/user/project"}
    ]


async def test_fp9_a_result_is_what_was_recorded_whatever_its_text_looks_like(desk: Desk) -> None:
    text = "**Status:** failed\n**Exit Code:** 7\n**Agent:** agent-99"
    result = SpawnResult(output=text, files_modified=("tests/a.py",), exit_code=0, duration_ms=4_900)

    told = await end_child(desk, AgentStatus.COMPLETED, result, code=0, reason=EndReason.EXITED)

    assert told == {
        "type": "agent.completed",
        **PLACE,
        "exitCode": 0,
        "output": text,
        "durationMs": 4_900,
        "filesModified": ["tests/a.py"],
    }


async def test_p11_a_child_that_changed_no_files_says_so_and_its_output_is_whole(desk: Desk) -> None:
    output = "x" * MAX_OUTPUT_BYTES
    result = SpawnResult(output=output, files_modified=(), exit_code=0, duration_ms=4_900)

    told = await end_child(desk, AgentStatus.COMPLETED, result, code=0, reason=EndReason.EXITED)

    assert told["output"] == output
    assert told["filesModified"] == []
    assert (told["exitCode"], told["durationMs"]) == (0, 4_900)


async def test_fp9_an_exit_code_that_nobody_saw_is_missing_and_not_zero(desk: Desk) -> None:
    result = SpawnResult(output="half", error="The engine went away.", duration_ms=10)

    told = await end_child(desk, AgentStatus.FAILED, result, reason=EndReason.ENGINE_LOST)

    assert told == {"type": "agent.failed", **PLACE, "error": "The engine went away.", "output": "half"}


async def test_fp9_who_did_its_work_has_completed_though_nobody_saw_its_exit_code(desk: Desk) -> None:
    result = SpawnResult(output="done", duration_ms=10)

    told = await end_child(desk, AgentStatus.COMPLETED, result, reason=EndReason.ENGINE_LOST)

    assert told == {"type": "agent.completed", **PLACE, "output": "done", "durationMs": 10}


async def test_fp21_who_ran_out_of_time_was_terminated_by_timeout(desk: Desk) -> None:
    told = await end_child(desk, AgentStatus.TIMED_OUT, SpawnResult(error="timeout"), code=137)

    assert told == {"type": "agent.terminated", **PLACE, "reason": "timeout"}


@pytest.mark.parametrize("reason", list(StopReason))
async def test_who_was_stopped_is_told_with_the_reason_and_by_whom(desk: Desk, reason: StopReason) -> None:
    child = await child_of(desk, AgentStatus.STOPPING)

    def body(tx: Transaction) -> None:
        spawns.note_stop(tx, CHILD, reason, stopped_by=ROOT)
        spawns.end(tx, CHILD, SpawnResult())
        agents.end(
            tx,
            CHILD,
            was=child.status,
            now=AgentStatus.TERMINATED,
            at=desk.now,
            exit_code=143,
            reason=EndReason.STOPPED,
        )
        note_ended(tx, CHILD, at=desk.now)

    await desk.run(body)

    assert (await events(desk))[-1] == {
        "type": "agent.terminated",
        **PLACE,
        "reason": reason.value,
        "terminatedBy": "agent-1",
        **({"stoppedWith": "parent"} if reason is StopReason.CASCADE else {}),
    }


async def test_an_event_keeps_no_more_than_the_beginning_of_a_long_output_and_of_many_files(
    desk: Desk,
) -> None:
    files = tuple(f"f{number}" for number in range(MAX_FILES + 5))
    result = SpawnResult(output="x" * 1_000_000, files_modified=files, exit_code=0)

    told = await end_child(desk, AgentStatus.COMPLETED, result, code=0, reason=EndReason.EXITED)

    assert len(told["output"].encode()) <= MAX_OUTPUT_BYTES
    assert len(told["filesModified"]) == MAX_FILES


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (DeathCause.AGENT, {"type": "agent.failed", "exitCode": 1, "error": "Its process broke off."}),
        (DeathCause.TIMED_OUT, {"type": "agent.terminated", "reason": "timeout"}),
    ],
)
async def test_the_end_of_a_chats_agent_is_an_event_too(
    desk: Desk, cause: DeathCause, told: Mapping[str, Any]
) -> None:
    await desk.hear("m-1")
    held = await desk.start_agent()

    kind = AgentEventKind.RAN_OUT if cause is DeathCause.TIMED_OUT else AgentEventKind.ENDED_BADLY
    await desk.die(held, cause, event=kind)

    (found,) = [each for each in await events(desk) if each["type"].startswith("agent.")]
    assert found == {"agentId": "agent-1", "treeId": "tree-1", "depth": 0, **told}


async def test_fp18_levels_and_progress_come_from_what_the_agent_says_and_never_from_its_words(
    desk: Desk,
) -> None:
    log = LogEvents(desk.services, agent(ROOT))

    await log.note_lines(["error: 50% of everything failed", "Progress: 80%"])
    await log.note_log(AgentLog(message="all is well", level="error"))
    await log.note_log(AgentLog(message="what?", level="shouting"))
    await log.note_progress(Progress(progress=250, description="nearly"))

    told = await events(desk)
    assert [(each["type"], each.get("level"), each.get("progress")) for each in told] == [
        ("agent.log", "info", None),
        ("agent.log", "info", None),
        ("agent.log", "error", None),
        ("agent.log", "info", None),
        ("agent.progress", None, 100),
    ]


async def test_a_flood_of_log_lines_becomes_a_few_events_and_a_word_about_the_rest(desk: Desk) -> None:
    desk.set_settings(Settings(events=EventSettings(log_lines_per_minute=3)))
    log = LogEvents(desk.services, agent(ROOT))

    await log.note_lines([f"line {number}" for number in range(50)])
    desk.clock.advance(61)
    await log.note_lines(["later"])

    told = [(each["level"], each["message"].split()[0]) for each in await events(desk)]
    assert told == [("info", "line"), ("info", "line"), ("info", "line"), ("warn", "More"), ("info", "later")]


@pytest.mark.parametrize("per_minute", [100, 0], ids=["events of them", "no events of lines"])
async def test_what_an_adopted_agent_prints_again_is_passed_over_and_what_is_new_is_not(
    desk: Desk, per_minute: int
) -> None:
    desk.set_settings(Settings(events=EventSettings(log_lines_per_minute=per_minute)))
    child = await child_of(desk, AgentStatus.RUNNING)
    before = LogEvents(desk.services, child)
    await before.note_lines(["one"])
    await before.note_progress(Progress(progress=40))
    await before.note_log(AgentLog(message="two", level="warn"))
    await before.keep_count()
    await before.note_error_lines(before.new_error_lines(["aside"]))

    left = await desk.run(lambda tx: agents.get(tx, child.agent_id))
    assert left is not None
    after = LogEvents(desk.services, left)
    lines = await after.note_lines(["one"])
    await after.note_progress(Progress(progress=40))
    is_new = await after.note_log(AgentLog(message="two", level="warn"))
    lines += await after.note_lines(["three"])
    asides = after.new_error_lines(["aside", "aside"])
    await after.note_error_lines(asides)

    assert (lines, is_new, asides) == (["three"], False, ["aside"])
    told = [each.get("message", each.get("progress")) for each in await events(desk)]
    assert told == (["one", 40, "two", "aside", "three", "aside"] if per_minute else [40])


async def test_fp16_events_outlive_their_tree_and_those_for_the_audit_those_of_agents(desk: Desk) -> None:
    desk.set_settings(Settings(events=EventSettings(keep_days=1, audit_days=30)))
    await end_child(desk, AgentStatus.FAILED, SpawnResult(error="no"), code=1)
    await desk.run(lambda tx: end_tree(tx, TREE, at=desk.now))
    before = await events(desk)

    desk.clock.advance(2 * 86_400)
    gone = await prune_events(desk.services)
    page = await tree_events(desk.services, TREE, ALL_EVENTS, since=0, count=10)

    assert [each["type"] for each in before] == ["agent.failed", "tree.terminated"]
    assert gone == 1
    gap, kept = page.events
    assert isinstance(gap, Gap)
    assert flat(kept)["type"] == "tree.terminated"
    assert (gap.first_seq, gap.last_seq) == (1, 1)


async def test_the_overview_says_of_each_agent_what_it_does_and_what_it_said_last(desk: Desk) -> None:
    child = await child_of(desk, AgentStatus.RUNNING)
    await LogEvents(desk.services, child).note_lines(["reading", "writing"])
    await LogEvents(desk.services, child).note_progress(Progress(progress=40))
    desk.clock.advance(5)

    (shown,) = await overview(desk.services, OperatorCaller(), ended_within_s=60)

    assert (shown["treeId"], shown["status"], shown["liveAgents"]) == ("tree-1", "active", 2)
    root, below = shown["agents"]
    assert (root["id"], root["activity"], root["lastLine"], root["tokens"]) == (ROOT, "idle", None, None)
    assert (below["id"], below["lastLine"], below["progress"]) == (CHILD, "writing", 40)
    assert (below["task"], below["elapsedMs"]) == ("Write tests", 5_000)


async def test_of_what_nobody_minds_the_time_stands_where_it_was_heard_of_last(desk: Desk) -> None:
    child = await child_of(desk, AgentStatus.RUNNING)
    desk.clock.advance(5)
    await LogEvents(desk.services, child).note_lines(["reading"])
    desk.clock.advance(3_600)

    (past,) = await overview(desk.services, OperatorCaller(), ended_within_s=60, is_past=True)
    (now,) = await overview(desk.services, OperatorCaller(), ended_within_s=60)

    assert [each["elapsedMs"] for each in past["agents"]] == [0, 5_000]
    assert [each["elapsedMs"] for each in now["agents"]] == [3_605_000, 3_605_000]


async def test_an_agents_overview_is_what_came_of_itself(desk: Desk) -> None:
    child = await child_of(desk, AgentStatus.RUNNING)
    other = agent("agent-9", tree_id=TreeId("tree-9"), status=AgentStatus.RUNNING)

    def body(tx: Transaction) -> None:
        agents.add(tx, other)
        trees.add(tx, other.tree_id, other.agent_id, at=desk.now)

    await desk.run(body)

    (shown,) = await overview(desk.services, caller_of(child), ended_within_s=60)

    assert [each["id"] for each in shown["agents"]] == [CHILD]
