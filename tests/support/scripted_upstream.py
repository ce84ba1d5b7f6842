"""A server at the far end of the way out: it keeps what it was asked and answers as a test says."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import h11


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it arrived."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The only value of a header; None if it is not there."""
        values = [value for key, value in self.headers if key == name]
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None


Answer: TypeAlias = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class ScriptedUpstream:
    """What came so far, and how the next request is answered: by raw bytes, after which it hangs up."""

    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    answer: Answer | None = None

    def answers(self, raw: bytes) -> None:
        """From now on every request gets these bytes."""

        async def write(_asked: Asked, writer: asyncio.StreamWriter) -> None:
            writer.write(raw)
            await writer.drain()

        self.answer = write

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        self.connections += 1
        try:
            asked = await _read_request(reader)
            if asked is not None and self.answer is not None:
                self.asked.append(asked)
                await self.answer(asked, writer)
            writer.close()
            await writer.wait_closed()
        except OSError:
            pass
        finally:
            writer.transport.abort()


@asynccontextmanager
async def scripted_upstream(**listening: Any) -> AsyncIterator[ScriptedUpstream]:
    """Serve on a free port of loopback. listening: for `asyncio.start_server`, such as `ssl`."""
    upstream = ScriptedUpstream()
    upstream.answers(json_answer(b"{}"))
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, **listening)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()


def json_answer(body: bytes, *, status: str = "200 OK", headers: bytes = b"") -> bytes:
    """A whole answer in JSON."""
    return (
        f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n".encode()
        + headers
        + b"connection: close\r\n\r\n"
        + body
    )


def stream_head() -> bytes:
    """The head of a stream of events that ends where the connection ends."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


async def _read_request(reader: asyncio.StreamReader) -> Asked | None:
    http = h11.Connection(h11.SERVER)
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(await reader.read(65_536))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            headers = [(name.decode(), value.decode()) for name, value in head.headers]
            return Asked(
                method=head.method.decode(), target=head.target.decode(), headers=headers, body=bytes(body)
            )
        else:
            return None
