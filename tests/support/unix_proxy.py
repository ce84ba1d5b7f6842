"""A socket in front of another one, which a test takes away while it is in use."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path


class UnixProxy:
    """Passes bytes both ways; `cut` drops every connection and lets nobody in any more."""

    def __init__(self, path: Path, target: str) -> None:
        self.url = f"unix://{path}"
        self._path = path
        self._target = target
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Let connections in until the end of the block."""
        await self.mend()
        try:
            yield
        finally:
            await self.cut()

    async def mend(self) -> None:
        """Let connections in, for the first time or again."""
        self._server = await asyncio.start_unix_server(self._pass_on, self._path)

    async def cut(self) -> None:
        """As if the engine were killed."""
        if self._server is None:
            return
        self._server.close()
        for writer in list(self._connections):
            writer.transport.abort()
        if self._passing:
            await asyncio.wait(self._passing)
        await self._server.wait_closed()
        self._server = None
        self._path.unlink(missing_ok=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own_task = asyncio.current_task()
        assert own_task is not None
        self._passing.add(own_task)
        own_task.add_done_callback(self._passing.discard)
        other_reader, other_writer = await asyncio.open_unix_connection(self._target)
        pair = {writer, other_writer}
        self._connections |= pair
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_copy(reader, other_writer), name="to the engine")
                tasks.create_task(_copy(other_reader, writer), name="from the engine")
        finally:
            self._connections -= pair
            for each in pair:
                each.transport.abort()
            for each in pair:
                with contextlib.suppress(OSError):
                    await each.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()
