"""How long a child may live without a link before it is given up."""

from orchestrator.channels.whatsapp.lines import LinkState, StateIs


class Patience:
    """Watches one child. limit_s: so long it may be without a link. Times are a loop's seconds."""

    def __init__(self, limit_s: float, *, now: float) -> None:
        self._limit_s = limit_s
        self._well_at = now
        self._last: StateIs | None = None

    def note(self, line: StateIs) -> None:
        """The child says how its link stands."""
        self._last = line

    def is_over(self, now: float) -> bool:
        """Whether it was without a link for too long.

        One that holds messages which the disk does not take is waited for: they would end with it.
        """
        if self._last is not None and (self._last.state is LinkState.OPEN or self._last.is_holding):
            self._well_at = now
        return now - self._well_at > self._limit_s
