"""Sockets that the API listens on, opened for their owner and closed after the loop has let go of them."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_BACKLOG: Final = 128


@contextlib.contextmanager
def listening_at(path: Path) -> Iterator[socket.socket]:
    """A listening socket at `path`, for this user only; a stale one is replaced: we hold the home's lock.

    Raises OSError where it can't be made.
    """
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    with _let_go_of(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as listener:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(_BACKLOG)
        ours = os.stat(path).st_ino
        try:
            yield listener
        finally:
            with contextlib.suppress(FileNotFoundError):
                if os.stat(path).st_ino == ours:
                    path.unlink()


@contextlib.contextmanager
def listening_on(host: str, port: int) -> Iterator[socket.socket]:
    """A listening socket on a port of this machine. Raises OSError where it can't be made."""
    with _let_go_of(socket.create_server((host, port), backlog=_BACKLOG)) as listener:
        yield listener


@contextlib.contextmanager
def _let_go_of(listener: socket.socket) -> Iterator[socket.socket]:
    """A server that is cancelled, not told to end, leaves its listener with the loop. Closed before that
    lets go of it, a connection that just arrived would be accepted from nothing."""
    listener.setblocking(False)
    try:
        yield listener
    finally:
        if listener.fileno() != -1:  # a server that ended has closed it
            asyncio.get_running_loop().remove_reader(listener)
        listener.close()
