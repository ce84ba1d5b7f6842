"""The clocks of one running agent: silence, turn length, idleness, signs of life to the chat, a deadline."""

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
    DEADLINE_PASSED = "deadline passed"


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
    """Says what is due at an instant. Instants are monotonic seconds, given by the caller.

    deadline: when the agent is timed out, whatever it waits for; None: never.
    """

    def __init__(self, settings: ClockSettings, *, now: float, deadline: float | None = None) -> None:
        self._settings = settings
        self._deadline = deadline
        self._turn_began: float | None = now
        self._last_life = now
        self._last_text = now
        self._last_typing = now
        self._idle_since: float | None = None
        self._closing_since: float | None = None
        self._was_said = False
        self._asks_since: float | None = None
        self._awaits_agent = False
        self._still_since: float | None = None
        self._may_wait = True
        self._children_since: float | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs, or the agent is being started for one."""
        return self._turn_began is not None

    @property
    def idle_since(self) -> float | None:
        """Since when no turn runs."""
        return self._idle_since

    @property
    def is_held(self) -> bool:
        """Whether the turn waits for a person or another agent, and its clocks stand still."""
        return self._still_since is not None

    @property
    def has_children(self) -> bool:
        """Whether agents that it started live: it is not idle for nothing."""
        return self._children_since is not None

    def turn_began(self, now: float) -> None:
        """A turn starts, unless one runs already."""
        if self._turn_began is None:
            self._turn_began = self._last_life = self._last_text = self._last_typing = now
            self._idle_since, self._was_said, self._may_wait = None, False, True

    def turn_ended(self, now: float) -> None:
        """No turn runs any more, and nothing is waited for."""
        self._turn_began, self._idle_since = None, now
        self._asks_since, self._awaits_agent, self._still_since = None, False, None
        if self._closing_since is not None:
            self._closing_since = now  # it was to finish its turn first: from now on it is to exit

    def wait_began(self, now: float) -> None:
        """The turn waits for a person. A turn that once got no answer is not waited with again."""
        if self._turn_began is not None and self._asks_since is None and self._may_wait:
            self._asks_since = now
            self._stand_still(now)

    def wait_ended(self, now: float) -> None:
        """It waits for no person any more."""
        self._asks_since = None
        self._run_on(now)

    def set_awaits_agent(self, now: float, *, awaits: bool) -> None:
        """The turn waits for another agent, or does so no more."""
        self._awaits_agent = awaits and self._turn_began is not None
        if self._awaits_agent:
            self._stand_still(now)
        else:
            self._run_on(now)

    def set_children(self, now: float, *, live: bool) -> None:
        """Agents that it started live, or none does any more: idleness stands still meanwhile."""
        since = self._children_since
        if live:
            self._children_since = now if since is None else since
            return
        self._children_since = None
        if since is not None and self._idle_since is not None:
            self._idle_since += now - max(since, self._idle_since)

    def _stand_still(self, now: float) -> None:
        if self._still_since is None:
            self._still_since = now

    def _run_on(self, now: float) -> None:
        """Once nothing is waited for the clocks run on, as if no time had passed while they stood still."""
        if self._asks_since is not None or self._awaits_agent:
            return
        since, self._still_since = self._still_since, None
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
        deadline = self._deadline_of_work
        if deadline is not None and now >= deadline:
            return Due.DEADLINE_PASSED
        if self._turn_began is None:
            return self._due_when_idle(now)
        if self._asks_since is not None:
            if now - self._asks_since < limits.answer_s:
                return None
            self.wait_ended(now)
            self._may_wait = False
            return Due.NO_ANSWER
        if not self._awaits_agent:
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

    def next_in_s(self, now: float) -> float | None:
        """After so many seconds, at the latest, `due` is worth asking again; None: after a change only."""
        soonest = self._next_when_idle() if self._turn_began is None else self._next(now)
        moments = [self._deadline_of_work, soonest]
        known = [moment for moment in moments if moment is not None]
        return max(0.0, min(known) - now) if known else None

    @property
    def _deadline_of_work(self) -> float | None:
        """None, too, once its last turn has ended: the work is done, and it is only to exit."""
        is_done = self._turn_began is None and self._closing_since is not None
        return None if is_done else self._deadline

    def _due_when_idle(self, now: float) -> Due | None:
        limits, since = self._settings, self._closing_since
        if since is not None:
            return Due.SLOW_TO_CLOSE if now - since >= limits.close_s else None
        if self._idle_since is None or self._children_since is not None:
            return None
        return Due.IDLE_TOO_LONG if now - self._idle_since >= limits.idle_s else None

    def _next_when_idle(self) -> float | None:
        if self._closing_since is not None:
            return self._closing_since + self._settings.close_s
        if self._idle_since is None or self._children_since is not None:
            return None
        return self._idle_since + self._settings.idle_s

    def _next(self, now: float) -> float:
        limits, began = self._settings, self._turn_began
        if self._asks_since is not None:
            return self._asks_since + limits.answer_s
        soonest = [self._last_typing + limits.typing_s]
        if not self._awaits_agent:
            soonest += [
                (now if began is None else began) + limits.turn_s,
                self._last_life + limits.silence_s,
            ]
        if not self._was_said:
            soonest.append(self._last_text + limits.still_working_s)
        return min(soonest)
