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
    """A group's running agent. is_busy: it is in a turn, and holds a running slot unless is_waiting: that
    turn waits for a person. idle_since: seconds on a growing clock."""

    group: GroupFolder
    is_busy: bool
    idle_since: float | None
    is_waiting: bool = False


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
    and an idle agent is closed for it; the start follows when that one is gone.
    """
    order = sorted(waiting, key=lambda entry: (entry.last_served, entry.since_seq))
    agents = {agent.group: agent for agent in live}
    closable = _closable(agents, [entry.group for entry in order])
    free_running = max_running - sum(agent.is_busy and not agent.is_waiting for agent in live)
    free_live = max_live - len(agents)
    start, feed, close = list[GroupFolder](), list[GroupFolder](), list[GroupFolder]()
    for entry in order:
        agent = agents.get(entry.group)
        if agent is not None and agent.is_busy:
            feed.append(entry.group)
            continue
        if free_running <= 0 or entry.group in close:
            continue
        if agent is not None:
            feed.append(entry.group)
            closable.remove(entry.group)
        elif free_live > 0:
            start.append(entry.group)
            free_live -= 1
        elif closable:
            close.append(closable.pop(0))
        else:
            continue
        free_running -= 1
    return Decision(start=tuple(start), feed=tuple(feed), close=tuple(close))


def _closable(agents: Mapping[GroupFolder, Live], order: Sequence[GroupFolder]) -> list[GroupFolder]:
    """The idle agents, in the order in which they may go: the longest idle first, and only then those
    that somebody waits for, the last in the order first. Without these a group could be kept out by
    chats that are never quiet."""
    idle = [agent for agent in agents.values() if not agent.is_busy]
    unwanted = [agent for agent in idle if agent.group not in order]
    longest_first = sorted(unwanted, key=lambda agent: agent.idle_since or 0.0)
    wanted = {agent.group for agent in idle} & set(order)
    return [agent.group for agent in longest_first] + [group for group in reversed(order) if group in wanted]
