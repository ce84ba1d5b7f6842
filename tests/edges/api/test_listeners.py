"""The sockets that the API listens on."""

import asyncio
import os
import socket
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from orchestrator.api.listeners import listening_at, listening_on
from tests.support.eventually import eventually


def opened(kind: str, tmp_path: Path) -> AbstractContextManager[socket.socket]:
    return listening_at(tmp_path / "door.sock") if kind == "unix" else listening_on("127.0.0.1", 0)


@pytest.mark.parametrize("kind", ["unix", "loopback"])
async def test_who_connects_as_it_is_closed_is_not_accepted_from_nothing(kind: str, tmp_path: Path) -> None:
    """As after a server that was cancelled: the loop looks at the listener and has just seen somebody."""
    loop, accepted, closed = asyncio.get_running_loop(), list[int](), list[int]()
    told, tells = os.pipe()
    with ExitStack() as stack, socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET) as client:
        listener = stack.enter_context(opened(kind, tmp_path))

        def close() -> None:
            closed.append(os.read(told, 1)[0])
            stack.close()

        loop.add_reader(told, close)
        loop.add_reader(listener, lambda: accepted.append(listener.fileno()))
        os.write(tells, b"x")  # seen before the connection, in the same round of the loop
        client.connect(listener.getsockname())

        await eventually(lambda: closed)

    loop.remove_reader(told)
    os.close(told)
    os.close(tells)
    assert accepted == []


async def test_a_listener_that_its_server_closed_is_no_fault(tmp_path: Path) -> None:
    with listening_at(tmp_path / "door.sock") as listener:
        listener.close()

    assert not (tmp_path / "door.sock").exists()
