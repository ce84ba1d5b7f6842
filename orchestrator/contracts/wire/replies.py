"""The answer to a request that carried a `requestId`. Source: contracts.md section 3."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.contracts.ids import RequestId
from orchestrator.contracts.wire.codec import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyError(Wire):
    """Why a request was refused, and what the caller can do."""

    code: str
    message: str
    suggestion: str | None = None
    details: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Wire):
    """`replies/{requestId}.json`: either `result` or `error`."""

    request_id: RequestId
    ok: bool
    result: Mapping[str, object] | None = None
    error: ReplyError | None = None
