"""Docker's attached streams: output comes in frames, each with a header of eight bytes."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any, Final

from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.runners.child import READ_BYTES, read_chunks, write_to_end

_HEADER_BYTES: Final = 8


class FrameReader:
    """Takes the headers out of a stream of frames; any chunking, nothing kept but a part of a header.

    Whose stream a frame belongs to is not looked at: each connection carries only one.
    """

    def __init__(self) -> None:
        self._header = bytearray()
        self._left_bytes = 0

    def feed(self, chunk: bytes) -> bytes:
        """The content in `chunk`."""
        content: list[bytes] = []
        at = 0
        while at < len(chunk):
            if self._left_bytes:
                piece = chunk[at : at + self._left_bytes]
                self._left_bytes -= len(piece)
                content.append(piece)
                at += len(piece)
                continue
            missing = _HEADER_BYTES - len(self._header)
            self._header += chunk[at : at + missing]
            at += missing
            if len(self._header) == _HEADER_BYTES:
                self._left_bytes = int.from_bytes(self._header[4:], "big")
                self._header.clear()
        return b"".join(content)


class Attachment:
    """One connection to a container's streams, made before its start; reading is on demand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, holder: Any) -> None:
        self._reader = reader
        self._writer = writer
        self._holder = holder
        self._frames = FrameReader()

    @classmethod
    async def over(cls, holder: Any) -> "Attachment":
        """Take over what `attach_socket` returned. Raises Unavailable for an engine reached by TLS."""
        raw = plain_socket(holder)
        raw.settimeout(None)
        raw.setblocking(False)
        if raw.family == socket.AF_UNIX:
            reader, writer = await asyncio.open_unix_connection(sock=raw, limit=READ_BYTES)
        else:
            reader, writer = await asyncio.open_connection(sock=raw, limit=READ_BYTES)
        return cls(reader, writer, holder)

    async def write_input(self, line: bytes) -> None:
        """Write standard input to its end and close it. Raises StartFailed when nobody reads it."""
        await write_to_end(self._writer, line)
        self._writer.write_eof()

    async def content(self) -> AsyncIterator[bytes]:
        """What the container writes, until its end. A connection that the engine dropped is an end, too."""
        try:
            async for chunk in read_chunks(self._reader):
                if content := self._frames.feed(chunk):
                    yield content
        except ConnectionError:
            return

    def close(self) -> None:
        """Give back the descriptors. May be called again."""
        self._writer.transport.abort()
        # The package's own object holds the response, and with it more than the socket.
        self._holder.close()


def plain_socket(holder: Any) -> socket.socket:
    """The socket inside what the `docker` package returns. Raises Unavailable for TLS."""
    raw = getattr(holder, "_sock", holder)
    if type(raw) is not socket.socket:
        raise Unavailable(
            "A Docker engine reached by TLS or SSH can't run agents: their directories are on this machine.",
            code=ErrorCode.RUNNER_UNAVAILABLE,
            suggestion="Use the engine of this machine, by its Unix socket.",
        )
    return raw
