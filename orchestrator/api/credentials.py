"""From a bearer to a caller: the operator's token, or a program's API key."""

import hmac

from orchestrator.api.bearer import bearer_of
from orchestrator.api.gate import UNIX_PEER
from orchestrator.api.operator_token import Unauthorized
from orchestrator.api.rates import RateLimits
from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import caller_of_key, check_scope
from orchestrator.contracts.callers import KeyCaller, OperatorCaller
from orchestrator.contracts.records.tokens import Scope


class Credentials:
    """Knows who a bearer is, and how often each may ask."""

    def __init__(self, operator_token: str, services: Services) -> None:
        settings = services.settings.api
        self._operator_token = operator_token.encode()
        self._services = services
        self._dev_mode = settings.dev_mode
        self._asked = RateLimits(
            services.clock, per_minute=settings.requests_per_minute, setting="api.requests_per_minute"
        )
        self._refused = RateLimits(
            services.clock, per_minute=settings.refusals_per_minute, setting="api.refusals_per_minute"
        )

    async def caller(self, authorization: str | None, *, peer: str) -> OperatorCaller | KeyCaller:
        """Who sends this `Authorization` header. Raises Unauthorized, LimitExceeded.

        peer: the address it comes from. Only requests without a good credential count against that: all
        programs of a machine share one address, and none may shut the others out.
        """
        try:
            caller = await self._known(authorization, peer)
        except Unauthorized:
            self._refused.take(peer)
            raise
        self._asked.take(f"key:{caller.name}" if isinstance(caller, KeyCaller) else "operator")
        return caller

    async def _known(self, authorization: str | None, peer: str) -> OperatorCaller | KeyCaller:
        if authorization is None and self._dev_mode and peer == UNIX_PEER:
            return OperatorCaller()
        offered = bearer_of(authorization)
        if hmac.compare_digest(offered.encode(), self._operator_token):
            return OperatorCaller()
        if (key := await caller_of_key(self._services, offered)) is not None:
            return key
        raise Unauthorized(
            "This token is neither the operator's nor an API key of this orchestrator.",
            suggestion="Take it from data/store/operator.token of its home, or have a key made: "
            "dovecote api-key add NAME",
        )


def operator_only(caller: OperatorCaller | KeyCaller) -> OperatorCaller:
    """The operator, or a program that he lets act for him. Raises Forbidden."""
    check_scope(caller, Scope.MANAGE)
    return OperatorCaller()
