"""What becomes of a message whose agent is no more. Source: contracts.md section 6."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.contracts.records.agents import DeathCause
from orchestrator.contracts.records.messages import StoredMessage
from orchestrator.core.backoff import delay_s
from orchestrator.core.states.message import MessageEvent

MAX_TRIES: Final = 5
MAX_DEATHS: Final = 5
FIRST_WAIT_S: Final = 5.0
_MOST_WAIT_S: Final = 3600.0
_ALONE_FROM_TRIES: Final = 2
"""From its third run on a message runs alone, so that it can't take others down with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What happens to the message, and its counters from now on. wait_s: before it runs again."""

    event: MessageEvent
    tries: int
    deaths: int
    wait_s: float = 0.0


def after_death(message: StoredMessage, *, has_effects: bool, cause: DeathCause) -> Verdict:
    """The rule of death for one message. has_effects: its turn committed texts or commands.

    A message that its agent never took into a turn goes back without a try.
    """
    kept = {"tries": message.tries, "deaths": message.deaths}
    if cause is DeathCause.STOPPED:
        return Verdict(event=MessageEvent.GAVE_UP, **kept)
    if not message.is_in_turn:
        return Verdict(event=MessageEvent.GIVEN_BACK, **kept)
    if has_effects:
        return Verdict(event=MessageEvent.BROKEN_OFF, **kept)
    if cause is DeathCause.VIOLATED:
        return Verdict(event=MessageEvent.GAVE_UP, **kept)  # it would do the same again: people decide
    if cause is DeathCause.TIMED_OUT:
        return Verdict(event=MessageEvent.GAVE_UP, **kept)  # again it would take as long: people decide
    if cause is DeathCause.HOST:
        return Verdict(event=MessageEvent.GIVEN_BACK, **kept)
    if cause is DeathCause.ORCHESTRATOR:
        deaths = message.deaths + 1
        event = MessageEvent.GAVE_UP if deaths > MAX_DEATHS else MessageEvent.GIVEN_BACK
        return Verdict(event=event, tries=message.tries, deaths=deaths)
    tries = message.tries + 1
    # Deaths of the orchestrator count in a row only: this end was another's.
    if tries >= MAX_TRIES:
        return Verdict(event=MessageEvent.GAVE_UP, tries=tries, deaths=0)
    wait_s = delay_s(tries, first_s=FIRST_WAIT_S, most_s=_MOST_WAIT_S)
    return Verdict(event=MessageEvent.GIVEN_BACK, tries=tries, deaths=0, wait_s=wait_s)


def runs_alone(message: StoredMessage) -> bool:
    """Whether the message must be the only trigger of its run."""
    return message.tries >= _ALONE_FROM_TRIES or message.deaths >= MAX_DEATHS


def taken_together(triggers: Sequence[StoredMessage]) -> Sequence[StoredMessage]:
    """The leading triggers that may share a run; of those that run alone, one."""
    for place, message in enumerate(triggers):
        if runs_alone(message):
            return triggers[: max(place, 1)]
    return triggers
