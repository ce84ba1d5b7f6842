"""A clock that a test moves by hand."""

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Implements `Clock`; both times move only when they are told to."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._monotonic_s = 1_000.0

    def now(self) -> datetime:
        """This instant, aware, in UTC."""
        return self._now

    def monotonic(self) -> float:
        """Seconds that only grow, for durations."""
        return self._monotonic_s

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += timedelta(seconds=seconds)
        self._monotonic_s += seconds

    def set_wall_back(self, seconds: float) -> None:
        """As when a wrong clock is set right: what only grows goes on."""
        self._now -= timedelta(seconds=seconds)
