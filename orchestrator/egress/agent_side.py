"""HTTP with an agent's program: requests in, answers out, on one connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from http import HTTPStatus
from typing import Any, Final, TypeAlias, TypeVar

import h11

from orchestrator.contracts.records.egress import EgressLimits
from orchestrator.contracts.records.providers import WireFormat
from orchestrator.core.sandbox.provider_errors import error_body
from orchestrator.core.sandbox.refusal import CallRefusal
from orchestrator.core.sandbox.request_rules import Headers

_READ_BYTES: Final = 64 * 1024
# A body in tiny chunks costs more time than bytes: others get their turn in between.
_PIECES_AT_ONCE: Final = 256
# Whoever was refused in the middle of sending may finish for so long, so that the answer is not lost.
_LINGER_S: Final = 5.0

Result = TypeVar("Result")
Received: TypeAlias = h11.Request | h11.Data | h11.EndOfMessage | h11.ConnectionClosed


class AgentSide:
    """One connection, driven by one task. Raises h11.RemoteProtocolError for what is no HTTP,
    TimeoutError for an agent that is too slow, OSError for one that is gone."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limits: EgressLimits
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=limits.header_bytes)

    @property
    def has_begun_to_answer(self) -> bool:
        """Whether the head of an answer is out, so that no other can follow."""
        return self._http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}

    async def next_request(self) -> h11.Request | None:
        """The next request's head, which has to be whole in time; None at the end."""
        async with asyncio.timeout(self._limits.idle_s):
            event = await self._receive()
        return event if isinstance(event, h11.Request) else None

    async def body(self, *, at_most: int) -> bytes | None:
        """The body of the request; None if it is more than `at_most` bytes."""
        body = bytearray()
        pieces = 0
        async with asyncio.timeout(self._limits.answer_s):
            while True:
                async with asyncio.timeout(self._limits.idle_s):
                    event = await self._receive()
                if not isinstance(event, h11.Data):
                    return bytes(body)
                body += event.data
                if len(body) > at_most:
                    return None
                pieces += 1
                if pieces % _PIECES_AT_ONCE == 0:
                    await asyncio.sleep(0)

    async def while_present(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of the work for a request that was read whole.

        Once the agent has hung up, the work is cancelled and this raises ConnectionResetError. Errors of
        the work come in a group.
        """
        async with asyncio.TaskGroup() as tasks:
            working = tasks.create_task(work, name="egress answer")
            leaving = tasks.create_task(self._left(), name="egress agent leaves")
            await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
            working.cancel()
            leaving.cancel()
        if working.cancelled():
            raise ConnectionResetError("the agent has hung up")
        return working.result()

    async def begin_answer(self, status: int, headers: Headers) -> None:
        """Send an answer's head; its length is what the headers say, or in chunks."""
        await self._send(h11.Response(status_code=status, headers=headers))

    async def pass_on(self, chunk: bytes) -> None:
        """Send a piece of the body, at the agent's pace."""
        await self._send(h11.Data(data=chunk))

    async def end_answer(self) -> None:
        """The answer is whole."""
        await self._send(h11.EndOfMessage())

    async def refuse(self, refusal: CallRefusal, wire: WireFormat | None) -> None:
        """Answer with an error in the provider's shape, and end the connection."""
        body = error_body(wire, refusal.status, refusal.message)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        if refusal.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            # The clients of providers know this header: what is not let through stays so.
            headers.append((b"x-should-retry", b"false"))
        await self.begin_answer(refusal.status, headers)
        await self.pass_on(body)
        await self.end_answer()
        await self._linger()

    def begin_next(self) -> bool:
        """Whether another request may follow on this connection."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            return True
        return False

    async def accept_tunnel(self) -> bytes:
        """Say yes to `CONNECT`, once its body was read; gives what the agent has sent into the tunnel."""
        await self._send(h11.Response(status_code=HTTPStatus.OK, headers=[]))
        return bytes(self._http.trailing_data[0])

    async def accept_upgrade(self, headers: Headers) -> bytes:
        """Say yes to another protocol, once the body was read; gives what the agent has sent in that."""
        await self._send(
            h11.InformationalResponse(status_code=HTTPStatus.SWITCHING_PROTOCOLS, headers=headers)
        )
        return bytes(self._http.trailing_data[0])

    async def _receive(self) -> Received:
        while True:
            event = self._http.next_event()
            if event is h11.PAUSED:
                raise h11.RemoteProtocolError("more came than was asked for")
            if event is not h11.NEED_DATA:
                assert isinstance(event, Received)
                return event
            if self._http.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=HTTPStatus.CONTINUE, headers=[]))
            self._http.receive_data(await self._reader.read(_READ_BYTES))

    async def _left(self) -> None:
        """Return once the agent has hung up. What it sends ahead is kept, up to a head's size."""
        ahead = 0
        while ahead <= self._limits.header_bytes:
            try:
                came = await self._reader.read(_READ_BYTES)
            except OSError:
                return
            if not came:
                return
            ahead += len(came)
            self._http.receive_data(came)
        await asyncio.get_running_loop().create_future()

    async def _send(self, event: h11.Event) -> None:
        if (written := self._http.send(event)) is None:
            return
        if written:
            async with asyncio.timeout(self._limits.idle_s):
                self._writer.write(written)
                await self._writer.drain()

    async def _linger(self) -> None:
        with contextlib.suppress(TimeoutError, OSError):
            self._writer.write_eof()
            async with asyncio.timeout(_LINGER_S):
                while await self._reader.read(_READ_BYTES):
                    pass


@contextlib.asynccontextmanager
async def closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    """At the end of the block the connection is gone: after what is unsent, or at once after an error."""
    try:
        yield
        writer.close()
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(_LINGER_S):
                await writer.wait_closed()
    finally:
        writer.transport.abort()
