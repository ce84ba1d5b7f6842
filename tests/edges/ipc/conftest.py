"""A keeper of boxes on a real disk with a real store, and the hand of an agent in its box."""

import asyncio
import contextlib
import json
import os
import resource
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, HostCaller
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid
from orchestrator.contracts.records.agents import StopReach
from orchestrator.contracts.records.spawns import StopOutcome, StopReason
from orchestrator.contracts.seams import BoxPort
from orchestrator.contracts.wire.boxes import MESSAGES
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.ipc.boxes import BoxKeeper
from orchestrator.ipc.hints import Hints
from orchestrator.ipc.inotify_hints import InotifyHints
from orchestrator.ipc.lane import IntakeLimits
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store import agents
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.agreement.runners.conftest import lacking
from tests.support.store_rows import agent
from tests.support.store_template import lay_store


class RealClock:
    """The real time."""

    def now(self) -> datetime:
        """This instant."""
        return datetime.fromtimestamp(time.clock_gettime(time.CLOCK_REALTIME), UTC)

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()


@dataclass
class Milestones:
    """Implements `Checkpoints`: remembers what was reached, and does there what a test wants."""

    reached_so_far: list[str] = field(default_factory=list)
    at: dict[str, Callable[[], None]] = field(default_factory=dict)

    def reached(self, name: str) -> None:
        """Called by the code under test."""
        self.reached_so_far.append(name)
        self.at.get(name, lambda: None)()


class NoAgents:
    """Implements `AgentControl` where none runs."""

    async def close_chat(self, chat: Jid) -> None:
        """No agent runs here."""

    async def hand_over_answers(self, agent_id: AgentId) -> None:
        """No agent waits here."""

    async def stop_answer(self, chat: Jid) -> StopReach:
        """Nothing to stop."""
        return StopReach.NOTHING_RAN

    async def stop_chat(self, chat: Jid) -> StopReach:
        """Nothing to stop."""
        return StopReach.NOTHING_RAN

    async def stop_agents(self, agents: Sequence[AgentId], reason: StopReason) -> list[StopOutcome]:
        """None of them runs."""
        return []

    def begin_stop(self, agents: Sequence[AgentId], reason: StopReason) -> None:
        """None of them runs."""


@dataclass
class AgentHand:
    """What the agent in the container can do: anything, below its box."""

    caller: AgentCaller
    port: BoxPort
    path: Path

    def drop(self, name: str | bytes, content: object, *, directory: str = MESSAGES) -> None:
        """Write a file under a temporary name and rename it in. content: bytes, or a JSON value."""
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        into = os.fsencode(self.path / directory)
        temporary = os.path.join(into, b".being.tmp")
        with open(temporary, "wb") as file:
            file.write(raw)
        os.rename(temporary, os.path.join(into, os.fsencode(name)))

    def say(self, name: str, text: str, **more: object) -> None:
        """Drop a message to the own chat."""
        self.drop(name, {"type": "message", "chatJid": self.caller.chat_jid, "text": text, **more})

    def lying(self, directory: str = MESSAGES) -> list[str]:
        """What lies in a directory, but for temporary files."""
        return sorted(name for name in os.listdir(self.path / directory) if not name.endswith(".tmp"))

    def replies(self) -> dict[str, Any]:
        """The answers, by request id, but for those that are still being written."""
        lying = [self.path / "replies" / name for name in self.lying("replies")]
        return {path.stem: json.loads(path.read_text()) for path in lying}


