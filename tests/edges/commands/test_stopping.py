"""Stopping agents: the first phase, and what is said of the second. Source: agents.md section 2."""

import asyncio
from typing import Any

import pytest

from orchestrator.commands.running.stopping import stop_cascade
from orchestrator.commands.spawning.spawn_rendering import as_cascade
from orchestrator.contracts.callers import caller_of
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent, AgentStatus
from orchestrator.contracts.records.spawns import CascadeOutcome, StopReason, TreeStatus, WaitFor
from orchestrator.contracts.wire.agent_requests import TerminateAgent
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store import agents, lineage, tokens, waits
from orchestrator.store.tokens import IssuedToken
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench
from tests.edges.commands.stops import family, open_stop_bench, stop
from tests.support.store_rows import agent

_S = AgentStatus


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_stop_bench(desk)


async def statuses(bench: SpawnBench, *ids: AgentId) -> list[AgentStatus]:
    return [(await bench.agent(each)).status for each in ids]


async def test_the_deepest_goes_first_and_each_outcome_is_named(bench: SpawnBench) -> None:
    lead, helper, waiting = await family(bench)

    outcome = await stop(bench, lead)

    assert bench.desk.control.agents_stopped == [
        (helper, StopReason.MANUAL),
        (lead, StopReason.MANUAL),
    ]
    assert outcome == CascadeOutcome(terminated=(helper, lead, waiting), unstarted=(waiting,))
    assert outcome.total_processed == 3
    assert await statuses(bench, lead, helper, waiting) == [_S.TERMINATED] * 3
    assert (await bench.agent(bench.root.agent_id)).status is _S.RUNNING


async def test_what_was_never_started_ends_at_once_and_its_caller_is_let_go(bench: SpawnBench) -> None:
    child = await bench.spawn(wait=WaitFor.RESULT)

    outcome = await stop(bench, child)

    record = await bench.record(child)
    assert (outcome.terminated, bench.desk.control.agents_stopped) == ((child,), [])
    assert record.result is not None
    assert await bench.desk.run(waits.all_waits) == []


async def test_from_the_first_phase_on_nobody_below_starts_anybody(bench: SpawnBench) -> None:
    """FP4: a parent could start a child while it was being stopped."""
    lead, helper, _ = await family(bench)
    seen: list[str] = []

    async def bury(agent_id: AgentId) -> None:
        seen.extend([await bench.code(bench.ask_as_operator(parent=each)) for each in (lead, helper)])
        await bench.end(agent_id, AgentEventKind.ENDED_BADLY, code=143)

    bench.desk.control.bury = bury

    await stop(bench, lead)

    assert seen == ["PARENT_NOT_RUNNING"] * 4


async def test_in_the_first_phase_every_token_below_is_void_and_no_other(bench: SpawnBench) -> None:
    """FP4: a token was revoked after the children had been killed."""
    lead, helper, _ = await family(bench)
    holders = {name: bytes([number]) * 32 for number, name in enumerate((lead, helper, bench.root.agent_id))}
    valid: list[AgentId] = []

    def give(tx: Transaction) -> None:
        for agent_id, fingerprint in holders.items():
            issued = IssuedToken(
                fingerprint=fingerprint,
                agent_id=agent_id,
                tree_id=bench.root.tree_id,
                issued_at=bench.desk.now,
                expires_at=bench.desk.later(3_600),
            )
            tokens.add(tx, issued)

    async def look(agent_id: AgentId) -> None:
        found = await bench.desk.run(lambda tx: [tokens.get(tx, each) for each in holders.values()])
        valid.extend(each.agent_id for each in found if each is not None and each.revoked_at is None)
        await bench.end(agent_id, AgentEventKind.ENDED_BADLY, code=143)

    await bench.desk.run(give)
    bench.desk.control.bury = look

    await stop(bench, lead)

    assert valid == [bench.root.agent_id] * 2


