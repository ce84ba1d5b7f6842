"""`CONNECT`: bytes between an agent and a host on its list."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import structlog

from orchestrator.contracts.records.definitions import HostPort
from orchestrator.contracts.records.egress import EgressPolicy
from orchestrator.contracts.seams import Clock
from orchestrator.core.sandbox.egress_rules import named_destination
from orchestrator.core.sandbox.refusal import CallRefusal
from orchestrator.egress.agent_side import AgentSide, closing
from orchestrator.egress.route import Route, Unreachable

_log = structlog.get_logger(__name__)
_PIECE_BYTES: Final = 64 * 1024


@dataclass(slots=True)
class _Passed:
    """Bytes so far. No locks: both directions run on one loop."""

    sent: int = 0
    received: int = 0

    @property
    def total(self) -> int:
        return self.sent + self.received


class _TunnelEnds(Exception):
    """It was quiet for too long, or has carried what it may."""


class Tunnels:
    """The tunnels of one agent."""

    def __init__(self, policy: EgressPolicy, route: Route, clock: Clock) -> None:
        self._policy = policy
        self._route = route
        self._clock = clock

    async def serve(
        self, authority: str, side: AgentSide, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> CallRefusal | None:
        """Connect and carry bytes until both ends have closed; a refusal if there is no tunnel."""
        named = named_destination(authority, self._policy.hosts)
        if isinstance(named, CallRefusal):
            return named
        began = self._clock.monotonic()
        try:
            far_reader, far_writer = await self._route.connect(
                named.host, named.port, within_s=self._policy.limits.connect_s
            )
        except Unreachable as error:
            return CallRefusal(status=HTTPStatus.BAD_GATEWAY, message=str(error))
        passed = _Passed()
        try:
            async with closing(far_writer):
                far_writer.write(await side.accept_tunnel())
                await self._carry(passed, reader, writer, far_reader, far_writer)
        finally:
            self._log_end(named, passed, self._clock.monotonic() - began)
        return None

    async def _carry(
        self,
        passed: _Passed,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._send(passed, reader, far_writer), name="egress tunnel out")
                ways.create_task(self._receive(passed, far_reader, writer), name="egress tunnel in")
        except* (_TunnelEnds, OSError):
            # The ends see it as a closed connection; how much was passed is logged.
            writer.transport.abort()
            far_writer.transport.abort()

    async def _send(self, passed: _Passed, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while piece := await self._piece(passed, source):
            passed.sent += len(piece)
            await self._write(piece, sink)
        sink.write_eof()

    async def _receive(
        self, passed: _Passed, source: asyncio.StreamReader, sink: asyncio.StreamWriter
    ) -> None:
        while piece := await self._piece(passed, source):
            passed.received += len(piece)
            await self._write(piece, sink)
        sink.write_eof()

    async def _piece(self, passed: _Passed, source: asyncio.StreamReader) -> bytes:
        """The next bytes; as long as the other direction moves, this one may be quiet."""
        limits = self._policy.limits
        while passed.total < limits.tunnel_bytes:
            before = passed.total
            try:
                async with asyncio.timeout(limits.idle_s):
                    return await source.read(_PIECE_BYTES)
            except TimeoutError:
                if passed.total == before:
                    break
        raise _TunnelEnds

    async def _write(self, piece: bytes, sink: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(self._policy.limits.idle_s):
            sink.write(piece)
            await sink.drain()

    def _log_end(self, named: HostPort, passed: _Passed, duration_s: float) -> None:
        _log.info(
            "egress.tunnel_closed",
            agent=self._policy.agent_id,
            group=self._policy.group,
            host=named.host,
            port=named.port,
            bytes_sent=passed.sent,
            bytes_received=passed.received,
            duration_s=round(duration_s, 3),
        )
