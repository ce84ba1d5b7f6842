"""What an agent asks of the orchestrator itself, by the same socket that leads to its provider."""

import asyncio
from http import HTTPStatus
from typing import Final

import h11

from orchestrator.contracts.egress_seams import AgentApi
from orchestrator.contracts.records.egress import (
    EVENT_PATHS,
    SPAWN_PATH,
    AgentAnswer,
    AgentCall,
    EgressPolicy,
)
from orchestrator.core.sandbox.refusal import CallRefusal, malformed
from orchestrator.core.sandbox.request_rules import Headers
from orchestrator.egress.agent_side import AgentSide
from orchestrator.egress.agent_sockets import AgentSocket, accepting_headers, wants_socket

_MAX_BODY_BYTES: Final = 1024 * 1024
_MAX_SOCKETS: Final = 4
"""WebSockets that an agent may have open: there are only so many readers of events for all."""


class AgentCalls:
    """The calls of one agent. Who asks is known by the socket, and by the token that is checked with it."""

    def __init__(self, policy: EgressPolicy, api: AgentApi) -> None:
        self._policy = policy
        self._api = api
        self._sockets = 0

    def serves(self, request: h11.Request) -> bool:
        """Whether this request is for the orchestrator."""
        return self._policy.serves_spawn and (_path(request) == SPAWN_PATH or _asks_for_events(request))

    async def serve(
        self,
        request: h11.Request,
        side: AgentSide,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> CallRefusal | None:
        """Answer it; a refusal for what is malformed or too much. An agent that hangs up ends only its
        waiting."""
        if _asks_for_events(request):
            return await self._watch(request, side, reader, writer)
        return await self._call(request, side)

    async def _call(self, request: h11.Request, side: AgentSide) -> CallRefusal | None:
        body = await side.body(at_most=_MAX_BODY_BYTES)
        if body is None:
            return CallRefusal(
                status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                message=f"The body is over {_MAX_BODY_BYTES} bytes: send less at once.",
            )
        await _send(await side.while_present(self._api.answer(self._as_call(request, body))), side)
        return None

    async def _watch(
        self,
        request: h11.Request,
        side: AgentSide,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> CallRefusal | None:
        """Become a WebSocket, if the agent may read, and be one to its end."""
        accepting = accepting_headers(list(request.headers))
        if accepting is None or await side.body(at_most=0) is None:
            return malformed("This is no handshake of a WebSocket, version 13.")
        if self._sockets >= _MAX_SOCKETS:
            return CallRefusal(
                status=HTTPStatus.TOO_MANY_REQUESTS,
                message=f"{_MAX_SOCKETS} WebSockets are open already: close one first.",
            )
        self._sockets += 1
        try:
            watch = await self._api.watch(self._as_call(request, b""))
            if isinstance(watch, AgentAnswer):
                await _send(watch, side)
                return None
            ahead = await side.accept_upgrade(accepting)
            socket = AgentSocket(reader, writer, ahead=ahead, idle_s=self._policy.limits.idle_s)
            try:
                await watch(socket)
            finally:
                await socket.close()
        finally:
            self._sockets -= 1
        return None

    def _as_call(self, request: h11.Request, body: bytes) -> AgentCall:
        return AgentCall(
            agent_id=self._policy.agent_id,
            method=request.method.decode("ascii"),
            authorization=_authorization(list(request.headers)),
            body=body,
        )


async def _send(answer: AgentAnswer, side: AgentSide) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
    length = (b"content-length", str(len(answer.body)).encode())
    await side.begin_answer(answer.status, [(b"content-type", b"application/json"), length, *headers])
    await side.pass_on(answer.body)
    await side.end_answer()


def _path(request: h11.Request) -> str:
    return request.target.partition(b"?")[0].decode("latin-1")


def _asks_for_events(request: h11.Request) -> bool:
    return request.method == b"GET" and _path(request) in EVENT_PATHS and wants_socket(list(request.headers))


def _authorization(headers: Headers) -> str | None:
    """The one `Authorization` header; two of them are none."""
    found = [value.decode("latin-1") for name, value in headers if name == b"authorization"]
    return found[0] if len(found) == 1 else None
