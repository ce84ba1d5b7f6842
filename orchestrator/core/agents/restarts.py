"""Whether a spawned agent that has ended is started again, and when: so often in so long, ever later.

Source: agents.md section 2.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.agents import AgentStatus, DeathCause, EndReason
from orchestrator.contracts.records.spawns import RestartPolicy, Restarts
from orchestrator.core.backoff import delay_s
from orchestrator.core.states.agent import AgentEventKind

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY: Final = timedelta(seconds=60)
_HAD_STARTED: Final = frozenset({AgentStatus.STARTING, AgentStatus.RUNNING})
_BY_WISH: Final = frozenset({DeathCause.STOPPED, DeathCause.TIMED_OUT, DeathCause.VIOLATED})
# All the waits before the last restart together take half of the window at most, so that one that dies at
# once reaches the limit.
_SHARE_OF_WINDOW: Final = 2


class NextStep(StrEnum):
    """What follows the end of a spawned agent. GIVES_UP: it was started again too often already."""

    NOTHING = "nothing"
    RESTARTS = "restarts"
    GIVES_UP = "gives up"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartLimits:
    """So many restarts within so long; most: 0: nothing is ever started again."""

    most: int
    window: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an agent ended. status: as it was until then. event: what its end means for its record."""

    status: AgentStatus
    cause: DeathCause
    reason: EndReason
    event: AgentEventKind


def next_step(restarts: Restarts, ending: Ending, limits: RestartLimits, *, now: datetime) -> NextStep:
    """Whether it is started again, by what was agreed when it was spawned."""
    if limits.most == 0 or not _is_restarted(restarts.policy, ending):
        return NextStep.NOTHING
    is_at_limit = len(counted(restarts, limits, now=now)) >= limits.most
    return NextStep.GIVES_UP if is_at_limit else NextStep.RESTARTS


def counted(restarts: Restarts, limits: RestartLimits, *, now: datetime) -> tuple[datetime, ...]:
    """The restarts within the window that ends now.

    Later ones are of a clock that has been set back since, and don't count.
    """
    return tuple(at for at in restarts.recent if now - limits.window < at <= now)


def after_restart(
    restarts: Restarts,
    limits: RestartLimits,
    *,
    now: datetime,
    files_modified: tuple[str, ...] | None,
) -> Restarts:
    """What is kept of a restart that is decided now. files_modified: by the attempt that has ended.

    limits: at least one.
    """
    recent = counted(restarts, limits, now=now)
    longest_s = limits.window.total_seconds() / _SHARE_OF_WINDOW / limits.most
    wait_s = delay_s(
        len(recent) + 1,
        first_s=min(FIRST_DELAY_S, longest_s),
        most_s=min(LONGEST_DELAY.total_seconds(), longest_s),
    )
    return Restarts(
        policy=restarts.policy,
        count=restarts.count + 1,
        recent=(*recent, now),
        start_after=now + timedelta(seconds=wait_s),
        earlier_files=all_files(restarts, files_modified),
    )


def all_files(restarts: Restarts, of_last: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """What all attempts changed, each once; None if nobody looked at one of them."""
    earlier = restarts.earlier_files
    if earlier is None or of_last is None:
        return None
    return tuple(sorted({*earlier, *of_last})) if earlier else of_last


def _is_restarted(policy: RestartPolicy, ending: Ending) -> bool:
    """One that was told to end, or of which nobody knows whether it is dead, never is."""
    was_told = ending.cause in _BY_WISH or (
        ending.cause is DeathCause.HOST and ending.reason is EndReason.STOPPED
    )
    if ending.status not in _HAD_STARTED or was_told or ending.event is AgentEventKind.NOT_FOUND:
        return False
    if policy is RestartPolicy.ON_FAILURE:
        return ending.event is not AgentEventKind.ENDED_WELL
    return policy is RestartPolicy.ALWAYS
