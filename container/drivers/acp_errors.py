"""What a program's error means: our code for it, whether it says so by an error or in an answer.

Each program has a form of its own for what its provider refused; all of them were measured.
"""

import json
import re
from typing import Final

from container.drivers.driver import AGENT_ERROR
from container.drivers.provider_errors import AUTH, BUDGET, OVERLOADED, RATE_LIMITED, TOO_LONG, code_of
from orchestrator.contracts.wire.codec import WireError, parse_json
from orchestrator.contracts.wire.container_io import TurnError

AUTH_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002

_MAX_MESSAGE_CHARS: Final = 500
_STATUS: Final = re.compile(
    r"(?:API Error:?|status(?:_?code)?\"?:?|\"code\":) ?(?P<status>[45]\d\d)\b", re.IGNORECASE
)
_KINDS: Final = (
    (re.compile(r"authentication_failed|billing_error"), AUTH),
    (re.compile(r"\brate_limit\b|usage_limit_exceeded"), RATE_LIMITED),
    (re.compile(r"\bserver_(?:error|overloaded)\b|overloaded_error"), OVERLOADED),
    (re.compile(r"prompt_too_long"), TOO_LONG),
    (re.compile(r"rate.?limit|too many requests|quota", re.IGNORECASE), RATE_LIMITED),
    (re.compile(r"authenticat|unauthori[sz]ed|api key|forbidden", re.IGNORECASE), AUTH),
    (
        re.compile(
            r"overloaded|internal server error|service unavailable|bad gateway|stream (?:error|disconnected)"
            r"|\bterminated\b",
            re.IGNORECASE,
        ),
        OVERLOADED,
    ),
    # The way out says it in these words; some programs pass on only those.
    (re.compile(r"\bbudget\b", re.IGNORECASE), BUDGET),
)
_ERROR_ANSWER: Final = re.compile(
    r"exceeded retry limit, last status: \d{3}|unexpected status \d{3}|stream (?:error|disconnected)"
    r"|(?:Failed to authenticate\. )?API Error: \d{3}\b"
)


def turn_error(message: str, *, code: int | None = None, details: object = None) -> TurnError:
    """The error of a turn whose program answered by one. code, details: JSON-RPC's code and data."""
    told = message if details is None else f"{message} {json.dumps(details, default=str)}"
    shown = _shown(message, details)[:_MAX_MESSAGE_CHARS]
    if code == AUTH_REQUIRED:
        return TurnError(code=AUTH, message=shown)
    status = _STATUS.search(told)
    found = code_of(None if status is None else int(status["status"]), told)
    if found is None and status is None:
        found = _by_words(told)
    return TurnError(code=found or AGENT_ERROR, message=shown)


def error_in_answer(text: str) -> TurnError | None:
    """The error that an answer is in truth; None for an answer. Only for one that cost nothing."""
    said = text.strip()
    if _ERROR_ANSWER.match(said):
        return turn_error(said)
    try:
        plain = parse_json(said)
    except WireError:
        return None
    error = plain.get("error") if isinstance(plain, dict) and len(plain) == 1 else None
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return None
    return turn_error(error["message"], details={key: error[key] for key in error if key != "message"})


def _by_words(told: str) -> str | None:
    return next((code for words, code in _KINDS if words.search(told)), None)


def _shown(message: str, details: object) -> str:
    """The words for the log: those in the details say more than `Internal error`."""
    if not details:
        return message
    told = details.get("message") or details.get("details") if isinstance(details, dict) else details
    return f"{message}: {told if isinstance(told, str) else json.dumps(details, default=str)}"
