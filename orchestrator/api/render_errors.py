"""A `DovecoteError` as an HTTP answer: `{"error": {code, message, suggestion, details}}`."""

import math
from collections.abc import Mapping
from typing import Any, Final

from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.contracts.records.egress import SPAWN_PATH

STATUS: Final[Mapping[ErrorCode, int]] = {
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.UNKNOWN_TYPE: 400,
    ErrorCode.INVALID_SETTINGS: 400,
    ErrorCode.INVALID_SCHEDULE: 400,
    ErrorCode.ATTACHMENT_REFUSED: 400,
    ErrorCode.MISSING_TASK: 400,
    ErrorCode.INVALID_TIMEOUT: 400,
    ErrorCode.INVALID_WORKSPACE: 400,
    ErrorCode.UNAUTHORIZED: 401,
    ErrorCode.TOKEN_EXPIRED: 401,
    ErrorCode.TOKEN_INVALID: 401,
    ErrorCode.TOKEN_TREE_INVALID: 401,
    ErrorCode.TOKEN_PARENT_INVALID: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.SPAWN_DISABLED: 403,
    ErrorCode.DEPTH_EXCEEDED: 403,
    ErrorCode.QUOTA_EXCEEDED: 403,
    ErrorCode.PARENT_NOT_FOUND: 403,
    ErrorCode.PARENT_NOT_RUNNING: 403,
    ErrorCode.WORKSPACE_NOT_ALLOWED: 403,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.AGENT_NOT_FOUND: 404,
    ErrorCode.NOT_REGISTERED: 404,
    ErrorCode.TASK_NOT_FOUND: 404,
    ErrorCode.ALREADY_REGISTERED: 409,
    ErrorCode.CONFIRMATION_NEEDED: 409,
    ErrorCode.ALREADY_RUNNING: 409,
    ErrorCode.WOULD_DEADLOCK: 409,
    ErrorCode.LIMIT_EXCEEDED: 422,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.INTERNAL_ERROR: 500,
    ErrorCode.START_FAILED: 502,
    ErrorCode.CHANNEL_UNAVAILABLE: 503,
    ErrorCode.NOT_RUNNING: 503,
    ErrorCode.STORE_UNAVAILABLE: 503,
    ErrorCode.RUNNER_UNAVAILABLE: 503,
    ErrorCode.TIMEOUT: 504,
}
"""The HTTP status of each code."""

_NO_ROUTE: Final[Mapping[int, str]] = {
    404: "There is nothing at this path",
    405: "This path is there, but not for this method",
}
_ROUTES: Final = "GET /openapi.json lists the routes with their methods."


def status_of(error: DovecoteError) -> int:
    """The HTTP status of an error: a limit that lifts by itself is no fault of the request. Decision X16."""
    if error.code is ErrorCode.LIMIT_EXCEEDED and error.retry_after_s is not None:
        return 503
    return STATUS[error.code]


def spawn_error_body(error: DovecoteError) -> dict[str, Any]:
    """`SpawnErrorResponse` of seed 000."""
    body: dict[str, Any] = {"error": str(error), "code": error.code.value}
    quota = error.details.get("quota_info")
    return body if quota is None else body | {"quota_info": quota}


def error_body(error: DovecoteError) -> dict[str, Any]:
    """What the client reads; `suggestion` and `details` only where there are some."""
    body: dict[str, Any] = {"code": error.code.value, "message": error.message}
    if error.suggestion:
        body["suggestion"] = error.suggestion
    if error.details:
        body["details"] = error.details
    return {"error": body}


def body_at(path: str, error: DovecoteError) -> dict[str, Any]:
    """In our own shape, or in that of the document which the path is from."""
    return spawn_error_body(error) if path == SPAWN_PATH else error_body(error)


def error_headers(error: DovecoteError) -> dict[str, str]:
    """`Retry-After` in whole seconds where the error knows it; the scheme where a token is missing."""
    headers: dict[str, str] = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(math.ceil(error.retry_after_s))
    if error.code is ErrorCode.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return headers


def from_http(status: int, detail: str) -> DovecoteError:
    """An error of the HTTP layer itself, such as an unknown path."""
    codes = {404: ErrorCode.NOT_FOUND, 413: ErrorCode.LIMIT_EXCEEDED}
    code = codes.get(status, ErrorCode.INTERNAL_ERROR if status >= 500 else ErrorCode.INVALID_REQUEST)
    suggestion = _ROUTES if status in _NO_ROUTE else None
    return DovecoteError(f"{_NO_ROUTE.get(status, detail)}.", code=code, suggestion=suggestion)


def from_body(status: int, body: object) -> DovecoteError:
    """The client's side: the error that an answer stands for, whatever sent it."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return DovecoteError(f"The orchestrator answered with HTTP status {status}.")
    codes = {each.value: each for each in ErrorCode}
    details = error.get("details")
    return DovecoteError(
        str(error.get("message")),
        code=codes.get(str(error.get("code")), ErrorCode.INTERNAL_ERROR),
        suggestion=str(error["suggestion"]) if error.get("suggestion") else None,
        details=details if isinstance(details, dict) else None,
    )
