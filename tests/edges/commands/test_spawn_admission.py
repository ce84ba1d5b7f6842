"""Limits hold however many ask at once: who is counted and who is added stands in one transaction (FP6).

More repetitions: `DOVECOTE_SPAWN_REPEATS=200 pytest tests/edges/commands/test_spawn_admission.py`.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.commands.running.stopping import stop_cascade
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import LimitExceeded
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import TurnOutcome
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store import lineage
from tests.edges.commands.conftest import Desk, open_desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench

REPEATS = int(os.environ.get("DOVECOTE_SPAWN_REPEATS", "5"))
CALLERS = 50


@pytest.fixture
async def bench(desk: Desk) -> SpawnBench:
    return await open_bench(desk)


async def storm(bench: SpawnBench, **fields: Any) -> tuple[list[AgentId], list[LimitExceeded]]:
    """Fifty spawns at once: who was admitted, and how the others were refused."""

    async def one() -> AgentId | LimitExceeded:
        try:
            return await bench.spawn(**fields)
        except LimitExceeded as refusal:
            return refusal

    outcomes = await asyncio.gather(*(one() for _ in range(CALLERS)))
    admitted = [each for each in outcomes if isinstance(each, str)]
    return admitted, [each for each in outcomes if isinstance(each, LimitExceeded)]


@pytest.mark.parametrize("round_number", range(REPEATS))
async def test_fifty_at_once_where_ten_fit_are_ten(tmp_path: Path, round_number: int) -> None:
    async with open_desk(tmp_path) as desk:
        bench = await open_bench(desk)
        bench.set(max_agents_per_tree=11)  # the root counts

        admitted, refused = await storm(bench)

        live = await desk.run(lambda tx: lineage.count_in_tree(tx, bench.root.tree_id))
    assert (len(admitted), len(set(admitted)), live) == (10, 10, 11)
    assert {(each.code, each.details["current"], each.details["max"]) for each in refused} == {
        ("QUOTA_EXCEEDED", 11, 11)
    }


@pytest.mark.parametrize(
    ("settings", "admitted", "limit"),
    [
        ({"max_spawns_per_tree": 7, "max_agents_per_tree": 100}, 7, "tree_spawns"),
        ({"max_live": 8, "max_agents_per_tree": 100}, 7, "live_agents"),
        ({"per_minute": 7, "max_agents_per_tree": 100}, 7, "spawns_per_minute"),
    ],
    ids=["ever in the tree", "live in all", "in a minute"],
)
async def test_every_other_limit_holds_as_well(
    bench: SpawnBench, settings: dict[str, Any], admitted: int, limit: str
) -> None:
    bench.set(**settings)

    taken, refused = await storm(bench)

    assert len(taken) == admitted
    assert {each.details["limit"] for each in refused} == {limit}


@pytest.mark.parametrize(
    "limits",
    [{"max_agents_per_tree": 11}, {"max_live": 11, "max_agents_per_tree": 100}],
    ids=["in the tree", "live in all"],
)
async def test_what_has_ended_makes_room_for_as_many(bench: SpawnBench, limits: dict[str, Any]) -> None:
    """FP6: the count goes down again, whatever the end was, and also of those that never began."""
    bench.set(**limits)
    first, _ = await storm(bench)
    never_began, *running = first[:5]
    await stop_cascade(bench.desk.services, bench.caller, never_began)
    ends = (
        AgentEventKind.ENDED_WELL,
        AgentEventKind.ENDED_BADLY,
        AgentEventKind.RAN_OUT,
        AgentEventKind.FOUND_DEAD,
    )
    for agent_id, event in zip(running, ends, strict=True):
        outcome = TurnOutcome.SUCCESS if event is AgentEventKind.ENDED_WELL else TurnOutcome.DIED
        await bench.run_it(agent_id)
        await bench.end(agent_id, event, 1, outcome=outcome)

    second, _ = await storm(bench)

    assert len(first) == 10
    assert len(second) == 5


async def test_p3_the_limits_of_a_tree_hold_whoever_names_the_parent(bench: SpawnBench) -> None:
    bench.set(max_agents_per_tree=4, max_depth=2)
    child = await bench.started()
    deepest = await bench.started(by=child)
    below_deepest = [
        await bench.code(bench.ask(by=deepest)),
        await bench.code(bench.ask_as_operator(parent=deepest.agent_id)),
    ]
    await bench.ask_as_operator(parent=bench.root.agent_id)

    below_root = [
        await bench.code(bench.ask()),
        await bench.code(bench.ask_as_operator(parent=bench.root.agent_id)),
    ]

    assert below_deepest == ["DEPTH_EXCEEDED"] * 2
    assert below_root == ["QUOTA_EXCEEDED"] * 2


async def test_fp8_each_agent_has_a_rate_of_its_own(bench: SpawnBench) -> None:
    bench.set(per_minute=2)
    one, other = await bench.started(), await bench.started()

    told = [await bench.code(bench.ask(by=each)) for each in (bench.root, one, one, one, other)]

    assert told == ["RATE_LIMITED", "done", "done", "RATE_LIMITED", "done"]


async def test_trees_are_counted_apart(bench: SpawnBench) -> None:
    bench.set(max_agents_per_tree=2)
    other = await bench.run_it(AgentId(str((await bench.ask_as_operator())["agentId"])))

    taken = await asyncio.gather(bench.spawn(), bench.spawn(by=other))

    assert len(set(taken)) == 2
    code = await bench.code(bench.ask(caller=OperatorCaller(), parent=other.agent_id))
    assert code == "QUOTA_EXCEEDED"