@dataclass
class World:
    """Everything around the boxes."""

    services: Services
    keeper: BoxKeeper
    milestones: Milestones
    violations: list[tuple[BoxName, str]]
    home: Path

    async def agent(self, name: str, *, is_main: bool = False) -> AgentHand:
        """A fresh, watched box for the agent of the group of that name."""
        port = await self.keeper.make(BoxName(name), uid=None, gid=None)
        hand = self._hand(name, port, is_main=is_main)
        await self.services.db.run(lambda tx: _remember(tx, hand.caller))
        self.keeper.watch(hand.caller, port)
        return hand

    async def agent_again(self, name: str) -> AgentHand:
        """The box that an earlier process left, not watched."""
        port = await self.keeper.reopen(BoxName(name))
        assert port is not None
        return self._hand(name, port, is_main=False)

    def _hand(self, name: str, port: BoxPort, *, is_main: bool) -> AgentHand:
        box = BoxName(name)
        caller = AgentCaller(
            agent_id=AgentId(f"agent-{name}"),
            box=box,
            group=GroupFolder(name),
            chat_jid=Jid(f"console:{name}"),
            is_main=is_main,
        )
        return AgentHand(caller=caller, port=port, path=Path(self.keeper.path_of(box)))

    async def texts(self) -> list[str]:
        """What waits to be sent, in order."""
        async with self.services.db.reader() as reader:
            return [row["text"] for row in await reader.all("SELECT text FROM outbox ORDER BY id")]

    def reasons(self, box: str) -> list[dict[str, Any]]:
        """Why files of that box were refused, oldest first."""
        folder = self.home / "data" / "ipc" / "errors" / box
        if not folder.is_dir():
            return []
        return [json.loads(path.read_text()) for path in sorted(folder.glob("*.reason.json"))]

    def evidence(self, box: str) -> list[bytes]:
        """The copies of what was refused."""
        folder = self.home / "data" / "ipc" / "errors" / box
        return [
            path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.endswith(".reason.json")
        ]


def _remember(tx: Transaction, caller: AgentCaller) -> None:
    """The record of an agent: operators alone spoke to it."""
    if agents.get(tx, caller.agent_id) is None:
        record = agent(caller.agent_id, box=caller.box, group=caller.group, chat_jid=caller.chat_jid)
        agents.add(tx, replace(record, is_main=caller.is_main))


@contextlib.asynccontextmanager
async def world_at(
    home: Path,
    *,
    limits: IntakeLimits | None = None,
    poll_s: float = 0.05,
    make_hints: Callable[[], Hints] | None = InotifyHints,
) -> AsyncIterator[World]:
    """An open store and keeper; its intake does not run yet."""
    paths = Paths(home=home)
    paths.ensure()
    wakeups = TopicWakeups()
    await asyncio.to_thread(lay_store, paths.database)
    database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
    milestones = Milestones()
    services = Services(
        db=database,
        clock=RealClock(),
        wakeups=wakeups,
        checkpoints=milestones,
        settings=Settings(),
        paths=paths,
        text_limit=lambda chat: 4_000,
        control=NoAgents(),
    )
    for folder in ("family", "club", "main"):
        if not (paths.groups / folder).exists():
            new = NewGroup(jid=Jid(f"console:{folder}"), folder=folder, is_main=folder == "main")
            await add_group(services, HostCaller(), new)
    violations: list[tuple[BoxName, str]] = []
    keeper = await BoxKeeper.open(
        services,
        path=paths.ipc,
        limits=limits or IntakeLimits(per_minute=None),
        poll_s=poll_s,
        make_hints=make_hints,
        on_violation=lambda box, sentence: violations.append((box, sentence)),
    )
    try:
        yield World(services=services, keeper=keeper, milestones=milestones, violations=violations, home=home)
    finally:
        await keeper.close()
        await database.close()


@contextlib.asynccontextmanager
async def running(world: World) -> AsyncIterator[None]:
    """The watching and the intake run inside."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(world.keeper.run())
        yield
        assert not task.done()
        task.cancel()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A world whose intake does not run: tests drain and settle by hand."""
    async with world_at(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def live(world: World) -> AsyncIterator[World]:
    """A world whose intake runs."""
    async with running(world):
        yield world


def mount_small_disk(at: Path, *, size: str) -> None:
    """Lay a disk of that size over a directory. Where that cannot be the test is skipped; CI fails."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(at)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode != 0:
        lacking("a small disk can be mounted by root only")


def unmount(at: Path) -> None:
    """Take it away again."""
    subprocess.run(["umount", str(at)], check=True)


@contextlib.contextmanager
def no_more_files() -> Iterator[None]:
    """This process may open nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
