"""JSON-RPC over a program's pipes, a line a message, whatever else the program prints there."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

from orchestrator.contracts.wire.codec import WireError, parse_json

MAX_LINE_BYTES: Final = 32 * 1024**2
_PIECE_BYTES: Final = 64 * 1024


class LineReader:
    """Cuts a stream into lines; one that is longer than the limit is dropped, and told of."""

    def __init__(self, max_bytes: int, dropped: Callable[[str], None]) -> None:
        self._max_bytes = max_bytes
        self._dropped = dropped
        self._rest = bytearray()
        self._is_dropping = False

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that `piece` completes."""
        *ends, rest = piece.split(b"\n")
        lines: list[bytes] = []
        for end in ends:
            if not self._add(end):
                lines.append(bytes(self._rest))
            self._rest.clear()
            self._is_dropping = False
        self._add(rest)
        return lines

    def _add(self, part: bytes) -> bool:
        """Add to the open line; True if it is one that is dropped."""
        if not self._is_dropping and len(self._rest) + len(part) > self._max_bytes:
            self._is_dropping = True
            self._rest.clear()
            self._dropped(f"a line of more than {self._max_bytes} bytes")
        if not self._is_dropping:
            self._rest += part
        return self._is_dropping


class LineTransport:
    """The transport that the protocol's package reads and writes messages by.

    dropped: told what was no message. room: awaited before each message, so that a program can't be faster
    than its reader.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        dropped: Callable[[str], None],
        room: Callable[[], Awaitable[None]],
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._dropped = dropped
        self._room = room
        self._lines = LineReader(max_line_bytes, dropped)
        self._messages: list[dict[str, Any]] = []

    async def send(self, message: dict[str, Any]) -> None:
        """Write one message. Raises ConnectionError when the program has closed its end."""
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None at the end of the stream."""
        await self._room()
        while not self._messages:
            piece = await self._reader.read(_PIECE_BYTES)
            if not piece:
                return None
            found = [self._message(line) for line in self._lines.feed(piece)]
            self._messages = [message for message in reversed(found) if message is not None]
        return self._messages.pop()

    async def close(self) -> None:
        """Close the program's standard input."""
        self._writer.close()

    def _message(self, line: bytes) -> dict[str, Any] | None:
        if not line.strip():
            return None
        try:
            plain = parse_json(line)
        except WireError:
            plain = None
        if isinstance(plain, dict) and _is_message(plain):
            return plain
        self._dropped(f"a line that is no message ({len(line)} bytes)")
        return None


def _is_message(plain: dict[str, Any]) -> bool:
    """Whether the package can take it: with other types in these members its reading would end."""
    identity = plain.get("id")
    return (
        isinstance(plain.get("method", ""), str)
        and isinstance(identity, int | str | None)
        and not isinstance(identity, bool)
        and isinstance(plain.get("error"), dict | None)
    )
