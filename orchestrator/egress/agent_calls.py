"""What an agent asks of the orchestrator itself, by the same socket that leads to its provider."""

from http import HTTPStatus
from typing import Final

import h11

from orchestrator.contracts.records.egress import SPAWN_PATH, AgentCall, EgressPolicy
from orchestrator.contracts.seams import AgentApi
from orchestrator.core.sandbox.refusal import Refusal
from orchestrator.core.sandbox.request_rules import Headers
from orchestrator.egress.agent_side import AgentSide

_MAX_BODY_BYTES: Final = 1024 * 1024


class AgentCalls:
    """The calls of one agent. Who asks is known by the socket, and by the token that is checked with it."""

    def __init__(self, policy: EgressPolicy, api: AgentApi) -> None:
        self._policy = policy
        self._api = api

    def serves(self, request: h11.Request) -> bool:
        """Whether this request is for the orchestrator."""
        return self._policy.serves_spawn and request.target.partition(b"?")[0] == SPAWN_PATH.encode()

    async def serve(self, request: h11.Request, side: AgentSide) -> Refusal | None:
        """Answer it; a refusal for a body that is too long. An agent that hangs up ends only its waiting."""
        body = await side.body(at_most=_MAX_BODY_BYTES)
        if body is None:
            return Refusal(
                status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                message=f"The body is over {_MAX_BODY_BYTES} bytes: send less at once.",
            )
        call = AgentCall(
            agent_id=self._policy.agent_id,
            method=request.method.decode("ascii"),
            authorization=_authorization(list(request.headers)),
            body=body,
        )
        answer = await side.while_present(self._api.answer(call))
        headers = [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
        length = (b"content-length", str(len(answer.body)).encode())
        await side.begin_answer(answer.status, [(b"content-type", b"application/json"), length, *headers])
        await side.pass_on(answer.body)
        await side.end_answer()
        return None


def _authorization(headers: Headers) -> str | None:
    """The one `Authorization` header; two of them are none."""
    found = [value.decode("latin-1") for name, value in headers if name == b"authorization"]
    return found[0] if len(found) == 1 else None
