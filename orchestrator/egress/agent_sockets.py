"""A WebSocket of one agent, by the same socket that leads to its provider: the frames of RFC 6455."""

import asyncio
import binascii
import contextlib
from base64 import b64decode
from collections import deque
from typing import Final

from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import OPEN, SERVER, Protocol
from websockets.utils import accept_key

from orchestrator.core.sandbox.request_rules import Headers

_READ_BYTES: Final = 64 * 1024
_MAX_MESSAGE_BYTES: Final = 64 * 1024
_KEY_BYTES: Final = 16
_VERSION: Final = b"13"
_MAX_REASON_CHARS: Final = 100
_CARRIES_A_MESSAGE: Final = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})


class AgentSocket:
    """An open WebSocket: a `TextSocket`. A ping is answered while it receives.

    ahead: what came after the request. idle_s: how long he may take to take something.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, ahead: bytes, idle_s: float
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._idle_s = idle_s
        self._protocol = Protocol(SERVER, state=OPEN, max_size=_MAX_MESSAGE_BYTES)
        self._protocol.receive_data(ahead)
        self._messages: deque[str | bytes] = deque()
        # What came of a message in pieces. Bytes, not frames: those may be empty, and without end.
        self._whole = bytearray()
        self._is_text = False

    async def receive(self) -> str | bytes | None:
        """The next message; None once he has gone, or has sent what is none."""
        while True:
            self._join()
            try:
                await self._flush()
                if self._messages:
                    return self._messages.popleft()
                if self._protocol.state is not OPEN:
                    return None
                came = await self._reader.read(_READ_BYTES)
            except OSError:
                return None
            if not came:
                return None
            self._protocol.receive_data(came)

    async def send(self, text: str) -> None:
        """Send it, at his pace. Raises ConnectionError when he has gone."""
        if self._protocol.state is not OPEN:
            raise ConnectionResetError("the agent has closed its WebSocket")
        self._protocol.send_text(text.encode())
        await self._flush()

    async def refuse(self, why: str) -> None:
        """Close it, with a word about what he did. Raises ConnectionError when he has gone."""
        await self._close(CloseCode.POLICY_VIOLATION, why[:_MAX_REASON_CHARS])

    async def close(self) -> None:
        """Say that it is over, if he is still there."""
        with contextlib.suppress(ConnectionError):
            await self._close(CloseCode.GOING_AWAY, "")

    def _join(self) -> None:
        """Put together what came in pieces."""
        for event in self._protocol.events_received():
            if not isinstance(event, Frame) or event.opcode not in _CARRIES_A_MESSAGE:
                continue
            if event.opcode is not Opcode.CONT:
                self._is_text = event.opcode is Opcode.TEXT
            self._whole += event.data
            if event.fin:
                whole, self._whole = bytes(self._whole), bytearray()
                self._messages.append(_text(whole) if self._is_text else whole)

    async def _close(self, code: CloseCode, why: str) -> None:
        if self._protocol.state is OPEN:
            self._protocol.send_close(code, why)
            await self._flush()

    async def _flush(self) -> None:
        for piece in self._protocol.data_to_send():
            if piece:
                self._writer.write(piece)
        try:
            async with asyncio.timeout(self._idle_s):
                await self._writer.drain()
        except TimeoutError as error:
            raise ConnectionAbortedError("the agent does not read") from error


def accepting_headers(headers: Headers) -> Headers | None:
    """What accepts the WebSocket that a request asks for; None if it does not ask for one as it should."""
    asked = {name: [value for key, value in headers if key == name] for name, _ in headers}
    if asked.get(b"sec-websocket-version") != [_VERSION] or len(asked.get(b"sec-websocket-key", ())) != 1:
        return None
    [key] = asked[b"sec-websocket-key"]
    try:
        is_key = len(b64decode(key, validate=True)) == _KEY_BYTES
    except binascii.Error:
        return None
    if not is_key:
        return None
    accepted = accept_key(key.decode("ascii")).encode()
    return [(b"upgrade", b"websocket"), (b"connection", b"Upgrade"), (b"sec-websocket-accept", accepted)]


def wants_socket(headers: Headers) -> bool:
    """Whether a request asks to become a WebSocket."""
    return any(name == b"upgrade" and value.strip().lower() == b"websocket" for name, value in headers)


def _text(whole: bytes) -> str | bytes:
    """As text; what is none stays bytes, which nobody takes."""
    try:
        return whole.decode()
    except UnicodeDecodeError:
        return whole
