"""The words that make a message readable which is no text: brackets, lists, times, amounts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from orchestrator.channels.whatsapp.media import MessageFile

ON_PHONE_ONLY: Final = "[A message that cannot be read: only the phone can show it]"
_MAX_ITEMS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a message says. context: the part that holds quote and mentions, if it has one.

    about: the id of the message that it belongs to, where that is no quote. is_context_only: nobody
    speaks to the assistant by it.
    """

    text: str
    context: Any = None
    file: MessageFile | None = None
    about: str = ""
    is_context_only: bool = False


def bracketed(what: str, facts: str) -> str:
    """`[what: facts]`, or `[what]` without facts."""
    return f"[{what}: {facts}]" if facts.strip() else f"[{what}]"


def joined(*parts: str) -> str:
    """What is not blank of these, with commas."""
    return ", ".join(part.strip() for part in parts if part.strip())


def join_lines(*parts: str) -> str:
    """What is not blank of these, each on lines of its own."""
    return "\n".join(part.strip() for part in parts if part.strip())


def listed(what: str, title: str, items: Sequence[str]) -> str:
    """A title in brackets and the items below it; of very many the first 50."""
    shown = [f"- {item.strip()}" for item in items[:_MAX_ITEMS] if item.strip()]
    left = len(items) - _MAX_ITEMS
    return join_lines(bracketed(what, title), *shown, f"- … and {left} more" if left > 0 else "")


def counted(number: int, what: str) -> str:
    """`1 photo`, `3 photos`; empty if there is none."""
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def minutes(seconds: int) -> str:
    """A length as people write it: `0:07`, `12:30`, `1:02:03`."""
    whole_minutes, rest = divmod(max(seconds, 0), 60)
    hours, left = divmod(whole_minutes, 60)
    return f"{hours}:{left:02d}:{rest:02d}" if hours else f"{left}:{rest:02d}"


def at_s(seconds: int) -> str:
    """An instant in seconds since 1970, in UTC; empty if it is none."""
    instant = instant_of(seconds * 1000)
    return "" if instant is None else f"{instant:%Y-%m-%d %H:%M} UTC"


def at_ms(milliseconds: int) -> str:
    """An instant in milliseconds since 1970, in UTC; empty if it is none."""
    return at_s(milliseconds // 1000)


def instant_of(milliseconds: int) -> datetime | None:
    """The instant; None for zero, what is before 1970, and what no calendar holds."""
    if milliseconds <= 0:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None


def money(thousandths: int, currency: str) -> str:
    """An amount in thousandths of its currency: `12.50 EUR`; empty if it is nothing."""
    return f"{thousandths / 1000:.2f} {currency}".strip() if thousandths else ""
