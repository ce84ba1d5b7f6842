"""How long to wait before the next try."""

from typing import Final

# 2 ** 60 times anything is over every limit; larger powers would overflow a float.
_MOST_DOUBLINGS: Final = 60


def delay_s(attempt: int, *, first_s: float, most_s: float) -> float:
    """Seconds to wait after the `attempt`th failure (from 1): `first_s`, doubling, never over `most_s`."""
    doublings = min(max(attempt - 1, 0), _MOST_DOUBLINGS)
    return min(first_s * 2.0**doublings, most_s)
