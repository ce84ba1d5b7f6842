"""A token bucket as a value."""

from dataclasses import dataclass
from typing import Final

# Less than a token by rounding is a token: else a caller who waited as told would be told to wait again.
_ROUNDING: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """What may be taken. tokens: as of `at`, on a clock in seconds that only grows."""

    tokens: float
    at: float


def take(bucket: Bucket, now: float, *, per_minute: float, burst: float) -> tuple[Bucket, float]:
    """Take one token: the bucket afterwards, and the seconds to wait before trying again.

    0 seconds: it was taken. Else nothing was, and the bucket is only filled up to `now`.
    per_minute: above 0. burst: the most it holds, at least 1.
    """
    per_s = per_minute / 60
    tokens = min(burst, bucket.tokens + max(now - bucket.at, 0.0) * per_s)
    at = max(now, bucket.at)
    if tokens >= 1 - _ROUNDING:
        return Bucket(tokens=max(tokens - 1, 0.0), at=at), 0.0
    return Bucket(tokens=tokens, at=at), (1 - tokens) / per_s
