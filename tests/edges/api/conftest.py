"""A real store, the real console channel and the real server on a Unix socket."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from orchestrator.api.credentials import Credentials
from orchestrator.api.operator_token import ensure_operator_token
from orchestrator.api.server import ApiServer
from orchestrator.app.parts import NoCheckpoints, SystemClock
from orchestrator.channels.console import ConsoleChannel
from orchestrator.cli.store_services import NoAgents
from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.commands.hearing.receiving import receive_message
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.contracts.seams import Clock
from orchestrator.engine.event_feed import EventFeed
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.paths import Paths
from orchestrator.settings.api import ApiSettings
from orchestrator.settings.tree import Settings
from orchestrator.store.database import Database
from tests.agreement.spawn_faces.faces import Faces, open_faces
from tests.edges.commands.conftest import open_desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench
from tests.support.listening import until_open
from tests.support.store_template import lay_store

MAIN = Jid("console:main")
UNIX_ONLY = Settings(api=ApiSettings(loopback=False, refusals_per_minute=1_000_000))
"""A server that takes no port, and that tests may ask wrongly as often as they like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that runs, and what is behind it."""

    services: Services
    console: ConsoleChannel
    server: ApiServer
    paths: Paths
    token: str

    def client(self, *, token: str | None = None) -> httpx.AsyncClient:
        """A client with this token, by default the operator's; empty for none."""
        used = self.token if token is None else token
        return httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=str(self.paths.socket)),
            base_url="http://dovecote",
            headers={"Authorization": f"Bearer {used}"} if used else {},
        )


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths(home=tmp_path)
    paths.ensure()
    return paths


@contextlib.asynccontextmanager
async def served_at(
    paths: Paths, settings: Settings = UNIX_ONLY, *, clock: Clock | None = None
) -> AsyncIterator[Served]:
    """Everything that a request touches, running."""
    wakeups = TopicWakeups()
    await asyncio.to_thread(lay_store, paths.database)
    database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
    clock = clock or SystemClock()
    console = ConsoleChannel(clock=clock, wakeups=wakeups, file_path=paths.console_file)
    services = Services(
        db=database,
        clock=clock,
        wakeups=wakeups,
        checkpoints=NoCheckpoints(),
        settings=settings,
        paths=paths,
        text_limit=lambda _: 4_000,
        control=NoAgents(),
    )

    async def inbox(message: InboundMessage) -> None:
        await receive_message(services, message, "console")

    await console.connect(inbox)
    await add_group(services, HostCaller(), NewGroup(jid=MAIN, folder="main", is_main=True))
    token = ensure_operator_token(paths.operator_token)
    events = await EventFeed.open(services)
    server = ApiServer(
        services=services,
        door=console,
        credentials=Credentials(token, services),
        socket_path=paths.socket,
        live=events,
    )
    async with asyncio.TaskGroup() as tasks:
        feeding = tasks.create_task(events.run())
        serving = tasks.create_task(server.run())
        try:
            await until_open(paths.socket)
            yield Served(services=services, console=console, server=server, paths=paths, token=token)
        finally:
            serving.cancel()
            feeding.cancel()
    await database.close()


@pytest.fixture
async def served(paths: Paths) -> AsyncIterator[Served]:
    async with served_at(paths) as each:
        yield each


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[SpawnBench]:
    """A family's agent that may start others."""
    async with open_desk(tmp_path) as desk:
        yield await open_bench(desk)


@pytest.fixture
async def faces(bench: SpawnBench) -> AsyncIterator[Faces]:
    """Every way in which that agent is asked for a child."""
    async with open_faces(bench) as each:
        yield each
