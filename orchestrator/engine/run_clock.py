"""The clocks of one running agent: silence, turn length, idleness, signs of life to the chat."""

from dataclasses import dataclass
from enum import StrEnum


class Due(StrEnum):
    """What it is time for."""

    TOO_SILENT = "too silent"
    TURN_TOO_LONG = "turn too long"
    IDLE_TOO_LONG = "idle too long"
    SLOW_TO_CLOSE = "slow to close"
    SAY_STILL_WORKING = "say still working"
    RENEW_TYPING = "renew typing"
    NO_ANSWER = "no answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockSettings:
    """Seconds each. Source: contracts.md section 2."""

    silence_s: float
    turn_s: float
    idle_s: float
    close_s: float
    still_working_s: float
    typing_s: float
    answer_s: float


class RunClock:
    """Says what is due at an instant. Instants are monotonic seconds, given by the caller."""

    def __init__(self, settings: ClockSettings, *, now: float) -> None:
        self._settings = settings
        self._turn_began: float | None = now
        self._last_life = now
        self._last_text = now
        self._last_typing = now
        self._idle_since: float | None = None
        self._closing_since: float | None = None
        self._was_said = False
        self._waits_since: float | None = None
        self._may_wait = True

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs, or the agent is being started for one."""
        return self._turn_began is not None

    @property
    def idle_since(self) -> float | None:
        """Since when no turn runs."""
        return self._idle_since

    @property
    def is_waiting(self) -> bool:
        """Whether the turn waits for a person, and its clocks stand still."""
        return self._waits_since is not None

    def turn_began(self, now: float) -> None:
        """A turn starts, unless one runs already."""
        if self._turn_began is None:
            self._turn_began = self._last_life = self._last_text = self._last_typing = now
            self._idle_since, self._was_said, self._may_wait = None, False, True

    def turn_ended(self, now: float) -> None:
        """No turn runs any more."""
        self._turn_began, self._idle_since, self._waits_since = None, now, None
        if self._closing_since is not None:
            self._closing_since = now  # it was to finish its turn first: from now on it is to exit

    def wait_began(self, now: float) -> None:
        """The turn waits for a person. A turn that once got no answer is not waited with again."""
        if self._turn_began is not None and self._waits_since is None and self._may_wait:
            self._waits_since = now

    def wait_ended(self, now: float) -> None:
        """It goes on, as if no time had passed."""
        since, self._waits_since = self._waits_since, None
        if since is None or self._turn_began is None:
            return
        stood_still = now - since
        self._turn_began += stood_still
        self._last_life = min(now, self._last_life + stood_still)
        self._last_text = min(now, self._last_text + stood_still)
        self._last_typing = min(now, self._last_typing + stood_still)

    def showed_life(self, now: float) -> None:
        """A pair, or an event other than a log line."""
        self._last_life = now

    def said_something(self, now: float) -> None:
        """A text went to the chat."""
        self._last_life = self._last_text = now

    def close_asked(self, now: float) -> None:
        """The agent was asked to finish and exit."""
        if self._closing_since is None:
            self._closing_since = now

    def due(self, now: float) -> Due | None:
        """The first thing it is time for; signs of life count as given when they are returned."""
        limits = self._settings
        if self._turn_began is None:
            since = self._closing_since
            if since is not None:
                return Due.SLOW_TO_CLOSE if now - since >= limits.close_s else None
            idle = self._idle_since
            return Due.IDLE_TOO_LONG if idle is not None and now - idle >= limits.idle_s else None
        if self._waits_since is not None:
            if now - self._waits_since < limits.answer_s:
                return None
            self.wait_ended(now)
            self._may_wait = False
            return Due.NO_ANSWER
        if now - self._turn_began >= limits.turn_s:
            return Due.TURN_TOO_LONG
        if now - self._last_life >= limits.silence_s:
            return Due.TOO_SILENT
        if not self._was_said and now - self._last_text >= limits.still_working_s:
            self._was_said = True
            return Due.SAY_STILL_WORKING
        if now - self._last_typing >= limits.typing_s:
            self._last_typing = now
            return Due.RENEW_TYPING
        return None

    def next_in_s(self, now: float) -> float:
        """After so many seconds, at the latest, `due` is worth asking again."""
        limits = self._settings
        if self._turn_began is None:
            since = self._closing_since
            start, length = (
                (since, limits.close_s) if since is not None else (self._idle_since, limits.idle_s)
            )
            return max(0.0, (start if start is not None else now) + length - now)
        if self._waits_since is not None:
            return max(0.0, self._waits_since + limits.answer_s - now)
        soonest = [
            self._turn_began + limits.turn_s,
            self._last_life + limits.silence_s,
            self._last_typing + limits.typing_s,
        ]
        if not self._was_said:
            soonest.append(self._last_text + limits.still_working_s)
        return max(0.0, min(soonest) - now)
