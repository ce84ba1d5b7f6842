"""A store that dies between any two of its statements: what lies on the disk then is the next life's."""

import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from orchestrator.commands.hearing.words_kept import bury_left
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.saying.delivery import mark_in_flight_unknown
from orchestrator.commands.services import Services
from orchestrator.contracts.records.agents import Agent, AgentStatus, DeathCause, EndReason
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.paths import Paths
from orchestrator.store import agents
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import CountedWakeups, Desk, StopRecorder, services_on
from tests.support.manual_clock import ManualClock
from tests.support.store_rows import add_group
from tests.support.store_template import lay_store

T = TypeVar("T")
_PARTS: Final = ("", "-wal")
_MEMORY: Final = "/dev/shm"
"""A kill -9 takes nothing from a file system in memory, and nothing waits for a disk there."""
_FOUND_DEAD: Final = Remains(
    cause=DeathCause.ORCHESTRATOR,
    reason=EndReason.ORCHESTRATOR_DIED,
    event=AgentEventKind.FOUND_DEAD,
    acks={},
    unread=(),
    exit=None,
)


class Killed(Exception):
    """The process was killed in the middle, and the store was opened again."""


class CrashStore:
    """One life of a store after another, each in a directory of its own below a temporary one."""

    def __init__(self) -> None:
        memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        self._root = tempfile.TemporaryDirectory(prefix="crash-store-", dir=memory)
        self._lives = 0
        self._left: int | None = None
        self._clock = ManualClock()
        self._database: Database | None = None
        self._desk: Desk | None = None

    @property
    def desk(self) -> Desk:
        """The commands, on the life that runs."""
        assert self._desk is not None
        return self._desk

    @property
    def _path(self) -> Path:
        return Path(self._root.name) / f"life-{self._lives}"

    async def open(self) -> None:
        """The first life."""
        await self._start()
        await self.desk.run(add_group)

    async def close(self) -> None:
        """The end of all lives."""
        if self._database is not None:
            await self._database.close()
        self._root.cleanup()

    async def attempt(self, work: Callable[[], Awaitable[T]], *, crash_after: int | None = None) -> T:
        """What `work` returns. crash_after: killed after so many statements of it, or at its end; then the
        store was opened again, its agents were found dead, and Killed is raised."""
        if crash_after is None:
            return await work()
        self._left = crash_after
        await work()
        if self._left is not None:
            self._keep()
        assert self._database is not None
        await self._database.close()
        self._lives += 1
        await self._start()
        raise Killed

    async def recover(self) -> None:
        """As at a start: every agent is dead, every text in flight unknown."""
        services, at = self.desk.services, self.desk.now
        for agent in await self.desk.run(agents.live):
            await self.desk.run(partial(_bury, services=services, agent=agent))
        await self.desk.run(partial(mark_in_flight_unknown, at=at))

    async def _start(self) -> None:
        paths = Paths(home=self._path)
        paths.ensure()
        lay_store(paths.database)
        wakeups, control = CountedWakeups(), StopRecorder()
        database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
        # The writer's own connection: only it knows where one statement ends and the next begins.
        database._connection.set_trace_callback(self._before_a_statement)
        services = services_on(database, paths, self._clock, wakeups, control)
        self._database, self._desk = database, Desk(services, self._clock, wakeups, control)

    def _before_a_statement(self, _sql: str) -> None:
        """In the writer's thread."""
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                self._keep()

    def _keep(self) -> None:
        """What a kill at this moment would leave on the disk."""
        self._left = None
        store = Paths(home=self._path).database
        kept = Paths(home=self._path.with_name(f"life-{self._lives + 1}"))
        kept.ensure()
        for part in _PARTS:
            if (source := store.with_name(store.name + part)).exists():
                shutil.copyfile(source, kept.database.with_name(store.name + part))


def _bury(tx: Transaction, *, services: Services, agent: Agent) -> None:
    has_started = agent.status is not AgentStatus.PENDING
    remains = _FOUND_DEAD if has_started else replace(_FOUND_DEAD, event=AgentEventKind.NOT_FOUND)
    bury_left(tx, services, agent, remains, at=services.clock.now())
