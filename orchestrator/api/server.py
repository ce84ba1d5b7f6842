"""The HTTP server on the Unix socket, in our own event loop."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from orchestrator.api.closing import Closing
from orchestrator.api.credentials import Credentials
from orchestrator.commands.services import Services
from orchestrator.contracts.seams import ConsoleDoor

if TYPE_CHECKING:
    import uvicorn

_log = structlog.get_logger(__name__)
_BACKLOG: Final = 128
# Long polls end as soon as closing begins; what else is open gets this long.
_GRACE_S: Final = 2


class ApiServer:
    """Serves until cancelled; then open requests get two seconds."""

    def __init__(
        self, *, services: Services, door: ConsoleDoor, credentials: Credentials, socket_path: Path
    ) -> None:
        self._services = services
        self._door = door
        self._credentials = credentials
        self._socket_path = socket_path
        self._closing = Closing(services.wakeups)

    async def run(self) -> None:
        """Open the socket and serve. Raises OSError when the socket cannot be made."""
        # FastAPI costs half a second to import: not before the orchestrator is ready, nor on its loop.
        server = await asyncio.to_thread(self._load)
        with _listening(self._socket_path) as listener:
            _log.info("api.opened", socket=str(self._socket_path))
            async with asyncio.TaskGroup() as tasks:
                serving = tasks.create_task(server.serve(sockets=[listener]), name="api server")
                try:
                    await asyncio.wait([serving])
                except asyncio.CancelledError:
                    self._closing.begin()
                    server.should_exit = True
                    await asyncio.wait([serving], timeout=_GRACE_S + 1)
                    raise
        _log.info("api.closed")

    def _load(self) -> "uvicorn.Server":
        import uvicorn

        from orchestrator.api.application import make_application

        class QuietServer(uvicorn.Server):
            """Leaves signals to the process that it runs in, and its listener to the loop."""

            @contextlib.contextmanager
            def capture_signals(self) -> Iterator[None]:
                yield

            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                # The loop closes the listener, after it has stopped looking at it: closed before that, a
                # connection that just arrived is accepted from nothing.
                await super().shutdown(None)

        application = make_application(self._services, self._door, self._credentials, self._closing)
        config = uvicorn.Config(
            application,
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
        )
        return QuietServer(config)


@contextlib.contextmanager
def _listening(path: Path) -> Iterator[socket.socket]:
    """A listening socket at `path`, for this user only; a stale one is replaced: we hold the home's lock."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        ours = os.stat(path).st_ino
        try:
            yield listener
        finally:
            with contextlib.suppress(FileNotFoundError):
                if os.stat(path).st_ino == ours:
                    path.unlink()
    finally:
        listener.close()
