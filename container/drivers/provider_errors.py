"""What a provider's refusal means for a turn: its code, by HTTP status and by the words around it.

The codes are those of contracts.md section 2; what no provider is to blame for has none.
"""

import re
from typing import Final

RATE_LIMITED: Final = "PROVIDER_RATE_LIMITED"
OVERLOADED: Final = "PROVIDER_OVERLOADED"
AUTH: Final = "PROVIDER_AUTH"
TOO_LONG: Final = "CONTEXT_TOO_LONG"
BUDGET: Final = "BUDGET_EXCEEDED"

_CODES_BY_STATUS: Final = {401: AUTH, 403: AUTH, 408: OVERLOADED, 413: TOO_LONG, 429: RATE_LIMITED}
_TOO_LONG: Final = re.compile(
    r"prompt is too long|(?:input|context|conversation)[^.]* (?:too long|exceeds?|limit)|context window"
    r"|maximum context length|context_length_exceeded|context_window_exceeded",
    re.IGNORECASE,
)
# Nobody answered at all: the provider is away, or the way out is.
_NO_CONNECTION: Final = re.compile(
    r"connection error|unable to connect|connection (?:refused|reset|closed)|timed? ?out|fetch failed",
    re.IGNORECASE,
)
_BUDGET: Final = re.compile(r"budget", re.IGNORECASE)
_PAYMENT_REQUIRED: Final = 402
_FORBIDDEN: Final = 403
# The way out signs what it refuses itself: then no credential is wrong.
_OUR_REFUSAL: Final = re.compile(r"\bDovecote: ")


def code_of(status: int | None, text: str) -> str | None:
    """The code for a provider's answer; None if neither status nor text is known.

    status: of the HTTP answer, None where nobody tells it. text: the provider's or its program's words.
    """
    if status == _PAYMENT_REQUIRED:
        # The way out says it of a budget of ours, a provider of its account.
        return BUDGET if _BUDGET.search(text) or _OUR_REFUSAL.search(text) else AUTH
    if status == _FORBIDDEN and _OUR_REFUSAL.search(text):
        return None
    if status in (None, 400) and _TOO_LONG.search(text):
        return TOO_LONG
    if status in _CODES_BY_STATUS:
        return _CODES_BY_STATUS[status]
    if status is not None:
        return OVERLOADED if status >= 500 else None
    return OVERLOADED if _NO_CONNECTION.search(text) else None
