"""Spawns on a desk: a family's agent that may start others, and agents moved along by hand."""

import asyncio
import itertools
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any, Final

from orchestrator.commands.execute import execute_request
from orchestrator.commands.running.burial import bury
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.spawning.spawning import spawn_for
from orchestrator.contracts.callers import AgentCaller, AnyCaller, OperatorCaller, caller_of
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import AgentId, GroupFolder, RequestId, TreeId, TurnId
from orchestrator.contracts.records.agents import (
    Agent,
    AgentStatus,
    DeathCause,
    EndReason,
    ExitStatus,
    TurnOutcome,
)
from orchestrator.contracts.records.spawns import SpawnRecord, SpawnSpec, Tree
from orchestrator.contracts.wire.codec import Wire
from orchestrator.contracts.wire.replies import Reply
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.settings.spawn import SpawnSettings, WorkspaceSettings
from orchestrator.settings.tree import QueueSettings, Settings
from orchestrator.store import agents, event_log, spawns, trees
from orchestrator.store.group_folders import create_group_folder
from orchestrator.store.requests import RequestKey
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import OTHER_CHAT, add_group, agent

PLENTY: Final[dict[str, Any]] = {"per_minute": 100_000}
TURN = TurnId("turn-1")


class SpawnBench:
    """What tests of spawns do to a desk. root: the family's agent, in a turn."""

    def __init__(self, desk: Desk, root: Agent) -> None:
        self.desk = desk
        self.root = root
        self._numbers = itertools.count(1)

    @property
    def caller(self) -> AgentCaller:
        """The family's agent."""
        return caller_of(self.root)

    def set(self, *, max_live: int = 1_000, roots: tuple[str, ...] = (), **spawn: Any) -> None:
        """The limits from now on; those that are not named leave plenty of room."""
        self.desk.set_settings(
            Settings(
                spawn=SpawnSettings(**(PLENTY | spawn)),
                queue=QueueSettings(max_live=max_live),
                workspaces=WorkspaceSettings(roots=roots),
            )
        )

    async def spawn(
        self, task: str = "count the doves", *, by: Agent | None = None, **fields: Any
    ) -> AgentId:
        """A child of the family's agent, or of another one; its id."""
        answer = await self.ask(task, by=by, **fields)
        return AgentId(str(answer["agentId"]))

    async def ask(
        self,
        task: str = "count the doves",
        *,
        by: Agent | None = None,
        caller: AnyCaller | None = None,
        parent: AgentId | None = None,
        **fields: Any,
    ) -> Mapping[str, object]:
        """What an agent, or another caller, is told at once."""
        asks = caller or caller_of(by or self.root)
        return await spawn_for(self.desk.services, asks, SpawnSpec(task=task, **fields), parent=parent)

    async def ask_as_operator(
        self, task: str = "count", parent: AgentId | None = None, **fields: Any
    ) -> Mapping[str, object]:
        """What the operator is told at once."""
        return await self.ask(task, caller=OperatorCaller(), parent=parent, **fields)

    async def code(self, asked: Awaitable[object]) -> str:
        """The code of the refusal, which says what to do; `done` if there was none."""
        try:
            await asked
        except DovecoteError as error:
            return error.code.value if error.suggestion else "no way out given"
        return "done"

    async def by_box(self, request: Wire, *, caller: AgentCaller | None = None) -> Reply:
        """The answer to a request file."""
        asks, number = caller or self.caller, next(self._numbers)
        key = RequestKey(
            box=asks.box,
            directory="agents",
            name=f"{number}.json",
            inode=number,
            ctime_ns=1,
            sha256=bytes([number % 256]) * 32,
        )
        wanted = RequestId(f"r-{number}")
        return await execute_request(self.desk.services, asks, request, key=key, request_id=wanted)

    async def agent(self, agent_id: AgentId) -> Agent:
        """Its record."""
        found = await self.desk.run(lambda tx: agents.get(tx, agent_id))
        assert found is not None
        return found

    async def record(self, agent_id: AgentId) -> SpawnRecord:
        """What it was spawned with."""
        found = await self.desk.run(lambda tx: spawns.get(tx, agent_id))
        assert found is not None
        return found

    async def tree(self, tree_id: TreeId | None = None) -> Tree:
        """The record of the family's tree, or of another."""
        found = await self.desk.run(lambda tx: trees.get(tx, tree_id or self.root.tree_id))
        assert found is not None
        return found

    async def run_it(self, agent_id: AgentId) -> Agent:
        """It gets its place to run, and takes its input."""
        at = self.desk.now

        def body(tx: Transaction) -> None:
            assert agents.claim(tx, agent_id, runner="process", provider="script", at=at)
            assert agents.move(tx, agent_id, was=AgentStatus.STARTING, now=AgentStatus.RUNNING)
            agents.start_turn(tx, agent_id, TURN, self.root.chat_jid, at=at)

        await self.desk.run(body)
        record = await self.record(agent_id)
        if record.is_own_workspace:
            await asyncio.to_thread(Path(record.workspace).mkdir)
        return await self.agent(agent_id)

    async def started(
        self, task: str = "count the doves", *, by: Agent | None = None, **fields: Any
    ) -> Agent:
        """A child that runs."""
        return await self.run_it(await self.spawn(task, by=by, **fields))

    async def end(
        self,
        agent_id: AgentId,
        event: AgentEventKind = AgentEventKind.ENDED_WELL,
        code: int | None = 0,
        *,
        outcome: TurnOutcome = TurnOutcome.SUCCESS,
    ) -> None:
        """Its turn is over, and its process gone. code: None: nobody saw with which."""
        remains = Remains(
            cause=DeathCause.AGENT,
            reason=EndReason.EXITED,
            event=event,
            acks={},
            unread=(),
            exit=None if code is None else ExitStatus(code=code),
        )
        at, services = self.desk.now, self.desk.services

        def body(tx: Transaction) -> None:
            agents.end_turn(tx, agent_id, TURN, outcome=outcome, at=at)
            bury(tx, services, agent_id, remains, at=at)

        await self.desk.run(body)

    async def events(self, tree_id: TreeId | None = None) -> list[str]:
        """The types of what the log has of a tree, the family's by default, in order."""
        return [each for each, _ in await self.logged(tree_id or self.root.tree_id)]

    async def logged(self, tree_id: TreeId | None) -> list[tuple[str, Mapping[str, object]]]:
        """Of each event of a tree, or of none, its type and its fields."""
        async with self.desk.services.db.reader() as reader:
            wanted = tree_id or TreeId("")
            found = await event_log.newest(reader, up_to=2**62, count=10_000, tree_id=wanted)
        return [(each.type, each.body) for each in found]


async def open_bench(desk: Desk) -> SpawnBench:
    """A bench on a desk, with the folders of two groups and the family's running agent."""
    services = desk.services
    held = agent("agent-root", status=AgentStatus.RUNNING, tree_id=TreeId("tree-root"), started_at=desk.now)

    def body(tx: Transaction) -> None:
        add_group(tx, "main", OTHER_CHAT, is_main=1)
        agents.add(tx, held)
        agents.start_turn(tx, held.agent_id, TURN, held.chat_jid, at=desk.now)

    await desk.run(body)
    for folder in ("family", "main"):
        create_group_folder(services.paths.groups, GroupFolder(folder), template="")
    bench = SpawnBench(desk, held)
    bench.set()
    return bench