async def test_spawns_hammered_while_the_tree_stops_leave_nobody(bench: SpawnBench) -> None:
    """FP4: no child is admitted that the stop did not see."""
    bench.set(max_agents_per_tree=100)
    lead = await bench.started("lead")

    async def hammer() -> None:
        for number in range(20):
            await bench.code(bench.ask(f"child {number}", by=lead))

    await asyncio.gather(hammer(), hammer(), stop(bench, lead.agent_id), hammer())

    below = await bench.desk.run(lambda tx: lineage.subtree(tx, lead.agent_id))
    assert all(each.ended_at is not None for each in below)


async def test_a_kill_that_fails_is_told_as_that_and_not_as_done(bench: SpawnBench) -> None:
    """FP5: an agent was listed as terminated whose container still ran."""
    lead, helper, waiting = await family(bench)
    bench.desk.control.immortal.add(helper)

    outcome = await stop(bench, lead)

    assert [(each.agent_id, bool(each.error)) for each in outcome.failed] == [(helper, True)]
    assert outcome.terminated == (lead, waiting)
    assert await statuses(bench, helper) == [_S.STOPPING]


async def test_what_the_engine_says_is_not_believed_against_the_record(bench: SpawnBench) -> None:
    """FP5: only what is written as ended counts as ended."""
    lead = await bench.started("lead")
    bench.desk.control.bury = None

    outcome = await stop(bench, lead.agent_id)

    assert outcome.terminated == ()
    assert [(each.agent_id, bool(each.error)) for each in outcome.failed] == [(lead.agent_id, True)]


async def test_who_had_ended_is_skipped_and_stopping_twice_is_no_error(bench: SpawnBench) -> None:
    lead, helper, waiting = await family(bench)
    await bench.end(helper)

    first, second = await stop(bench, lead), await stop(bench, lead)

    assert (first.terminated, first.skipped) == ((lead, waiting), (helper,))
    assert (second.terminated, set(second.skipped)) == ((), {lead, helper, waiting})


@pytest.mark.parametrize("reason", StopReason)
async def test_the_reason_is_the_agents_own_and_below_it_is_cascade(
    bench: SpawnBench, reason: StopReason
) -> None:
    lead, helper, waiting = await family(bench)

    await stop(bench, lead, reason)

    reasons = [(await bench.record(each)).stop_reason for each in (lead, helper, waiting)]
    assert reasons == [reason, StopReason.CASCADE, StopReason.CASCADE]


async def test_a_reserved_agent_whose_time_is_over_has_timed_out(bench: SpawnBench) -> None:
    """FP21: timeouts surfaced as failures."""
    child = await bench.spawn()

    await stop(bench, child, StopReason.TIMEOUT)

    assert await statuses(bench, child) == [_S.TIMED_OUT]
    [terminated] = [
        fields for kind, fields in await bench.logged(bench.root.tree_id) if kind == "agent.terminated"
    ]
    assert terminated["reason"] == "timeout"


async def test_a_tree_is_stopped_by_its_own_id_and_each_of_it_has_its_true_outcome(bench: SpawnBench) -> None:
    lead, helper, waiting = await family(bench)
    await bench.end(helper)

    outcome = await stop(bench, AgentId(bench.root.tree_id))

    told: Any = as_cascade(outcome)["outcomes"]
    shown = {each["agentId"]: each for each in told}
    of = {"wasStarted": True, "endedAs": None}
    assert shown == {
        lead: {"agentId": lead, "outcome": "terminated", **of},
        "agent-root": {"agentId": "agent-root", "outcome": "terminated", **of},
        waiting: {"agentId": waiting, "outcome": "terminated", "wasStarted": False, "endedAs": None},
        helper: {"agentId": helper, "outcome": "skipped", "wasStarted": True, "endedAs": "completed"},
    }


async def test_an_agent_does_not_stop_its_own_tree_by_the_trees_id(bench: SpawnBench) -> None:
    lead = await bench.started("lead")
    asked = TerminateAgent(agent_id=bench.root.tree_id)

    by_lead = await bench.by_box(asked, caller=caller_of(lead))
    by_root = await bench.by_box(asked)

    assert [each.error and each.error.code for each in (by_lead, by_root)] == [
        "AGENT_NOT_FOUND",
        "INVALID_REQUEST",
    ]
    assert await statuses(bench, lead.agent_id, bench.root.agent_id) == [_S.RUNNING] * 2


