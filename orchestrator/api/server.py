"""The HTTP server on the Unix socket and on loopback, in our own event loop."""

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from orchestrator.api.closing import Closing
from orchestrator.api.credentials import Credentials
from orchestrator.api.gate import doors_of
from orchestrator.api.listeners import listening_at, listening_on
from orchestrator.api.toolsets.lazy import Toolsets
from orchestrator.commands.services import Services
from orchestrator.contracts.live_events import LiveEvents
from orchestrator.contracts.seams import ConsoleDoor
from orchestrator.settings.api import other_port

if TYPE_CHECKING:
    import uvicorn

_log = structlog.get_logger(__name__)
_LOOPBACK: Final = "127.0.0.1"
# Long polls end as soon as closing begins; what else is open gets this long.
_GRACE_S: Final = 2


class ApiServer:
    """Serves until cancelled; then open requests get two seconds. give_way: as of its route."""

    def __init__(
        self,
        *,
        services: Services,
        door: ConsoleDoor,
        credentials: Credentials,
        socket_path: Path,
        live: LiveEvents,
        give_way: Callable[[], None] | None = None,
    ) -> None:
        self._services = services
        self._give_way = give_way
        self._door = door
        self._credentials = credentials
        self._socket_path = socket_path
        self._live = live
        self._closing = Closing(services.wakeups)
        self.ports: list[int] = []
        """Where on `127.0.0.1` it listens."""

    async def run(self) -> None:
        """Open the socket and serve. Raises OSError when the socket cannot be made."""
        # FastAPI costs half a second to import: not before the orchestrator is ready, nor on its loop.
        toolsets = Toolsets(self._services, self._credentials, self._closing)
        server = await asyncio.to_thread(self._load, toolsets)
        with contextlib.ExitStack() as stack:
            listeners = [stack.enter_context(listening_at(self._socket_path)), *self._on_loopback(stack)]
            _log.info("api.opened", socket=str(self._socket_path), ports=self.ports)
            async with asyncio.TaskGroup() as tasks:
                serving = tasks.create_task(server.serve(sockets=listeners), name="api server")
                serving_tools = tasks.create_task(toolsets.run(), name="api toolsets")
                try:
                    await asyncio.wait([serving])
                except asyncio.CancelledError:
                    self._closing.begin()
                    server.should_exit = True
                    await asyncio.wait([serving], timeout=_GRACE_S + 1)
                    raise
                finally:
                    serving_tools.cancel()
        _log.info("api.closed")

    def _on_loopback(self, stack: contextlib.ExitStack) -> list[socket.socket]:
        """The listening sockets on `127.0.0.1`. A port that somebody else has is told, and left to him."""
        listeners: list[socket.socket] = []
        settings = self._services.settings.api
        if settings.dev_mode:
            _log.warning("api.dev_mode", effect="who can open the Unix socket is taken for the operator")
        for port in doors_of(settings).ports:
            try:
                listener = stack.enter_context(listening_on(_LOOPBACK, port))
            except OSError as error:
                self._tell_closed(port, error)
                continue
            listeners.append(listener)
            self.ports.append(port)
        stack.callback(self.ports.clear)
        return listeners

    def _tell_closed(self, port: int, error: OSError) -> None:
        is_taken = error.errno == errno.EADDRINUSE
        reason = "another program listens there" if is_taken else os.strerror(error.errno or 0)
        mend = other_port(self._services.settings.api, port)
        why = f"No program comes in at {_LOOPBACK}:{port}, since {reason}. {mend}"
        _log.warning("api.port_closed", port=port, why=why)
        self._services.troubles[f"api port {port}"] = why

    def _load(self, toolsets: Toolsets) -> "uvicorn.Server":
        import uvicorn

        from orchestrator.api.application import make_application
        from orchestrator.api.event_protocol import (
            MAX_MESSAGE_BYTES,
            PING_EVERY_S,
            PONG_WITHIN_S,
            EventProtocol,
        )

        class QuietServer(uvicorn.Server):
            """Leaves signals to the process that it runs in, and its listener to the loop."""

            @contextlib.contextmanager
            def capture_signals(self) -> Iterator[None]:
                yield

            async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
                # The loop closes the listener, after it has stopped looking at it: closed before that, a
                # connection that just arrived is accepted from nothing.
                await super().shutdown(None)

        application = make_application(
            self._services,
            self._door,
            self._credentials,
            self._closing,
            self._live,
            toolsets,
            give_way=self._give_way,
        )
        config = uvicorn.Config(
            application,
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws=EventProtocol,
            ws_max_size=MAX_MESSAGE_BYTES,
            ws_ping_interval=PING_EVERY_S,
            ws_ping_timeout=PONG_WITHIN_S,
            ws_per_message_deflate=False,
            server_header=False,
            # Else whoever is on this machine may say in a header which address he comes from.
            proxy_headers=False,
            timeout_graceful_shutdown=_GRACE_S,
        )
        return QuietServer(config)
