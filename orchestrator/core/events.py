"""What readers of events are given: a bounded buffer that counts what it drops, holes, and whose they see."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from orchestrator.contracts.events import LoggedEvent
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.live_events import Delivery, Gap, GapReason, Item

MAX_BUFFERED: Final = 1_000
MAX_BUFFERED_CHARS: Final = 4_000_000
MAX_GAPS: Final = 200
"""Trees whose gaps are told one by one; more become one gap of several trees."""


class EventBuffer:
    """What waits for one reader. Full, it keeps what it has, and then says which events came since."""

    def __init__(self, *, max_items: int = MAX_BUFFERED, max_chars: int = MAX_BUFFERED_CHARS) -> None:
        self._max_items = max_items
        self._max_chars = max_chars
        self._waiting: deque[Delivery] = deque()
        self._chars = 0
        self._missed: dict[TreeId | None, Gap] = {}
        self._missed_of_many: Gap | None = None

    def __bool__(self) -> bool:
        return bool(self._waiting or self._missed or self._missed_of_many)

    def put(self, delivery: Delivery) -> None:
        """Keep it, or note that it is missing. Events come in the order of their positions."""
        chars = self._chars + len(delivery.text)
        has_room = len(self._waiting) < self._max_items and (chars <= self._max_chars or not self._waiting)
        if has_room and not self._missed and self._missed_of_many is None:
            self._waiting.append(delivery)
            self._chars = chars
        else:
            self._miss(delivery.event)

    def take(self) -> list[Item]:
        """All that waits, in order, and behind it the gaps; the buffer is empty then."""
        items: list[Item] = [*self._waiting, *self._missed.values()]
        if self._missed_of_many is not None:
            items.append(self._missed_of_many)
        self._waiting.clear()
        self._missed.clear()
        self._chars, self._missed_of_many = 0, None
        return items

    def _miss(self, event: LoggedEvent) -> None:
        if self._missed_of_many is not None:
            self._missed_of_many = _gap_of_many(event.position)
            return
        before = self._missed.get(event.tree_id)
        if before is None and len(self._missed) == MAX_GAPS:
            self._missed.clear()
            self._missed_of_many = _gap_of_many(event.position)
            return
        self._missed[event.tree_id] = Gap(
            tree_id=event.tree_id,
            first_seq=event.seq if before is None else before.first_seq,
            last_seq=event.seq,
            last_position=event.position,
            reason=GapReason.OVERFLOW,
        )


def _gap_of_many(position: int) -> Gap:
    return Gap(tree_id=None, first_seq=None, last_seq=None, last_position=position, reason=GapReason.OVERFLOW)


def with_holes(events: Iterable[LoggedEvent], *, after_seq: int) -> Iterator[LoggedEvent | Gap]:
    """Kept events of one tree behind number `after_seq`, with a gap where some are not kept any more."""
    for event in events:
        if event.seq > after_seq + 1:
            yield Gap(
                tree_id=event.tree_id,
                first_seq=after_seq + 1,
                last_seq=event.seq - 1,
                last_position=event.position - 1,
                reason=GapReason.EXPIRED,
            )
        yield event
        after_seq = event.seq


class Sight:
    """Whose events a reader may see: everybody's, or those of some agents and of all that come below them."""

    def __init__(self, only: Collection[AgentId] | None) -> None:
        self._agents = None if only is None else set(only)

    def sees(self, event: LoggedEvent) -> bool:
        """Whether this event may be seen. A child that comes up belongs to its parent's readers."""
        if self._agents is None:
            return True
        if event.agent_id is None:
            return False
        if event.body.get("parentAgentId") in self._agents:
            self._agents.add(event.agent_id)
        return event.agent_id in self._agents
