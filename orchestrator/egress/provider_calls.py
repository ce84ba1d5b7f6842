"""An agent's requests to its provider: judged, sent on with the credential, answered as they come."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import h11

from orchestrator.contracts.records.egress import EgressPolicy, ProviderCall
from orchestrator.contracts.records.providers import ProviderApi
from orchestrator.core.sandbox.refusal import CallRefusal, forbidden, malformed
from orchestrator.core.sandbox.request_rules import (
    Headers,
    RequestTarget,
    forwarded_headers,
    is_allowed,
    read_target,
)
from orchestrator.egress.agent_side import AgentSide
from orchestrator.egress.byte_room import ByteRoom
from orchestrator.egress.provider_exchange import Asked, CallParts, ProviderExchange
from orchestrator.egress.request_body import Checked, check_body
from orchestrator.egress.upstream import Upstream

# A bigger body is read apart from the loop, which other agents share.
_SMALL_BYTES: Final = 64 * 1024
# So many of the largest bodies are held at a time.
_LARGEST_HELD: Final = 2


class ProviderCalls:
    """The calls of one agent."""

    def __init__(
        self,
        policy: EgressPolicy,
        api: ProviderApi,
        upstream: Upstream,
        parts: CallParts,
        *,
        on_end: Callable[[ProviderCall], None],
    ) -> None:
        limits = policy.limits
        self._policy = policy
        self._api = api
        self._parts = parts
        self._exchange = ProviderExchange(policy, api, upstream, parts, on_end=on_end)
        self._slots = asyncio.Semaphore(limits.requests_in_flight)
        self._room = ByteRoom(_LARGEST_HELD * limits.request_bytes)

    async def serve(self, request: h11.Request, side: AgentSide) -> CallRefusal | None:
        """Answer from the provider; a refusal if the request goes nowhere."""
        method = request.method.decode("ascii")
        target = read_target(request.target.decode("ascii"))
        if isinstance(target, CallRefusal):
            return target
        if not is_allowed(method, target.path, self._api.calls):
            return forbidden(
                f"{method} {target.path} is not among the provider's calls that agents may make."
            )
        announced = _announced_bytes(request)
        if announced is not None and announced > self._policy.limits.request_bytes:
            return self._too_large()
        at_most = self._policy.limits.request_bytes
        async with self._room.held(at_most if announced is None else announced) as held:
            body = await side.body(at_most=at_most)
            if body is None:
                return self._too_large()
            held.shrink(len(body))
            return await side.while_present(self._with_body(method, target, request, body, side))

    async def _with_body(
        self, method: str, target: RequestTarget, request: h11.Request, body: bytes, side: AgentSide
    ) -> CallRefusal | None:
        checked = await self._checked(method, body)
        if isinstance(checked, CallRefusal):
            return checked
        headers: Headers = forwarded_headers(list(request.headers))
        asked = Asked(method=method, target=target, headers=headers, body=checked.body, model=checked.model)
        meter, policy = self._parts.meter, self._policy
        async with self._slots:
            if (reason := await meter.why_not(policy.agent_id, policy.group)) is not None:
                return CallRefusal(status=HTTPStatus.PAYMENT_REQUIRED, message=reason)
            return await self._exchange.make(asked, side)

    async def _checked(self, method: str, body: bytes) -> Checked | CallRefusal:
        if method != "POST":
            return malformed(f"{method} has no body.") if body else Checked(body=b"", model=None)
        allows = self._policy.allows_provider_tools
        if len(body) <= _SMALL_BYTES:
            return check_body(self._api.wire, body, allows_provider_tools=allows)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._parts.threads, lambda: check_body(self._api.wire, body, allows_provider_tools=allows)
        )

    def _too_large(self) -> CallRefusal:
        size = self._policy.limits.request_bytes
        return CallRefusal(
            status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            message=f"The request is larger than {size:,} bytes: shorten the conversation, or begin anew.",
        )


def _announced_bytes(request: h11.Request) -> int | None:
    """How long the body will be; None if it comes in chunks."""
    for name, value in request.headers:
        if name == b"content-length":
            return int(value)
        if name == b"transfer-encoding":
            return None
    return 0
