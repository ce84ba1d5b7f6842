"""How often a credential may ask, and how often an address may come without a good one."""

import math
from collections import OrderedDict
from typing import Final

from orchestrator.contracts.errors import ErrorCode, LimitExceeded
from orchestrator.contracts.seams import Clock
from orchestrator.core.rate_limit import Bucket, take

_MOST_KEYS: Final = 10_000


class RateLimits:
    """One bucket a key. A key that was not seen for long is forgotten, and begins with a full one."""

    def __init__(self, clock: Clock, *, per_minute: int, setting: str) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._setting = setting
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, key: str) -> None:
        """Count one request. Raises LimitExceeded (RATE_LIMITED) with when to try again."""
        bucket, wait_s = self._look(key)
        self._buckets[key] = bucket
        self._buckets.move_to_end(key)
        if len(self._buckets) > _MOST_KEYS:
            self._buckets.popitem(last=False)
        self._refuse(wait_s)

    def check(self, key: str) -> None:
        """As `take`, and count nothing."""
        self._refuse(self._look(key)[1])

    def _look(self, key: str) -> tuple[Bucket, float]:
        now = self._clock.monotonic()
        before = self._buckets.get(key) or Bucket(tokens=self._per_minute, at=now)
        return take(before, now, per_minute=self._per_minute, burst=self._per_minute)

    def _refuse(self, wait_s: float) -> None:
        if wait_s > 0:
            raise LimitExceeded(
                f"More than {self._per_minute} requests came within a minute.",
                code=ErrorCode.RATE_LIMITED,
                suggestion=f"Wait {math.ceil(wait_s)} s; the operator's {self._setting} is the limit.",
                details={
                    "limit": self._setting,
                    "max": self._per_minute,
                    "current": self._per_minute,
                    "howToChange": f"Set {self._setting} in dovecote.toml.",
                },
                retry_after_s=wait_s,
            )
