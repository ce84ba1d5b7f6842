"""The toolsets before anybody has asked for one: their library is loaded at the first request."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from orchestrator.api.body_limit import Receive, Scope, Send
from orchestrator.api.closing import Closing
from orchestrator.api.credentials import Credentials
from orchestrator.commands.services import Services

if TYPE_CHECKING:
    from orchestrator.api.toolsets.serving import ToolsetServer


class Toolsets:
    """All of them. `run` serves them while it runs; `at` is what answers at a path."""

    def __init__(self, services: Services, credentials: Credentials, closing: Closing) -> None:
        self._parts = (services, credentials, closing)
        self._is_wanted = asyncio.Event()
        self._is_ready = asyncio.Event()
        self._servers: Mapping[str, ToolsetServer] = {}

    async def run(self) -> NoReturn:
        """Serve until cancelled."""
        await self._is_wanted.wait()
        self._servers = await asyncio.to_thread(self._load)
        async with contextlib.AsyncExitStack() as stack:
            for server in self._servers.values():
                await stack.enter_async_context(server.sessions.run())
            self._is_ready.set()
            await asyncio.get_running_loop().create_future()
        raise AssertionError("a future that nobody sets was set")

    def at(self, path: str) -> "ToolsetDoor":
        """What answers at one of `TOOLSET_PATHS`."""
        return ToolsetDoor(self, path)

    async def serve(self, path: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; the first one waits for the library."""
        self._is_wanted.set()
        await self._is_ready.wait()
        await self._servers[path](scope, receive, send)

    def _load(self) -> "Mapping[str, ToolsetServer]":
        from orchestrator.api.toolsets.catalog import make_toolsets

        return make_toolsets(*self._parts)


class ToolsetDoor:
    """An ASGI application at one path."""

    def __init__(self, toolsets: Toolsets, path: str) -> None:
        self._toolsets = toolsets
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._toolsets.serve(self._path, scope, receive, send)
