"""An agent's WebSocket, with a peer that writes the frames of RFC 6455 by hand."""

import asyncio
import socket
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from orchestrator.egress.agent_sockets import AgentSocket

MASK = b"\0\0\0\0"
"""Leaves what it masks as it is."""
BEGINS_A_TEXT = b"\x01\x80" + MASK
GOES_ON_EMPTY = b"\x00\x80" + MASK
ENDS = b"\x80\x82" + MASK + b"hi"
PIECES = 60_000


@pytest.fixture
async def ends() -> AsyncIterator[tuple[AgentSocket, socket.socket]]:
    """An open WebSocket and the agent's end of its connection."""
    ours, agents = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    yield AgentSocket(reader, writer, ahead=b"", idle_s=60), agents
    agents.close()
    writer.close()
    await writer.wait_closed()


async def test_attack_a_message_in_empty_pieces_without_end_fills_no_memory(
    ends: tuple[AgentSocket, socket.socket],
) -> None:
    ours, agents = ends
    tracemalloc.start()
    try:
        async with asyncio.TaskGroup() as tasks:
            receiving = tasks.create_task(ours.receive())
            await asyncio.to_thread(agents.sendall, BEGINS_A_TEXT + GOES_ON_EMPTY * PIECES + ENDS)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert receiving.result() == "hi"
    assert most < PIECES * 100, "each piece was kept"


async def test_who_has_gone_sends_no_more(ends: tuple[AgentSocket, socket.socket]) -> None:
    ours, agents = ends
    agents.close()

    assert await ours.receive() is None
