"""One family of errors, told apart by code and rendered once at each face.

DovecoteError
 ├── InvalidRequest      the caller's words are off
 ├── Forbidden           the caller may not
 ├── ConfirmationNeeded  the caller may if an operator says so
 ├── NotFound            what was named is not there
 ├── Conflict            what was asked clashes with what is
 ├── LimitExceeded       a bound, with its value and how to change it
 ├── Unavailable         a part we need is away; trying again may help
 └── StartFailed         an agent could not be started
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class ErrorCode(StrEnum):
    """What went wrong, in the words of the documents. Source: contracts.md section 4."""

    INVALID_REQUEST = "INVALID_REQUEST"
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    FORBIDDEN = "FORBIDDEN"
    UNAUTHORIZED = "UNAUTHORIZED"
    NOT_FOUND = "NOT_FOUND"
    NOT_REGISTERED = "NOT_REGISTERED"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    ALREADY_REGISTERED = "ALREADY_REGISTERED"
    INVALID_SETTINGS = "INVALID_SETTINGS"
    INVALID_SCHEDULE = "INVALID_SCHEDULE"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    RATE_LIMITED = "RATE_LIMITED"
    ATTACHMENT_REFUSED = "ATTACHMENT_REFUSED"
    CONFIRMATION_NEEDED = "CONFIRMATION_NEEDED"
    CHANNEL_UNAVAILABLE = "CHANNEL_UNAVAILABLE"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    RUNNER_UNAVAILABLE = "RUNNER_UNAVAILABLE"
    START_FAILED = "START_FAILED"
    ALREADY_RUNNING = "ALREADY_RUNNING"
    NOT_RUNNING = "NOT_RUNNING"
    MISSING_TASK = "MISSING_TASK"
    INVALID_TIMEOUT = "INVALID_TIMEOUT"
    INVALID_WORKSPACE = "INVALID_WORKSPACE"
    TOKEN_EXPIRED = "TOKEN_EXPIRED"
    TOKEN_INVALID = "TOKEN_INVALID"
    TOKEN_TREE_INVALID = "TOKEN_TREE_INVALID"
    TOKEN_PARENT_INVALID = "TOKEN_PARENT_INVALID"
    SPAWN_DISABLED = "SPAWN_DISABLED"
    DEPTH_EXCEEDED = "DEPTH_EXCEEDED"
    QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
    PARENT_NOT_FOUND = "PARENT_NOT_FOUND"
    PARENT_NOT_RUNNING = "PARENT_NOT_RUNNING"
    WORKSPACE_NOT_ALLOWED = "WORKSPACE_NOT_ALLOWED"
    AGENT_NOT_FOUND = "AGENT_NOT_FOUND"
    WOULD_DEADLOCK = "WOULD_DEADLOCK"
    TIMEOUT = "TIMEOUT"
    INTERNAL_ERROR = "INTERNAL_ERROR"


SENTENCE_ENDS: Final = (".", "!", "?", "…", ":", ")", "”")
"""What a sentence ends with, behind which another one may stand."""
KEPT_OF_BOXES: Final = frozenset(
    {
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TYPE,
        ErrorCode.FORBIDDEN,
        ErrorCode.RATE_LIMITED,
        ErrorCode.INTERNAL_ERROR,
    }
)
"""Of a request file that was refused so, a copy is kept for the operator."""


class DovecoteError(Exception):
    """A failure that somebody can act on.

    message: names the thing, the value and the limit. suggestion: what the caller can do.
    details: JSON values. retry_after_s: when trying again makes sense.
    """

    code: ErrorCode = ErrorCode.INTERNAL_ERROR
    retryable: bool = False

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | None = None,
        suggestion: str | None = None,
        details: Mapping[str, object] | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code if code is not None else type(self).code
        self.suggestion = suggestion
        self.details = dict(details or {})
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        if not self.suggestion:
            return self.message
        stop = "" if self.message.rstrip().endswith(SENTENCE_ENDS) else "."
        return f"{self.message}{stop} {self.suggestion}"


class InvalidRequest(DovecoteError):
    """The caller's words are off: wrong fields, wrong type, out of range."""

    code = ErrorCode.INVALID_REQUEST


class InvalidSettings(InvalidRequest):
    """A setting is unknown, of the wrong type or out of range."""

    code = ErrorCode.INVALID_SETTINGS


class InvalidSchedule(InvalidRequest):
    """A schedule or a timezone that names no time; `details` has the field, its value and what it takes."""

    code = ErrorCode.INVALID_SCHEDULE


class Forbidden(DovecoteError):
    """The caller may not do this to that."""

    code = ErrorCode.FORBIDDEN


class ConfirmationNeeded(DovecoteError):
    """The caller may do this only if an operator says so; `details` has the number he says it by."""

    code = ErrorCode.CONFIRMATION_NEEDED


class NotFound(DovecoteError):
    """What was named is not there."""

    code = ErrorCode.NOT_FOUND


class Conflict(DovecoteError):
    """What was asked clashes with what already is."""

    code = ErrorCode.ALREADY_REGISTERED


class LimitExceeded(DovecoteError):
    """A bound was met; the message names it with its value."""

    code = ErrorCode.LIMIT_EXCEEDED


class Unavailable(DovecoteError):
    """A part we need is away; the same call may succeed later."""

    code = ErrorCode.STORE_UNAVAILABLE
    retryable = True


class StartFailed(DovecoteError):
    """An agent could not be started, or did not say that it is ready."""

    code = ErrorCode.START_FAILED
    retryable = True
