"""The errors that both formats of OpenAI's API share."""

from collections.abc import Mapping
from typing import Any, Final

from tests.support.model_server.script import Fail
from tests.support.model_server.wires.wire import Problem, retry_after

_KINDS: Final = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
    500: ("server_error", None),
    503: ("service_unavailable_error", None),
}
_TOO_LONG: Final = Fail(
    status=400,
    code="context_length_exceeded",
    message="This model's maximum context length is 200000 tokens. However, your messages resulted in "
    "213423 tokens. Please reduce the length of the messages.",
)


def problem(fail: Fail) -> Problem:
    """An error before anything was answered."""
    said = _TOO_LONG if fail.is_context_overflow else fail
    return Problem(status=said.status, body={"error": error_of(said)}, headers=retry_after(said))


def error_of(fail: Fail) -> Mapping[str, Any]:
    """What stands in the member `error`."""
    kind, code = _KINDS.get(fail.status, ("server_error", None))
    message = fail.message or f"The model server was told to fail with {fail.status}."
    return {"message": message, "type": kind, "param": None, "code": fail.code or code}
