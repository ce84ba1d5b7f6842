"""What the end of a prompt means: an error of the provider's in our words, or none."""

from enum import StrEnum
from typing import Final

from container.drivers.claude_events import Finished
from container.drivers.driver import AGENT_ERROR
from container.drivers.provider_errors import AUTH, OVERLOADED, RATE_LIMITED, TOO_LONG, code_of
from orchestrator.contracts.wire.container_io import TurnError

_MAX_MESSAGE_CHARS: Final = 500
_CODES_BY_KIND: Final = {
    "authentication_failed": AUTH,
    "billing_error": AUTH,
    "rate_limit": RATE_LIMITED,
    "server_error": OVERLOADED,
}


class Ending(StrEnum):
    """How a prompt ended, beside well and by an error."""

    WELL = "well"
    CANCELLED = "cancelled"
    OUT_OF_STEPS = "out_of_steps"
    REFUSED = "refused"
    FAILED = "failed"


def ending_of(finished: Finished) -> Ending:
    """How it ended. Only `is_error` tells a failure: a provider's error has the subtype `success`."""
    if not finished.is_error:
        return Ending.WELL
    if finished.reason.startswith("aborted"):
        return Ending.CANCELLED
    if finished.reason == "max_turns" or finished.subtype == "error_max_turns":
        return Ending.OUT_OF_STEPS
    if finished.stop_reason == "refusal":
        return Ending.REFUSED
    return Ending.FAILED


def error_of(finished: Finished) -> TurnError:
    """The error of an end that failed, with the code that says what is to be done about it."""
    message = finished.text or finished.reason or finished.subtype
    return TurnError(code=_code(finished), message=message[:_MAX_MESSAGE_CHARS])


def _code(finished: Finished) -> str:
    if finished.reason == "prompt_too_long":
        return TOO_LONG
    code = code_of(finished.status, finished.text) or _CODES_BY_KIND.get(finished.kind or "")
    return code or AGENT_ERROR
