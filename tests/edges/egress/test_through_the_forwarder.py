"""An agent's program on its container's loopback, a forwarder, the proxy and a provider, all of them real."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from container.forwarder import forward, listen
from orchestrator.contracts.egress_seams import EgressDoor
from orchestrator.contracts.records.egress import EgressLimits
from tests.edges.egress.conftest import World
from tests.support.egress_world import POLICY, message, parsed, read_all, request, socket_of
from tests.support.scripted_upstream import Asked, stream_head


@asynccontextmanager
async def _loopback(door: EgressDoor) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    listener = listen(0)
    port = listener.getsockname()[1]
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        forwarding = tasks.create_task(forward(listener, socket_of(door.directory)))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        yield reader, writer
        writer.transport.abort()
        forwarding.cancel()


async def test_a_stream_comes_through_piece_by_piece(world: World) -> None:
    door = await world.proxy.open(POLICY)
    may_go_on = asyncio.Event()

    async def speak(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head() + b"data: one\n\n")
        await may_go_on.wait()
        writer.write(b"data: two\n\n")

    world.provider.answer = speak
    async with _loopback(door) as (reader, writer):
        writer.write(message())
        first = await reader.readuntil(b"one\n\n")
        may_go_on.set()
        rest = await read_all(reader)

    assert parsed(first + rest).body == b"data: one\n\ndata: two\n\n"


async def test_a_program_that_is_refused_in_the_middle_of_its_body_still_reads_why(world: World) -> None:
    door = await world.proxy.open(replace(POLICY, limits=EgressLimits(request_bytes=100_000)))
    head = request("POST", "/v1/messages", "Transfer-Encoding: chunked")

    async with _loopback(door) as (reader, writer):
        writer.write(head)
        for _ in range(16):
            writer.write(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
            await writer.drain()
        answer = parsed(await read_all(reader))

    assert answer.status == 413
    assert answer.is_whole
    assert world.provider.connections == 0
