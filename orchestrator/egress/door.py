"""One agent's way out: its socket, and who is let in through it."""

import asyncio
import socket
from http import HTTPStatus
from pathlib import Path
from typing import Final

import h11
import structlog

from orchestrator.contracts.egress_seams import AgentApi
from orchestrator.contracts.records.egress import EgressPolicy, ProviderCall, ProviderFailure
from orchestrator.contracts.records.providers import WireFormat
from orchestrator.core.sandbox.refusal import CallRefusal, forbidden
from orchestrator.core.sandbox.request_rules import framing_refusal
from orchestrator.egress.agent_calls import AgentCalls
from orchestrator.egress.agent_side import AgentSide, closing
from orchestrator.egress.provider_calls import ProviderCalls
from orchestrator.egress.provider_exchange import CallParts
from orchestrator.egress.route import Route
from orchestrator.egress.socket_directory import SocketDirectory
from orchestrator.egress.tunnels import Tunnels
from orchestrator.egress.upstream import Upstream

_log = structlog.get_logger(__name__)
_READ_AHEAD_BYTES: Final = 256 * 1024
# Where this process has no descriptors left, it may have some again then.
_PAUSE_S: Final = 0.2


class Door:
    """An open way out. `serve` runs it until it is cancelled; whoever owns that task closes it."""

    def __init__(
        self,
        policy: EgressPolicy,
        place: SocketDirectory,
        upstream: Upstream | None,
        route: Route,
        parts: CallParts,
        agent_api: AgentApi | None = None,
    ) -> None:
        self._policy = policy
        self._place = place
        self._upstream = upstream
        self._connections = 0
        self._turned_away = 0
        self._last_failure: ProviderCall | None = None
        self._tunnels = Tunnels(policy, route, parts.clock)
        self._ours = None if agent_api is None else AgentCalls(policy, agent_api)
        self._calls: ProviderCalls | None = None
        if policy.api is not None and upstream is not None:
            self._calls = ProviderCalls(policy, policy.api, upstream, parts, on_end=self._remember)

    @property
    def directory(self) -> Path:
        """What is mounted into the container."""
        return self._place.path

    @property
    def last_failure(self) -> ProviderCall | None:
        """The latest call, if the provider failed it."""
        return self._last_failure

    async def serve(self, listener: socket.socket) -> None:
        """Let connections in until cancelled; then all of them end."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.TaskGroup() as connections:
                while True:
                    try:
                        accepted, _ = await loop.sock_accept(listener)
                    except OSError:
                        _log.error("egress.no_room", agent=self._policy.agent_id)
                        await asyncio.sleep(_PAUSE_S)
                        continue
                    connections.create_task(self._take(accepted), name="egress connection")
                    # Accepting does not wait while callers queue: an agent that calls without end must not
                    # keep everybody else from running.
                    await asyncio.sleep(0)
        finally:
            listener.close()
            if self._upstream is not None:
                self._upstream.close()

    def remove(self) -> None:
        """Take the socket away. Blocks for a moment."""
        self._place.remove()

    @property
    def _wire(self) -> WireFormat | None:
        return self._policy.api.wire if self._policy.api is not None else None

    async def _take(self, accepted: socket.socket) -> None:
        if self._connections >= self._policy.limits.connections:
            accepted.close()
            self._turned_away += 1
            if self._turned_away == 1:  # said once until there is room again, lest it fill the log
                _log.warning("egress.connections_full", agent=self._policy.agent_id, open=self._connections)
            return
        self._turned_away = 0
        self._connections += 1
        try:
            reader, writer = await asyncio.open_connection(sock=accepted, limit=_READ_AHEAD_BYTES)
            await self._talk(reader, writer)
        except* OSError:  # a TimeoutError is one
            # The agent was too slow, has hung up, or had to be: the connection is closed, that says it.
            pass
        except* Exception:
            # A fault of ours costs this connection, not the other agents' ways out.
            _log.exception("egress.connection_failed", agent=self._policy.agent_id)
        finally:
            self._connections -= 1

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with closing(writer):
            side = AgentSide(reader, writer, self._policy.limits)
            try:
                while (request := await side.next_request()) is not None:
                    refusal = await self._answer(request, side, reader, writer)
                    if refusal is not None:
                        await self._refuse(refusal, request, side)
                        return
                    if not side.begin_next():
                        return
            except h11.RemoteProtocolError as error:
                await side.refuse(_unreadable(error), self._wire)

    async def _answer(
        self,
        request: h11.Request,
        side: AgentSide,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> CallRefusal | None:
        method = request.method.decode("ascii")
        if (refusal := framing_refusal(method, list(request.headers))) is not None:
            return refusal
        if method == "CONNECT":
            await side.body(at_most=0)
            return await self._tunnels.serve(request.target.decode("ascii"), side, reader, writer)
        if self._ours is not None and self._ours.serves(request):
            return await self._ours.serve(request, side, reader, writer)
        if self._calls is None:
            return forbidden("This agent has no provider behind the proxy.")
        return await self._calls.serve(request, side)

    async def _refuse(self, refusal: CallRefusal, request: h11.Request, side: AgentSide) -> None:
        if refusal.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            _log.warning(
                "egress.refused",
                agent=self._policy.agent_id,
                group=self._policy.group,
                method=request.method.decode("ascii"),
                path=request.target.decode("ascii").partition("?")[0][:200],
                status=int(refusal.status),
            )
        await side.refuse(refusal, self._wire)

    def _remember(self, call: ProviderCall) -> None:
        if call.failure != ProviderFailure.AGENT_LEFT:
            self._last_failure = call if call.failure is not None else None


def _unreadable(error: h11.RemoteProtocolError) -> CallRefusal:
    return CallRefusal(
        status=HTTPStatus(error.error_status_hint), message=f"This is no request in HTTP/1.1: {error}."
    )