async def test_who_goes_by_itself_while_others_are_taken_down_did_not_end_before(bench: SpawnBench) -> None:
    lead, helper, waiting = await family(bench)
    bench.desk.control.by_itself = {lead}

    outcome = await stop(bench, lead)

    assert (outcome.terminated, outcome.skipped) == ((helper, lead, waiting), ())


async def test_a_stopped_root_ends_its_tree_at_once(bench: SpawnBench) -> None:
    lead, helper, waiting = await family(bench)

    outcome = await stop(bench, bench.root.agent_id)

    tree = await bench.tree()
    assert outcome.terminated == (helper, lead, bench.root.agent_id, waiting)
    assert tree.status is TreeStatus.TERMINATED
    [ended] = [fields for kind, fields in await bench.logged(bench.root.tree_id) if kind == "tree.terminated"]
    assert ended == {
        "type": "tree.terminated",
        "treeId": "tree-root",
        "rootAgentId": "agent-root",
        "totalAgents": 4,
    }
    assert (await bench.events(bench.root.tree_id))[-1] == "tree.terminated"


SHAPES = {
    "a circle of two": {"agent-a": "agent-b", "agent-b": "agent-a"},
    "its own parent": {"agent-a": "agent-a"},
    "a parent nobody knows": {"agent-a": "agent-gone", "agent-b": "agent-a"},
    "depths that are wrong": {"agent-a": "agent-root", "agent-b": "agent-a", "agent-c": "agent-b"},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
async def test_a_stop_takes_all_below_whatever_the_store_says(
    bench: SpawnBench, shape: dict[str, str]
) -> None:
    """FP21: a cascade followed a list of children that could be wrong."""

    def odd(name: str) -> Agent:
        return agent(
            name, tree_id=bench.root.tree_id, parent_agent_id=AgentId(shape[name]), depth=0, status=_S.RUNNING
        )

    def body(tx: Transaction) -> None:
        for name in shape:
            agents.add(tx, odd(name))

    await bench.desk.run(body)

    outcome = await stop(bench, AgentId("agent-a"))

    assert set(outcome.terminated) == set(shape)
    assert outcome.total_processed == len(shape)


async def test_an_agent_stops_what_came_of_it_and_nothing_else(bench: SpawnBench) -> None:
    lead, helper, _ = await family(bench)
    sister = await bench.started("sing")
    services, caller = bench.desk.services, caller_of(await bench.agent(lead))

    async def code(agent_id: AgentId) -> str:
        return await bench.code(stop_cascade(services, caller, agent_id))

    assert await code(sister.agent_id) == "AGENT_NOT_FOUND"
    assert await code(bench.root.agent_id) == "AGENT_NOT_FOUND"
    assert await code(AgentId("agent-nobody")) == "AGENT_NOT_FOUND"
    assert await code(lead) == "INVALID_REQUEST"
    assert await code(helper) == "done"
    assert (await bench.record(helper)).stopped_by == lead


async def test_by_the_box_the_first_phase_is_answered_and_the_second_goes_on(bench: SpawnBench) -> None:
    lead, helper, waiting = await family(bench)

    reply = await bench.by_box(TerminateAgent(agent_id=lead))

    assert reply.result == {
        "agentId": lead,
        "stopping": [helper, lead],
        "terminated": [waiting],
        "skipped": [],
        "totalProcessed": 3,
    }
    assert bench.desk.control.agents_stopped == [
        (helper, StopReason.MANUAL),
        (lead, StopReason.MANUAL),
    ]
    assert await statuses(bench, lead, helper) == [_S.STOPPING, _S.STOPPING]


async def test_an_unknown_agent_is_refused_by_the_box_as_well(bench: SpawnBench) -> None:
    reply = await bench.by_box(TerminateAgent(agent_id="agent-nobody"))

    assert reply.error is not None
    assert reply.error.code == "AGENT_NOT_FOUND"
