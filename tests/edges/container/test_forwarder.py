"""Bytes between a container's own loopback and the proxy's socket."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from container.forwarder import DEFAULT_SOCKET, PORT_VARIABLE, SOCKET_VARIABLE, forward, listen
from orchestrator.contracts.records.egress import EGRESS_SOCKET, EGRESS_TARGET
from tests.support.egress_world import read_all
from tests.support.eventually import eventually

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def _proxy(path: Path, serve: Serve) -> AsyncIterator[None]:
    server = await asyncio.start_unix_server(serve, path)
    try:
        yield
    finally:
        server.close()


@contextlib.asynccontextmanager
async def _forwarder(proxy: Path) -> AsyncIterator[int]:
    listener = listen(0)
    port: int = listener.getsockname()[1]
    async with asyncio.TaskGroup() as tasks:
        forwarding = tasks.create_task(forward(listener, proxy))
        yield port
        forwarding.cancel()


async def test_what_an_agent_says_is_answered_after_its_end_and_so_is_the_next_one(tmp_path: Path) -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read()).upper())
        writer.close()

    async with _proxy(tmp_path / "proxy.sock", shout), _forwarder(tmp_path / "proxy.sock") as port:
        answers = []
        for text in (b"one", b"x" * 3_000_000):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(text)
            writer.write_eof()
            answers.append(await asyncio.wait_for(read_all(reader), 30))
            writer.close()

    assert answers == [b"ONE", b"X" * 3_000_000]


async def test_an_end_on_either_side_is_an_end_on_the_other(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        if await reader.read() == b"":
            ended.set()
        writer.close()

    async with _proxy(tmp_path / "proxy.sock", greet), _forwarder(tmp_path / "proxy.sock") as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        greeting = await reader.readexactly(5)
        writer.transport.abort()

        await asyncio.wait_for(ended.wait(), 30)

    assert greeting == b"hello"


async def test_what_nobody_reads_is_not_piled_up(tmp_path: Path) -> None:
    written, whole = 0, 64 * 1024**2

    async def flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        with contextlib.suppress(OSError):
            while written < whole:
                writer.write(b"x" * 65_536)
                await writer.drain()
                written += 65_536
        writer.close()

    async with _proxy(tmp_path / "proxy.sock", flood), _forwarder(tmp_path / "proxy.sock") as port:
        with socket.create_connection(("127.0.0.1", port)):
            last = -1
            while written != last:
                last = written
                for _ in range(200):
                    await asyncio.sleep(0)

            assert 0 <= written < whole // 2


async def test_a_proxy_that_is_not_there_costs_one_connection(tmp_path: Path) -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    path = tmp_path / ("deep" * 30) / "proxy.sock"
    async with _forwarder(path) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        before = await asyncio.wait_for(read_all(reader), 30)
        writer.close()
        path.parent.mkdir()
        here = os.open(path.parent, os.O_PATH)
        async with _proxy(Path(f"/proc/self/fd/{here}/proxy.sock"), greet):
            os.close(here)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            after = await asyncio.wait_for(read_all(reader), 30)
            writer.close()

    assert (before, after) == (b"", b"hello")


async def test_as_a_program_it_listens_where_its_environment_says_and_stops_when_told(tmp_path: Path) -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    with listen(0) as found:
        port = found.getsockname()[1]
    environment = {**os.environ, PORT_VARIABLE: str(port), SOCKET_VARIABLE: str(tmp_path / "proxy.sock")}
    async with _proxy(tmp_path / "proxy.sock", greet):
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "container.forwarder", env=environment
        )

        async def hears() -> bool:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                came = await read_all(reader)
                writer.close()
                return came == b"hello"
            return False

        await eventually(hears)
        program.terminate()
        assert await asyncio.wait_for(program.wait(), 30) != 0


@pytest.mark.parametrize("port", ["", "x", "-1"])
def test_a_port_that_is_none_is_said(port: str) -> None:
    environment = {**os.environ, PORT_VARIABLE: port}

    ended = subprocess.run(
        [sys.executable, "-m", "container.forwarder"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 2
    assert PORT_VARIABLE in ended.stderr


def test_the_socket_is_where_the_host_mounts_it() -> None:
    assert f"{EGRESS_TARGET}/{EGRESS_SOCKET}" == DEFAULT_SOCKET
