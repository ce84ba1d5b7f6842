"""HTTP with a provider on one connection: a request out, its answer in while it comes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

import h11

from orchestrator.contracts.records.egress import EgressLimits
from orchestrator.core.sandbox.request_rules import Headers

_READ_BYTES: Final = 256 * 1024
_MAX_HEAD_BYTES: Final = 64 * 1024


class ProviderTooSlow(Exception):
    """The provider let us wait for longer than the limits say."""


class ProviderBrokeOff(Exception):
    """The connection ended, or what came was no HTTP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHead:
    """How a provider begins to answer."""

    status: int
    headers: Headers


class ProviderConnection:
    """One connection, used by one call at a time. Raises ProviderTooSlow and ProviderBrokeOff."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: EgressLimits
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)

    async def ask(self, request: h11.Request, body: bytes) -> AnswerHead:
        """Send the request and wait for the head of its answer."""
        written = self._out(request)
        if body:
            written += self._out(h11.Data(data=body))
        written += self._out(h11.EndOfMessage())
        try:
            async with asyncio.timeout(self._limits.answer_s):
                self._writer.write(written)
                await self._writer.drain()
        except TimeoutError:
            raise ProviderTooSlow from None
        except OSError:
            raise ProviderBrokeOff from None
        while isinstance(event := await self._next_event(), h11.InformationalResponse):
            pass
        if not isinstance(event, h11.Response):
            raise ProviderBrokeOff
        return AnswerHead(status=event.status_code, headers=list(event.headers))

    async def body(self) -> AsyncIterator[bytes]:
        """The answer's body: whatever is here by now, in one piece."""
        while True:
            pieces = list[bytes]()
            while isinstance(event := self._event(), h11.Data):
                pieces.append(bytes(event.data))
            if pieces:
                yield b"".join(pieces)
            if event is h11.NEED_DATA:
                await self._read()
            elif isinstance(event, h11.EndOfMessage):
                return
            else:
                raise ProviderBrokeOff

    def begin_next(self) -> bool:
        """Whether the answer was read whole and the provider takes another request here."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            return self.is_open
        return False

    @property
    def is_open(self) -> bool:
        """Whether the provider has not hung up, as far as is known."""
        return not self._reader.at_eof() and not self._writer.is_closing()

    def close(self) -> None:
        """Hang up at once."""
        self._writer.transport.abort()

    def _out(self, event: h11.Event) -> bytes:
        return self._http.send(event) or b""

    async def _next_event(self) -> object:
        while (event := self._event()) is h11.NEED_DATA:
            await self._read()
        return event

    def _event(self) -> object:
        try:
            return self._http.next_event()
        except h11.RemoteProtocolError:
            raise ProviderBrokeOff from None

    async def _read(self) -> None:
        try:
            async with asyncio.timeout(self._limits.answer_s):
                came = await self._reader.read(_READ_BYTES)
        except TimeoutError:
            raise ProviderTooSlow from None
        except OSError:
            raise ProviderBrokeOff from None
        self._http.receive_data(came)
