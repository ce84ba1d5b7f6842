"""How a provider's program is told that a call failed: our words in the provider's own shape of an error."""

import json
from http import HTTPStatus
from typing import Any, Final, assert_never

from orchestrator.contracts.records.egress import ProviderFailure
from orchestrator.contracts.records.providers import WireFormat

_ANTHROPIC_TYPES: Final = {
    400: "invalid_request_error",
    402: "billing_error",
    403: "permission_error",
    413: "request_too_large",
    415: "invalid_request_error",
    502: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
}
_GEMINI_STATUSES: Final = {
    400: "INVALID_ARGUMENT",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    413: "INVALID_ARGUMENT",
    415: "INVALID_ARGUMENT",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def error_body(wire: WireFormat | None, status: int, message: str) -> bytes:
    """The JSON body of an error answer. wire None: no provider's program asks."""
    said = f"Dovecote: {message}"
    shaped: dict[str, Any]
    match wire:
        case WireFormat.ANTHROPIC:
            kind = _ANTHROPIC_TYPES.get(status, "api_error")
            shaped = {"type": "error", "error": {"type": kind, "message": said}}
        case WireFormat.GEMINI:
            kind = _GEMINI_STATUSES.get(status, "UNKNOWN")
            shaped = {"error": {"code": status, "message": said, "status": kind}}
        case WireFormat.OPENAI_CHAT | WireFormat.OPENAI_RESPONSES | None:
            kind = "insufficient_quota" if status == HTTPStatus.PAYMENT_REQUIRED else "dovecote_egress"
            shaped = {"error": {"message": said, "type": kind, "param": None, "code": kind}}
        case _:
            assert_never(wire)
    return json.dumps(shaped).encode()


def failure_of(status: int) -> ProviderFailure | None:
    """How the provider failed if it answers so; None where the answer is good or the request was bad."""
    match status:
        case 401 | 403:
            return ProviderFailure.CREDENTIAL_REFUSED
        case 402:
            return ProviderFailure.UNPAID
        case 429:
            return ProviderFailure.RATE_LIMITED
        case 503 | 529:
            return ProviderFailure.OVERLOADED
        case 408 | 504:
            return ProviderFailure.TOO_SLOW
        case _:
            # What redirects is not followed, so it has not answered.
            is_redirect = 300 <= status < 400 and status != HTTPStatus.NOT_MODIFIED
            return ProviderFailure.BROKEN if status >= 500 or is_redirect else None
