"""The real time and more: a test jumps ahead of waits that it has no time for."""

from datetime import datetime, timedelta

from orchestrator.app.parts import SystemClock


class ShiftedClock:
    """Implements `Clock`: runs like the real one, and `advance` lets time pass at once."""

    def __init__(self) -> None:
        self._real = SystemClock()
        self._ahead_s = 0.0
        self._jumped_s = 0.0

    def now(self) -> datetime:
        """This instant, aware, in UTC."""
        return self._real.now() + timedelta(seconds=self._ahead_s + self._jumped_s)

    def monotonic(self) -> float:
        """Seconds that only grow, for durations."""
        return self._real.monotonic() + self._ahead_s

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._ahead_s += seconds

    def jump(self, seconds: float) -> None:
        """Somebody sets the wall clock forward, or back by a negative number; no time passes."""
        self._jumped_s += seconds
