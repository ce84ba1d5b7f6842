"""What an agent asks of us through its own socket: `POST /api/v1/spawn`, and the events of what came of it.

Source: seed 000, agents.md sections 1 and 2.
"""

import json
from collections.abc import Awaitable
from typing import Final, TypeVar

import structlog

from orchestrator.api.bearer import bearer_of
from orchestrator.api.event_socket import EventSocket
from orchestrator.api.rates import RateLimits
from orchestrator.api.render_errors import error_headers, spawn_error_body, status_of
from orchestrator.api.spawn_body import read_body
from orchestrator.commands.agents.event_views import sight_of
from orchestrator.commands.agents.tokens import TokenRefused, caller_of_token
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_calls import spawn_and_wait, spawn_response
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.egress_seams import AgentWatch, TextSocket
from orchestrator.contracts.errors import DovecoteError, InvalidRequest, LimitExceeded
from orchestrator.contracts.live_events import LiveEvents
from orchestrator.contracts.records.egress import AgentAnswer, AgentCall

_log = structlog.get_logger(__name__)
_OK: Final = 200
T = TypeVar("T")


class AgentFace:
    """Answers agents: an `AgentApi`. A socket alone makes nobody known; the token has to be its agent's."""

    def __init__(self, services: Services, live: LiveEvents) -> None:
        self._services = services
        self._live = live
        settings = services.settings.api
        self._refused = RateLimits(
            services.clock, per_minute=settings.refusals_per_minute, setting="api.refusals_per_minute"
        )

    async def answer(self, call: AgentCall) -> AgentAnswer:
        """The result of the child, or why there is none. Raises nothing but cancellation."""
        told = await _told(call, self._spawn(call))
        return told if isinstance(told, AgentAnswer) else _json(_OK, told, {})

    async def watch(self, call: AgentCall) -> AgentAnswer | AgentWatch:
        """What serves the reader, who sees himself and what is below him; or why he may not read."""
        return await _told(call, self._open(call))

    async def _spawn(self, call: AgentCall) -> object:
        if call.method != "POST":
            raise InvalidRequest(f"{call.method} is not answered here.", suggestion="Use POST.")
        caller = await self._caller(call)
        asked = read_body(call.body)
        work = spawn_and_wait(self._services, caller, asked.spec, parent=asked.parent, reword=asked.reword)
        return spawn_response(await work)

    async def _caller(self, call: AgentCall) -> AgentCaller:
        # Each look at a bad token is kept for the audit: an agent that tries without end fills nothing.
        self._refused.check(call.agent_id)
        try:
            token = bearer_of(call.authorization)
            return await caller_of_token(self._services, token, through=call.agent_id)
        except TokenRefused:
            self._refused.take(call.agent_id)
            raise

    async def _open(self, call: AgentCall) -> AgentWatch:
        sight = await sight_of(self._services, await self._caller(call))

        async def is_known() -> bool:
            # Not counted with its other attempts: an agent could keep these up to keep a dead token's stream.
            try:
                token = bearer_of(call.authorization)
                await caller_of_token(self._services, token, through=call.agent_id)
            except DovecoteError as error:
                return not isinstance(error, TokenRefused)
            return True

        async def serve(socket: TextSocket) -> None:
            try:
                subscriber = self._live.subscribe(only=sight.agents)
            except LimitExceeded as error:
                await socket.refuse(error.message)
                return
            try:
                await EventSocket(socket, self._services, subscriber, sight, is_known).run()
            finally:
                subscriber.close()

        return serve


async def _told(call: AgentCall, work: Awaitable[T]) -> T | AgentAnswer:
    """What comes of it, or the refusal."""
    try:
        return await work
    except DovecoteError as error:
        return _json(status_of(error), spawn_error_body(error), error_headers(error))
    except Exception:  # the agent is told that it is our fault, the log what it is
        _log.exception("api.agent_call_failed", agent=call.agent_id)
        fault = DovecoteError("Something went wrong inside Dovecote; its log says what.")
        return _json(status_of(fault), spawn_error_body(fault), {})


def _json(status: int, body: object, headers: dict[str, str]) -> AgentAnswer:
    return AgentAnswer(status=status, headers=headers, body=json.dumps(body).encode())
