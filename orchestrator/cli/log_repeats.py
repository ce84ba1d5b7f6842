"""The same warning or error again within a minute is counted, not repeated."""

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any, Final

import structlog

from orchestrator.contracts.seams import Clock

WINDOW_S: Final = 60.0
# What one fault in a loop may change from line to line.
_VARYING: Final = frozenset({"timestamp", "attempt", "attempts", "pause_s", "elapsed_s"})
_COLLAPSED_LEVELS: Final = frozenset({"warning", "error", "critical"})
_MAX_REMEMBERED: Final = 1_000

EventDict = MutableMapping[str, Any]


@dataclass(slots=True)
class _Seen:
    since_s: float
    repeated: int = 0


class Repeats:
    """A structlog processor: the first of a kind passes; the next after the window says how many it hides."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: dict[str, _Seen] = {}

    def __call__(self, _logger: object, method: str, event: EventDict) -> EventDict:
        """Pass the line on, or drop it."""
        if event.get("level", method) not in _COLLAPSED_LEVELS:
            return event
        key = repr(sorted((name, repr(value)) for name, value in event.items() if name not in _VARYING))
        now_s = self._clock.monotonic()
        seen = self._seen.get(key)
        if seen is not None and now_s - seen.since_s < WINDOW_S:
            seen.repeated += 1
            raise structlog.DropEvent
        if seen is not None and seen.repeated:
            event["repeated"] = seen.repeated
        self._remember(key, now_s)
        return event

    def _remember(self, key: str, now_s: float) -> None:
        if len(self._seen) >= _MAX_REMEMBERED:
            self._seen = {k: each for k, each in self._seen.items() if now_s - each.since_s < WINDOW_S}
        if len(self._seen) >= _MAX_REMEMBERED:
            self._seen.clear()
        self._seen[key] = _Seen(since_s=now_s)
