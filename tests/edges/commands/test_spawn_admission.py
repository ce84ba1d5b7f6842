"""Limits hold however many ask at once: who is counted and who is added stands in one transaction (FP6).

More repetitions: `DOVECOTE_SPAWN_REPEATS=200 pytest tests/edges/commands/test_spawn_admission.py`.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import LimitExceeded
from orchestrator.contracts.ids import AgentId
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


async def test_what_has_ended_makes_room_for_as_many(bench: SpawnBench) -> None:
    """FP6: the count goes down again."""
    bench.set(max_agents_per_tree=11)
    first, _ = await storm(bench)
    for agent_id in first[:4]:
        await bench.run_it(agent_id)
        await bench.end(agent_id)

    second, _ = await storm(bench)

    assert len(second) == 4


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
