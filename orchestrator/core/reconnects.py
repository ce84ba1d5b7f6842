"""How a link that keeps failing is tried again: pauses that double, and a breaker over them."""

from dataclasses import dataclass, replace
from typing import Final

from orchestrator.core.backoff import delay_s

_FIRST_S: Final = 2.0
_MOST_S: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """first_s, most_s: the pauses. trips_at failures within window_s open the breaker: the pause is the
    longest one from then on, and somebody is told."""

    first_s: float = _FIRST_S
    most_s: float = _MOST_S
    trips_at: int = 8
    window_s: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnects:
    """What is known of a link's failures.

    in_a_row: since it was last open. failed_at: the latest failures, on a clock in seconds that only
    grows; being open for a moment does not forget them. is_tripped: the breaker is open.
    """

    in_a_row: int = 0
    failed_at: tuple[float, ...] = ()
    is_tripped: bool = False

    def failed(self, now: float, rule: RetryRule) -> "Reconnects":
        """The link broke, or could not be made."""
        recent = tuple(at for at in self.failed_at if now - at < rule.window_s)[-rule.trips_at :]
        failures = (*recent, now)
        return Reconnects(
            in_a_row=self.in_a_row + 1,
            failed_at=failures,
            is_tripped=self.is_tripped or len(failures) >= rule.trips_at,
        )

    def opened(self) -> "Reconnects":
        """The link is open: the next pause is the first one again; the failures still count."""
        return replace(self, in_a_row=0)

    def held(self, now: float, rule: RetryRule) -> "Reconnects":
        """The link is open; once the window holds no failure any more, all is forgotten."""
        if self.failed_at and now - self.failed_at[-1] < rule.window_s:
            return self
        return Reconnects()

    def pause_s(self, rule: RetryRule) -> float:
        """Seconds to wait before the next try."""
        if self.is_tripped:
            return rule.most_s
        return delay_s(self.in_a_row, first_s=rule.first_s, most_s=rule.most_s)
