"""Who runs next. Source: contracts.md section 6.

A turn needs a running slot; an agent's container needs a live slot. Parents that wait and idle
agents hold no running slot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.contracts.ids import GroupFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A group with work. since_seq: its oldest waiting message. last_served: a counter that grows with
    each admission; 0 is never."""

    group: GroupFolder
    since_seq: int
    last_served: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A group's running agent. is_busy: it holds a running slot. idle_since: seconds on a growing clock."""

    group: GroupFolder
    is_busy: bool
    idle_since: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do now, each in its order. start: new agents. feed: follow-ups. close: idle agents."""

    start: tuple[GroupFolder, ...]
    feed: tuple[GroupFolder, ...]
    close: tuple[GroupFolder, ...]


def choose(waiting: Sequence[Waiting], live: Sequence[Live], *, max_running: int, max_live: int) -> Decision:
    """Who is started, fed and closed now.

    The group that was served longest ago is first, among those the one waiting longest: so none comes
    twice before another came once. A start that only a live slot is missing for keeps its running slot,
    and the agent idle for longest is closed for it; the start follows when that one is gone.
    """
    agents = {agent.group: agent for agent in live}
    closable = _closable(agents, {entry.group for entry in waiting})
    free_running = max_running - sum(agent.is_busy for agent in live)
    free_live = max_live - len(agents)
    start, feed, close = list[GroupFolder](), list[GroupFolder](), list[GroupFolder]()
    for entry in sorted(waiting, key=lambda entry: (entry.last_served, entry.since_seq)):
        agent = agents.get(entry.group)
        if agent is not None and agent.is_busy:
            feed.append(entry.group)
        elif free_running <= 0:
            continue
        elif agent is not None:
            feed.append(entry.group)
            free_running -= 1
        elif free_live > 0:
            start.append(entry.group)
            free_running, free_live = free_running - 1, free_live - 1
        elif closable:
            close.append(closable.pop(0))
            free_running -= 1
    return Decision(start=tuple(start), feed=tuple(feed), close=tuple(close))


def _closable(agents: Mapping[GroupFolder, Live], waiting: set[GroupFolder]) -> list[GroupFolder]:
    """The idle agents that nobody waits for, longest idle first."""
    idle = [agent for agent in agents.values() if not agent.is_busy and agent.group not in waiting]
    return [agent.group for agent in sorted(idle, key=lambda agent: agent.idle_since or 0.0)]
