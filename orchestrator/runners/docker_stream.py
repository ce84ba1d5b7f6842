"""Docker's attached streams: output comes in frames, each with a header of eight bytes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlsplit

from orchestrator.contracts.errors import ErrorCode, StartFailed, Unavailable
from orchestrator.runners.child import READ_BYTES, read_chunks, write_to_end

_HEADER_BYTES: Final = 8
_ANSWER_S: Final = 20
_ATTACH: Final = (
    "POST {path} HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: 0\r\n\r\n"
)
LOGS: Final = "GET {path} HTTP/1.0\r\nHost: docker\r\n\r\n"
"""Asks for a container's log as it was kept and goes on. By the older HTTP, the engine sends it in no pieces
of its own."""


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
    """One connection to a container's streams or to its log; reading is on demand.

    Made here, not by the `docker` package: its attached sockets leak descriptors, and lose what
    arrives together with the answer's head.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._frames = FrameReader()

    @classmethod
    async def open(cls, engine_url: str, path: str, *, request: str = _ATTACH) -> "Attachment":
        """Ask the engine to hand the connection over. path: of the request. Raises Unavailable."""
        try:
            reader, writer = await _connect(engine_url)
        except OSError as error:
            raise Unavailable(
                f"No Docker engine answers at {engine_url}: {error.strerror}.",
                code=ErrorCode.RUNNER_UNAVAILABLE,
            ) from error
        try:
            writer.write(request.format(path=path).encode())
            async with asyncio.timeout(_ANSWER_S):
                head = await reader.readuntil(b"\r\n\r\n")
            if head.split(b" ", 2)[1] not in (b"101", b"200"):
                raise StartFailed(f"The Docker engine refused to attach: {head.splitlines()[0].decode()}.")
        except BaseException as error:
            writer.transport.abort()
            if isinstance(error, OSError | EOFError | IndexError):
                raise Unavailable(
                    f"The Docker engine at {engine_url} went away.", code=ErrorCode.RUNNER_UNAVAILABLE
                ) from error
            raise
        return cls(reader, writer)

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
        """Give back the descriptor. May be called again."""
        self._writer.transport.abort()


async def _connect(engine_url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    url = urlsplit(engine_url)
    if url.scheme == "unix":
        return await asyncio.open_unix_connection(url.path, limit=READ_BYTES)
    if url.scheme in ("tcp", "http") and url.hostname is not None:
        return await asyncio.open_connection(url.hostname, url.port or 2375, limit=READ_BYTES)
    raise Unavailable(
        f"The Docker engine at {engine_url} can't run agents: their directories are on this machine.",
        code=ErrorCode.RUNNER_UNAVAILABLE,
        suggestion="Use the engine of this machine, by its Unix socket.",
    )
