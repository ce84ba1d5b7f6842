"""`python -m tests.benchmarks.event_server HOME real|bare`: what hands out events, in a process of its own.

Says `ready`, and at a line on standard input lets things happen for a while; then says how much it grew.
"""

import asyncio
import contextlib
import json
import logging
import os
import resource
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import structlog

from orchestrator.api.credentials import Credentials
from orchestrator.api.operator_token import ensure_operator_token
from orchestrator.api.server import ApiServer
from orchestrator.app.parts import NoCheckpoints, SystemClock
from orchestrator.channels.console import ConsoleChannel
from orchestrator.cli.store_services import NoAgents
from orchestrator.commands.services import Services
from orchestrator.contracts.events import AgentLogged
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.engine.event_feed import EventFeed
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.paths import Paths
from orchestrator.settings.api import ApiSettings
from orchestrator.settings.tree import Settings
from orchestrator.store import event_log, trees
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.benchmarks.agent_ready import resident_mib

TREES: Final = 100
SECONDS: Final = 10.0
PER_S: Final = 1_000
FILES: Final = 8_192
_TICK_S: Final = 0.02
_PER_TICK: Final = round(PER_S * _TICK_S)
Happen = Callable[[TreeId, str], Awaitable[object]]


async def serve(home: Path, *, is_bare: bool) -> None:
    """Open the socket; then a tick fifty times a second, one event after another over all trees."""
    opened = _bare(home) if is_bare else _real(home)
    async with opened as happen:
        before_mib = resident_mib(os.getpid())
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        count, began = 0, time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            while time.monotonic() - began < SECONDS:
                for _ in range(_PER_TICK):  # a slow commit does not make the next things happen later
                    tasks.create_task(_one(happen, count))
                    count += 1
                await asyncio.sleep(max(began + count / PER_S - time.monotonic(), 0))
        took_s, used_s = time.monotonic() - began, time.process_time()
        grown_mib = resident_mib(os.getpid()) - before_mib
        print(
            json.dumps({"count": count, "took_s": took_s, "grown_mib": grown_mib, "cpu_s": used_s}),
            flush=True,
        )
        await asyncio.to_thread(sys.stdin.readline)


def allow_many_files() -> None:
    """Each reader is a descriptor on both sides."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(FILES, hard), hard))


async def _one(happen: Happen, number: int) -> None:
    await happen(TreeId(f"tree-{number % TREES}"), f"{time.monotonic_ns()} {'x' * 60}")


def _plant_trees(tx: Transaction, at: datetime) -> None:
    """Nobody may watch a tree that is not there."""
    for number in range(TREES):
        trees.add(tx, TreeId(f"tree-{number}"), AgentId("agent-1"), at=at)


@contextlib.asynccontextmanager
async def _real(home: Path) -> AsyncIterator[Happen]:
    """Store, feed and API as in the product; each event is one transaction."""
    paths, wakeups = Paths(home=home), TopicWakeups()
    paths.ensure()
    database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
    clock = SystemClock()
    services = Services(
        db=database,
        clock=clock,
        wakeups=wakeups,
        checkpoints=NoCheckpoints(),
        settings=Settings(api=ApiSettings(loopback=False, requests_per_minute=1_000_000)),
        paths=paths,
        text_limit=lambda _: 4_000,
        control=NoAgents(),
    )
    await database.run(lambda tx: _plant_trees(tx, clock.now()))
    feed = await EventFeed.open(services)
    server = ApiServer(
        services=services,
        door=ConsoleChannel(clock=clock, wakeups=wakeups, file_path=paths.console_file),
        credentials=Credentials(ensure_operator_token(paths.operator_token), services),
        socket_path=paths.socket,
        live=feed,
    )

    async def happen(tree_id: TreeId, message: str) -> object:
        event = AgentLogged(agent_id=AgentId("agent-1"), tree_id=tree_id, depth=0, message=message)
        return await database.run(lambda tx: event_log.append(tx, tree_id, event, clock.now()))

    async with asyncio.TaskGroup() as tasks:
        serving, feeding = tasks.create_task(server.run()), tasks.create_task(feed.run())
        while not paths.socket.exists():  # noqa: ASYNC110 - another task makes it
            await asyncio.sleep(0.02)
        yield happen
        serving.cancel()
        feeding.cancel()
    await database.close()


@contextlib.asynccontextmanager
async def _bare(home: Path) -> AsyncIterator[Happen]:
    """The floor: the same bytes written to the same number of sockets, and nothing else."""
    paths, seqs = Paths(home=home), dict[str, int]()
    paths.ensure()
    ensure_operator_token(paths.operator_token)
    by_tree: dict[str, list[asyncio.StreamWriter]] = {}

    async def take_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        frame = await reader.readexactly(2)
        body = await reader.readexactly(4 + (frame[1] & 0x7F))
        asked = json.loads(bytes(each ^ body[n % 4] for n, each in enumerate(body[4:])))
        by_tree.setdefault(asked["treeId"], []).append(writer)
        writer.write(_frame({"type": "subscribed"}))

    async def happen(tree_id: TreeId, message: str) -> object:
        seqs[tree_id] = seqs.get(tree_id, 0) + 1
        frame = _frame({"treeId": tree_id, "seq": seqs[tree_id], "message": message, "type": "x" * 150})
        for writer in [*by_tree.get(tree_id, []), *by_tree.get("*", [])]:
            writer.write(frame)
        return None

    server = await asyncio.start_unix_server(take_in, str(paths.socket), backlog=2_000)
    yield happen
    server.close()


def _frame(plain: object) -> bytes:
    body = json.dumps(plain).encode()
    head = bytes([0x81, len(body)]) if len(body) < 126 else bytes([0x81, 126]) + len(body).to_bytes(2, "big")
    return head + body


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    allow_many_files()
    asyncio.run(serve(Path(sys.argv[1]), is_bare=sys.argv[2] == "bare"))
