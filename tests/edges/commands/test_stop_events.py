"""What the log of events says of a stop: who asked, and how many went. Source: agents.md section 2."""

from functools import partial

import pytest

from orchestrator.commands.agents.agent_views import agent_views, as_metadata
from orchestrator.commands.running.burial import bury
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.running.reserved import end_unwanted
from orchestrator.commands.running.stopping import stop_cascade
from orchestrator.contracts.callers import AnyCaller, HostCaller, KeyCaller, OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import AgentStatus, DeathCause, EndReason
from orchestrator.contracts.records.spawns import StopReason, TreeStatus
from orchestrator.contracts.records.tokens import Scope
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench
from tests.edges.commands.stops import family, open_stop_bench, stop


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_stop_bench(desk)


async def test_the_cascade_is_audited_once_with_how_many_went(bench: SpawnBench) -> None:
    lead, _, _ = await family(bench)

    await stop(bench, lead)

    found = [fields for kind, fields in await bench.logged(bench.root.tree_id) if kind == "terminate.cascade"]
    assert found == [
        {
            "type": "terminate.cascade",
            "agentId": lead,
            "reason": "manual",
            "terminatedCount": 3,
            "terminatedBy": "operator",
        }
    ]


async def test_an_event_names_who_asked_for_a_stop_and_for_a_start(bench: SpawnBench) -> None:
    key = KeyCaller(name="ci", scopes=frozenset({Scope.MANAGE}))
    cases: list[tuple[AnyCaller, str | None]] = [
        (OperatorCaller(), "operator"),
        (key, "key:ci"),
        (bench.caller, "agent-root"),
        (HostCaller(), None),
    ]

    for caller, who in cases:
        answer = await bench.ask(caller=bench.caller if who is None else caller, parent=bench.root.agent_id)
        child = AgentId(str(answer["agentId"]))
        await stop_cascade(bench.desk.services, caller, child)

        of_child = {
            kind: fields
            for kind, fields in await bench.logged(bench.root.tree_id)
            if fields["agentId"] == child
        }
        assert of_child["agent.terminated"].get("terminatedBy") == who
        assert of_child["terminate.cascade"].get("terminatedBy") == who
        asker = who if who in ("operator", "key:ci") else None
        assert of_child["spawn.nested"].get("askedBy") == asker
        (view,) = await agent_views(bench.desk.services, OperatorCaller(), child)
        assert as_metadata(view)["stoppedBy"] == who


async def test_what_died_with_the_orchestrator_is_audited_as_its_end_and_not_as_a_wish_of_people(
    bench: SpawnBench,
) -> None:
    lead, helper, waiting = await family(bench)
    found_dead = Remains(
        cause=DeathCause.ORCHESTRATOR,
        reason=EndReason.ORCHESTRATOR_DIED,
        event=AgentEventKind.FOUND_DEAD,
        acks={},
        unread=(),
        exit=None,
    )

    def bury_it(tx: Transaction, *, agent_id: AgentId) -> None:
        bury(tx, bench.desk.services, agent_id, found_dead, at=bench.desk.now)

    for agent_id in (helper, lead, bench.root.agent_id):
        await bench.desk.run(partial(bury_it, agent_id=agent_id))
    await bench.desk.run(lambda tx: end_unwanted(tx, bench.desk.services, at=bench.desk.now))

    assert (await bench.agent(waiting)).status is AgentStatus.TERMINATED
    logged = await bench.logged(bench.root.tree_id)
    assert [fields for kind, fields in logged if kind == "terminate.cascade"] == [
        {
            "type": "terminate.cascade",
            "agentId": "agent-root",
            "reason": "cascade",
            "terminatedCount": 4,
            "stoppedWith": "orchestrator_died",
        }
    ]
    assert {fields["reason"] for kind, fields in logged if kind == "agent.terminated"} == {"cascade"}


async def test_the_end_of_a_tree_is_told_after_that_of_its_last_agent(bench: SpawnBench) -> None:
    _, helper, _ = await family(bench)
    bench.desk.control.immortal.add(helper)

    await stop(bench, bench.root.agent_id)

    assert (await bench.tree()).status is TreeStatus.TERMINATED
    assert "tree.terminated" not in await bench.events()
    await bench.end(helper, AgentEventKind.ENDED_BADLY, code=137)
    assert (await bench.events())[-2:] == ["agent.terminated", "tree.terminated"]


async def test_a_tree_ends_with_its_last_agent(bench: SpawnBench) -> None:
    root = await bench.run_it(AgentId(str((await bench.ask_as_operator())["agentId"])))

    await bench.end(root.agent_id)

    assert (await bench.tree(root.tree_id)).status is TreeStatus.TERMINATED
    assert (await bench.events(root.tree_id))[-2:] == ["agent.completed", "tree.terminated"]


async def test_an_orphan_that_is_cleaned_up_is_audited(bench: SpawnBench) -> None:
    """FP2: the safety net left no trace."""
    lead = await bench.started("lead")
    helper = await bench.started("help", by=lead)
    await bench.end(lead.agent_id)

    await stop_cascade(bench.desk.services, HostCaller(), helper.agent_id, StopReason.ORPHAN_CLEANUP)

    found = [fields for kind, fields in await bench.logged(bench.root.tree_id) if kind == "terminate.orphan"]
    assert found == [
        {
            "type": "terminate.orphan",
            "agentId": helper.agent_id,
            "parentAgentId": lead.agent_id,
            "reason": "parent_terminated",
        }
    ]
