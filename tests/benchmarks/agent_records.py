"""1,000 live agents in 100 trees: how long a look at them takes, as a program and as a person asks for it."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Final

from orchestrator.app.parts import NoCheckpoints, SystemClock
from orchestrator.cli.store_services import NoAgents
from orchestrator.cli.tree_lines import tree_lines
from orchestrator.commands.agents.agent_views import agent_views, as_metadata, as_tree, tree_view
from orchestrator.commands.agents.event_writing import note_said
from orchestrator.commands.agents.overview import overview
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import Agent, AgentKind, AgentStatus
from orchestrator.contracts.records.spawns import SpawnRecord
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.settings.tree import Settings
from orchestrator.store import agents, spawns, trees
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.benchmarks.bench_app import bench_home
from tests.benchmarks.table import Row, at_most
from tests.support.store_rows import agent, spawn_record

_TREES: Final = 100
_AGENTS: Final = 10
_ROUNDS: Final = 7
_PLAIN: Final = "SELECT * FROM agents AS a LEFT JOIN spawns AS s ON s.agent_id = a.agent_id"


async def run() -> list[Row]:
    """The floor reads the same rows in one plain query, and makes JSON of them."""
    with bench_home() as paths:
        paths.ensure()
        database = await Database.open(paths.database, backups=paths.backups, on_wake=None)
        services = Services(
            db=database,
            clock=SystemClock(),
            wakeups=TopicWakeups(),
            checkpoints=NoCheckpoints(),
            settings=Settings(),
            paths=paths,
            text_limit=lambda _: 4_000,
            control=NoAgents(),
        )
        await database.run(lambda tx: _fill(tx, services))
        floor_ms = await asyncio.to_thread(_floor_ms, str(paths.database))
        name = f"{_TREES * _AGENTS:,} live agents"
        rows = [
            Row(
                name=f"{name}: status of all, as JSON",
                figure=await _median_ms(lambda: _status(services)),
                unit="ms",
                floor=floor_ms,
            ),
            Row(
                name=f"{name}: status of one tree, as JSON",
                figure=await _median_ms(lambda: _one_tree(services)),
                unit="ms",
            ),
            Row(
                name=f"{name}: what `dovecote top` shows, drawn",
                figure=await _median_ms(lambda: _drawn(services)),
                unit="ms",
                floor=floor_ms,
                bar=at_most(1_000),
            ),
        ]
        await database.close()
    return rows


async def _status(services: Services) -> str:
    return json.dumps([as_metadata(each) for each in await agent_views(services, OperatorCaller())])


async def _one_tree(services: Services) -> str:
    return json.dumps(as_tree(await tree_view(services, OperatorCaller(), tree_id="tree-0")))


async def _drawn(services: Services) -> str:
    return "\n".join(tree_lines(await overview(services, OperatorCaller(), ended_within_s=0)))


async def _median_ms(look: Callable[[], Awaitable[str]]) -> float:
    took_s: list[float] = []
    for _ in range(_ROUNDS):
        began = time.monotonic()
        assert len(await look()) > _AGENTS
        took_s.append(time.monotonic() - began)
    return median(took_s) * 1000


def _floor_ms(path: str) -> float:
    took_s: list[float] = []
    with sqlite3.connect(path) as store:
        for _ in range(_ROUNDS):
            began = time.monotonic()
            assert len(json.dumps(store.execute(_PLAIN).fetchall())) > _AGENTS
            took_s.append(time.monotonic() - began)
    return median(took_s) * 1000


def _fill(tx: Transaction, services: Services) -> None:
    """Trees of a root, three children, and two more below each of these."""
    for tree in range(_TREES):
        tree_id, root = TreeId(f"tree-{tree}"), _id(tree, 0)
        trees.add(tx, tree_id, root, at=services.clock.now())
        for number in range(_AGENTS):
            parent = None if number == 0 else _id(tree, (number - 1) // 3)
            made = _agent(services, tree_id, _id(tree, number), parent, depth=min(number, 1) + (number > 3))
            agents.add(tx, made)
            if parent is not None:
                trees.count_child(tx, tree_id, depth=made.depth)
                spawns.add(tx, _spawn(services, made))
            for line in range(3):
                note_said(tx, made, f"line {line} of what it is doing", at=services.clock.now())


def _id(tree: int, number: int) -> AgentId:
    return AgentId(f"agent-{tree}-{number}")


def _agent(
    services: Services, tree_id: TreeId, agent_id: AgentId, parent: AgentId | None, *, depth: int
) -> Agent:
    return agent(
        agent_id,
        tree_id=tree_id,
        status=AgentStatus.RUNNING,
        kind=AgentKind.SESSION if parent is None else AgentKind.JOB,
        parent_agent_id=parent,
        depth=depth,
        started_at=services.clock.now(),
    )


def _spawn(services: Services, made: Agent) -> SpawnRecord:
    at = services.clock.now()
    return spawn_record(
        made.agent_id,
        parent_agent_id=made.parent_agent_id,
        caller_key=str(made.parent_agent_id),
        task="Write the tests of one module",
        at=at,
    )
