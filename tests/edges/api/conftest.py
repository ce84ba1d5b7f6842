"""A real store, the real console channel and the real server on a Unix socket."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from orchestrator.api.credentials import Credentials, ensure_operator_token
from orchestrator.api.server import ApiServer
from orchestrator.app import NoCheckpoints, SystemClock
from orchestrator.channels.console import ConsoleChannel
from orchestrator.cli.store_services import NoAgents
from orchestrator.commands.chat import receive_message
from orchestrator.commands.groups import NewGroup, add_group
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store.database import Database

MAIN = Jid("console:main")


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
async def served_at(paths: Paths) -> AsyncIterator[Served]:
    """Everything that a request touches, running."""
    wakeups = TopicWakeups()
    database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
    clock = SystemClock()
    console = ConsoleChannel(clock=clock, wakeups=wakeups, file_path=paths.console_file)
    services = Services(
        db=database,
        clock=clock,
        wakeups=wakeups,
        checkpoints=NoCheckpoints(),
        settings=Settings(),
        paths=paths,
        text_limit=lambda _: 4_000,
        control=NoAgents(),
    )

    async def inbox(message: InboundMessage) -> None:
        await receive_message(services, message, "console")

    await console.connect(inbox)
    await add_group(services, HostCaller(), NewGroup(jid=MAIN, folder="main", is_main=True))
    token = ensure_operator_token(paths.operator_token)
    server = ApiServer(
        services=services, door=console, credentials=Credentials(token), socket_path=paths.socket
    )
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(server.run())
        try:
            await until_open(paths.socket)
            yield Served(services=services, console=console, server=server, paths=paths, token=token)
        finally:
            serving.cancel()
    await database.close()


async def until_open(socket: Path) -> None:
    """Wait until somebody listens."""
    async with asyncio.timeout(50):
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_unix_connection(os.fspath(socket))
                writer.close()
                await writer.wait_closed()
                return
            await asyncio.sleep(0.02)


@pytest.fixture
async def served(paths: Paths) -> AsyncIterator[Served]:
    async with served_at(paths) as each:
        yield each
