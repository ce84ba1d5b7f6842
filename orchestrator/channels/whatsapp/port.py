"""One end of the descriptor between the orchestrator and its WhatsApp child."""

import asyncio
import socket

from orchestrator.channels.whatsapp.lines import MAX_LINE_BYTES, Line, LineError, encode


class LinePort:
    """Reads and writes lines. `close` gives the descriptor back."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def on(cls, end: socket.socket) -> "LinePort":
        """The port on a connected stream socket, which is the port's from now on."""
        reader, writer = await asyncio.open_connection(sock=end, limit=MAX_LINE_BYTES)
        return cls(reader, writer)

    async def read(self) -> bytes | None:
        """The next line; None once the other side is gone, whatever it had begun to say.

        Raises LineError for a line that never ends.
        """
        try:
            raw = await self._reader.readline()
        except ConnectionError:
            return None
        except ValueError as error:
            raise LineError(f"it is longer than {MAX_LINE_BYTES:,} bytes") from error
        return raw if raw.endswith(b"\n") else None

    def put(self, line: Line) -> None:
        """Hand a line to the kernel, or keep it until it takes it. Nothing happens if nobody listens.

        Raises LineError if the line can't be written at all.
        """
        self._put_raw(encode(line))

    async def write(self, line: Line) -> None:
        """As `put`, and wait while the other side is slow."""
        await self.write_raw(encode(line))

    async def write_raw(self, raw: bytes) -> None:
        """As `write`, of an encoded line."""
        self._put_raw(raw)
        try:
            await self._writer.drain()
        except ConnectionError:
            return  # the reader will meet the end

    def _put_raw(self, raw: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(raw)

    async def close(self) -> None:
        """Say what is left to say, if somebody takes it at once, and close."""
        self._writer.close()
        try:
            async with asyncio.timeout(1.0):
                await self._writer.wait_closed()
        except (TimeoutError, ConnectionError):
            self._writer.transport.abort()
