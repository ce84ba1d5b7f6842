"""The container's one way out: connections to its own `127.0.0.1` are carried to the proxy's socket.

Runs beside the agent runner, `python -m container.forwarder`, or in its event loop by `forward`. It looks
at no byte: what may pass is the proxy's to say. Source: agents.md section 5.
"""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

PORT_VARIABLE: Final = "DOVECOTE_EGRESS_PORT"
"""Where to listen; without it there is no way out and nothing to do."""
SOCKET_VARIABLE: Final = "DOVECOTE_EGRESS_SOCKET"
DEFAULT_SOCKET: Final = "/run/dovecote/egress/proxy.sock"

_PIECE_BYTES: Final = 256 * 1024
_BACKLOG: Final = 128
# `sun_path` holds 108 bytes with the closing NUL.
_MAX_ADDRESS_BYTES: Final = 107
# Out of descriptors, or the proxy is starting: the next try may find it otherwise.
_PAUSE_S: Final = 0.2


def listen(port: int) -> socket.socket:
    """The listening socket on `127.0.0.1`; port 0 chooses a free one. Raises OSError if it is taken."""
    listener = socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)
    listener.setblocking(False)
    return listener


async def forward(listener: socket.socket, proxy: Path) -> None:
    """Carry connections until cancelled. A proxy that is not there costs the one connection."""
    loop = asyncio.get_running_loop()
    with listener:
        async with asyncio.TaskGroup() as connections:
            while True:
                try:
                    accepted, _ = await loop.sock_accept(listener)
                except OSError:
                    await asyncio.sleep(_PAUSE_S)
                    continue
                connections.create_task(_carry(accepted, proxy), name="forwarded connection")
                # Accepting does not wait while callers queue: the others get their turn.
                await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def way_out(environment: Mapping[str, str]) -> AsyncIterator[None]:
    """Forward while the block runs, where the environment names a port; in the caller's event loop.

    Raises OSError if the port is taken: what the agent asks of its provider would reach a stranger.
    """
    port = environment.get(PORT_VARIABLE, "")
    if not port:
        yield
        return
    listener = listen(int(port))
    async with asyncio.TaskGroup() as tasks:
        proxy = Path(environment.get(SOCKET_VARIABLE, DEFAULT_SOCKET))
        forwarding = tasks.create_task(forward(listener, proxy), name="way out")
        try:
            yield
        finally:
            forwarding.cancel()


def main() -> int:
    """Forward until stopped; returns the exit code."""
    port = os.environ.get(PORT_VARIABLE, "")
    if not port.isdecimal():
        print(f"{PORT_VARIABLE} has to be a port, not {port!r}.", file=sys.stderr)
        return 2
    proxy = Path(os.environ.get(SOCKET_VARIABLE, DEFAULT_SOCKET))
    try:
        listener = listen(int(port))
    except (OSError, OverflowError) as error:
        print(f"127.0.0.1:{port} can't be listened on: {error}", file=sys.stderr)
        return 1
    asyncio.run(forward(listener, proxy))
    return 0


async def _carry(near: socket.socket, proxy: Path) -> None:
    far = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with near, far:
        near.setblocking(False)
        far.setblocking(False)
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await _connect(far, proxy)
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_copy(near, far), name="forward out")
                ways.create_task(_copy(far, near), name="forward in")
        except* OSError:
            # One end has gone: both are closed, which is all that the other can be told.
            pass


async def _connect(far: socket.socket, proxy: Path) -> None:
    loop = asyncio.get_running_loop()
    if len(os.fsencode(proxy)) <= _MAX_ADDRESS_BYTES:
        await loop.sock_connect(far, str(proxy))
        return
    # Through the descriptor of its directory any path fits.
    directory = os.open(proxy.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        await loop.sock_connect(far, f"/proc/self/fd/{directory}/{proxy.name}")
    finally:
        os.close(directory)


async def _copy(source: socket.socket, sink: socket.socket) -> None:
    """Bytes one way, no faster than they are taken; the end is passed on, the other way stays open."""
    loop = asyncio.get_running_loop()
    buffer = bytearray(_PIECE_BYTES)
    with memoryview(buffer) as view:
        while size := await loop.sock_recv_into(source, view):
            await loop.sock_sendall(sink, view[:size])
    sink.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    sys.exit(main())
