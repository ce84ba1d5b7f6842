"""Who runs next. Source: contracts.md section 6.

A turn needs a running slot; an agent's container needs a live slot. Parents that wait and idle
agents hold no running slot.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestrator.contracts.records.agents import QueueReason

_MOST_KEPT: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Work of one key: what has the same key takes turns. since_seq: its oldest waiting message. last_served:
    a counter that grows with each admission; 0 is never. tree: of a spawned agent; None: it holds a chat or
    is a task."""

    key: str
    since_seq: int
    last_served: int
    tree: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The running agent of a key. is_busy: it is in a turn, and holds a running slot unless is_held: that
    turn waits for a person or an agent. idle_since: seconds on a growing clock. has_children: they would end
    with it, so it is not closed for others. tree: that it belongs to."""

    key: str
    is_busy: bool
    idle_since: float | None
    is_held: bool = False
    has_children: bool = False
    tree: str | None = None

    @property
    def is_at_work(self) -> bool:
        """Whether it holds a running slot."""
        return self.is_busy and not self.is_held


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do now, each in its order. start: new agents. feed: follow-ups. close: idle agents.

    held: those that are not started now, and by what.
    """

    start: tuple[str, ...]
    feed: tuple[str, ...]
    close: tuple[str, ...]
    held: Mapping[str, QueueReason] = field(default_factory=dict, compare=False)


def choose(waiting: Sequence[Waiting], live: Sequence[Live], *, max_running: int, max_live: int) -> Decision:
    """Who is started, fed and closed now.

    The group that was served longest ago is first, among those the one waiting longest: so none comes
    twice before another came once. A start that only a live slot is missing for keeps its running slot,
    and an idle agent is closed for it; the start follows when that one is gone. Of a tree not more than half
    of each is taken while others wait, and some live slots are kept for chats; but one agent of each tree may
    always be at work, so that nobody waits for who can't start.
    """
    order = sorted(waiting, key=lambda entry: (entry.last_served, entry.since_seq))
    choice = _Choice(order, live, max_running=max_running, max_live=max_live)
    put_off = [entry for entry in order if not choice.take(entry, is_shared=True)]
    others = [entry for entry in choice.left(order) if entry not in put_off]
    for entry in put_off:
        if all(other.tree == entry.tree for other in others):
            choice.take(entry, is_shared=False)
    return Decision(
        start=tuple(choice.start), feed=tuple(choice.feed), close=tuple(choice.close), held=choice.held
    )


class _Choice:
    """A decision in the making, and what of the slots is left for it."""

    def __init__(
        self, order: Sequence[Waiting], live: Sequence[Live], *, max_running: int, max_live: int
    ) -> None:
        self.start = list[str]()
        self.feed = list[str]()
        self.close = list[str]()
        self.held = dict[str, QueueReason]()
        self._max_running, self._max_live = max_running, max_live
        self._agents = {agent.key: agent for agent in live}
        self._closable = _closable(self._agents, [entry.key for entry in order])
        self._free_running = max_running - sum(agent.is_at_work for agent in live)
        self._free_live = max_live - len(self._agents)
        self._of_tree = Counter(agent.tree for agent in live)
        self._at_work = Counter(agent.tree for agent in live if agent.is_at_work)
        self._stuck = {entry.tree for entry in order} - {None, *self._at_work}

    def left(self, order: Sequence[Waiting]) -> list[Waiting]:
        """Those that nothing was decided for."""
        served = {*self.start, *self.feed}
        return [entry for entry in order if entry.key not in served]

    def take(self, entry: Waiting, *, is_shared: bool) -> bool:
        """Decide for one that waits; False if it is put off for others. is_shared: others wait as well."""
        agent = self._agents.get(entry.key)
        if agent is not None and agent.is_busy:
            self.feed.append(entry.key)
            return True
        if self._free_running <= 0:
            self.held[entry.key] = QueueReason.MAX_RUNNING
            return True
        if entry.key in self.close:
            return True
        if agent is None and (bar := self._bar(entry, is_shared=is_shared)) is not None:
            self.held[entry.key] = bar
            return False
        if agent is not None:
            self.feed.append(entry.key)
            self._closable = [key for key in self._closable if key != entry.key]
        elif self._free_live > 0:
            self._start(entry)
        elif self._closable:
            self.held[entry.key] = QueueReason.MAX_LIVE
            self.close.append(self._closable.pop(0))
        else:
            self.held[entry.key] = QueueReason.MAX_LIVE
            return True
        self._free_running -= 1
        return True

    def _start(self, entry: Waiting) -> None:
        self.start.append(entry.key)
        self.held.pop(entry.key, None)
        self._free_live -= 1
        self._of_tree[entry.tree] += 1
        self._at_work[entry.tree] += 1
        self._stuck.discard(entry.tree)

    def _bar(self, entry: Waiting, *, is_shared: bool) -> QueueReason | None:
        """What keeps a spawned agent from more than its share; None if it takes no more."""
        tree = entry.tree
        if tree is None or self._at_work[tree] == 0:
            return None
        if self._free_live <= 0:
            return QueueReason.MAX_LIVE
        if self._free_live <= _kept_for_chats(self._max_live):
            return QueueReason.KEPT_FOR_CHATS
        if not is_shared:
            return None
        if min(self._free_running, self._free_live) <= len(self._stuck):
            return QueueReason.OTHERS_FIRST  # what is left is for trees of which nobody is at work
        is_running_fair = self._at_work[tree] < max(1, self._max_running // 2)
        is_fair = is_running_fair and self._of_tree[tree] < max(1, self._max_live // 2)
        return None if is_fair else QueueReason.TREE_SHARE


def _kept_for_chats(max_live: int) -> int:
    """Live slots that no spawned agent takes: 4 of the usual 20."""
    return min(_MOST_KEPT, max_live // 5)


def _closable(agents: Mapping[str, Live], order: Sequence[str]) -> list[str]:
    """The idle agents, in the order in which they may go: the longest idle first, and only then those
    that somebody waits for, the last in the order first. Without these a group could be kept out by
    chats that are never quiet."""
    idle = [agent for agent in agents.values() if not agent.is_busy and not agent.has_children]
    unwanted = [agent for agent in idle if agent.key not in order]
    longest_first = sorted(unwanted, key=lambda agent: agent.idle_since or 0.0)
    wanted = {agent.key for agent in idle} & set(order)
    return [agent.key for agent in longest_first] + [key for key in reversed(order) if key in wanted]
