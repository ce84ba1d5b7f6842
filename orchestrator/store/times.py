"""Aware datetimes in Python, integer epoch milliseconds in SQLite, and how lists show them."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def to_ms(at: datetime) -> int:
    """Epoch milliseconds of an aware datetime; what is finer is cut off."""
    return (at - _EPOCH) // _MILLISECOND


def from_ms(ms: int) -> datetime:
    """The aware datetime, in UTC, of epoch milliseconds."""
    return _EPOCH + ms * _MILLISECOND


def maybe_from_ms(ms: int | None) -> datetime | None:
    """As `from_ms`; None stays None."""
    return None if ms is None else from_ms(ms)


def shown_at(at: datetime | None) -> str | None:
    """As lists show an instant: to the second, with its offset; None stays None."""
    return None if at is None else at.isoformat(timespec="seconds")
