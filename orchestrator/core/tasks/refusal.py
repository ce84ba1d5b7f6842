"""How every refused schedule is put: the field, what it holds, and what it takes."""

from typing import Final

from orchestrator.contracts.errors import InvalidSchedule

_MAX_QUOTED: Final = 60


def refusal(
    message: str, *, field: str, value: str, allowed: str, suggestion: str | None = None
) -> InvalidSchedule:
    """The error for one field. Without a suggestion it says what is allowed."""
    return InvalidSchedule(
        message,
        suggestion=suggestion or f"It takes {allowed}.",
        details={"field": field, "value": shortened(value), "allowed": allowed},
    )


def shortened(value: str) -> str:
    """The beginning of a value that a caller chose, as text that can be sent anywhere."""
    plain = value.encode("utf-8", "backslashreplace").decode("utf-8")  # JSON may hold half a surrogate pair
    return plain if len(plain) <= _MAX_QUOTED else f"{plain[:_MAX_QUOTED]}…"


def quoted(value: str) -> str:
    """The same in quotes, with nothing in it that a terminal or a chat would act on."""
    return repr(shortened(value))
