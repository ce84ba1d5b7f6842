"""How long to wait before the next try."""

from datetime import datetime, timedelta
from typing import Final

# 2 ** 60 times anything is over every limit; larger powers would overflow a float.
_MOST_DOUBLINGS: Final = 60


def delay_s(attempt: int, *, first_s: float, most_s: float) -> float:
    """Seconds to wait after the `attempt`th failure (from 1): `first_s`, doubling, never over `most_s`."""
    doublings = min(max(attempt - 1, 0), _MOST_DOUBLINGS)
    return min(first_s * 2.0**doublings, most_s)


def is_due(due_at: datetime, *, now: datetime, longest: timedelta) -> bool:
    """Whether a wait until `due_at` is over.

    longest: no wait is made longer than this. One that seems to be was made before the wall clock was
    set back, and nobody knows how much of it is left: it is over.
    """
    return due_at <= now or due_at - now > longest
