"""`POST /api/v1/spawn` of an agent, through its own socket. Source: seed 000, agents.md section 2."""

import json
from typing import Final

import structlog

from orchestrator.api.bearer import bearer_of
from orchestrator.api.rates import RateLimits
from orchestrator.api.render_errors import error_headers, spawn_error_body, status_of
from orchestrator.api.spawn_body import read_body
from orchestrator.commands.agents.tokens import TokenRefused, caller_of_token
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_calls import spawn_and_wait, spawn_response
from orchestrator.contracts.errors import DovecoteError, InvalidRequest
from orchestrator.contracts.records.egress import AgentAnswer, AgentCall

_log = structlog.get_logger(__name__)
_OK: Final = 200


class AgentSpawnApi:
    """Answers agents: an `AgentApi`. A socket alone makes nobody known; the token has to be its agent's."""

    def __init__(self, services: Services) -> None:
        self._services = services
        settings = services.settings.api
        self._refused = RateLimits(
            services.clock, per_minute=settings.refusals_per_minute, setting="api.refusals_per_minute"
        )

    async def answer(self, call: AgentCall) -> AgentAnswer:
        """The result of the child, or why there is none. Raises nothing but cancellation."""
        try:
            told = await self._spawn(call)
        except DovecoteError as error:
            return _json(status_of(error), spawn_error_body(error), error_headers(error))
        except Exception:  # the agent is told that it is our fault, the log what it is
            _log.exception("api.agent_spawn_failed", agent=call.agent_id)
            fault = DovecoteError("Something went wrong inside Dovecote; its log says what.")
            return _json(status_of(fault), spawn_error_body(fault), {})
        return _json(_OK, told, {})

    async def _spawn(self, call: AgentCall) -> object:
        if call.method != "POST":
            raise InvalidRequest(f"{call.method} is not answered here.", suggestion="Use POST.")
        # Each look at a bad token is kept for the audit: an agent that tries without end fills nothing.
        self._refused.check(call.agent_id)
        try:
            token = bearer_of(call.authorization)
            caller = await caller_of_token(self._services, token, through=call.agent_id)
        except TokenRefused:
            self._refused.take(call.agent_id)
            raise
        asked = read_body(call.body)
        return spawn_response(await spawn_and_wait(self._services, caller, asked.spec, parent=asked.parent))


def _json(status: int, body: object, headers: dict[str, str]) -> AgentAnswer:
    return AgentAnswer(status=status, headers=headers, body=json.dumps(body).encode())
