"""What happened to agents, for people and programs: pages of the event log in the shape of seed documents."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, AnyCaller
from orchestrator.contracts.errors import ErrorCode, NotFound
from orchestrator.contracts.events import EventClass, LoggedEvent
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.live_events import Gap, GapReason
from orchestrator.contracts.seams import Topic
from orchestrator.core.events import Sight, with_holes
from orchestrator.store import event_log, lineage, trees
from orchestrator.store.database import Reader

MAX_EVENTS: Final = 1_000
"""Events of one page."""
MAX_WAIT_S: Final = 60.0
_LAST: Final = 2**62
_POLL_S: Final = 1.0
_MAX_ID_CHARS: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Events, oldest first, and gaps where some are missing. cursor: `since` of the next page.

    is_full: there may be more at once.
    """

    events: tuple[LoggedEvent | Gap, ...]
    cursor: int
    is_full: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSight:
    """What a caller may see of events. tree_id: of an agent, its own; None: all.

    agents: those whose events it may see, with all that come to be below them; None: all.
    """

    tree_id: TreeId | None = None
    agents: frozenset[AgentId] | None = None


ALL_EVENTS: Final = EventSight()
"""The operator's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventChoice:
    """Which events a reader wants. event_class: None for every one. without: types that are left out."""

    event_class: EventClass | None = None
    without: frozenset[str] = frozenset()

    def takes(self, event: LoggedEvent | Gap) -> bool:
        """Whether it is wanted; gaps always are."""
        if isinstance(event, Gap):
            return True
        return self.event_class in (None, event.event_class) and event.type not in self.without


EVERY_EVENT: Final = EventChoice()


async def sight_of(services: Services, caller: AnyCaller) -> EventSight:
    """What the caller may see: an agent itself and what is below it, everybody else all. Raises NotFound."""
    if not isinstance(caller, AgentCaller):
        return ALL_EVENTS
    below = await services.db.view(lambda tx: lineage.subtree(tx, caller.agent_id))
    if not below:
        raise NotFound(f"There is no agent {caller.agent_id!r}.", code=ErrorCode.NOT_FOUND)
    return EventSight(tree_id=below[0].tree_id, agents=frozenset(each.agent_id for each in below))


def flat(event: LoggedEvent | Gap) -> Mapping[str, object]:
    """An event or a gap as JSON types, in one level.

    Beside the fields of its type: `seq` in its tree, and `cursor` among all events; who was given it goes
    on from there.
    """
    if isinstance(event, Gap):
        return _flat_gap(event)
    fields = {name: value for name, value in event.body.items() if name not in ("type", "agentId")}
    head: dict[str, object] = {"type": event.type}
    if event.agent_id is not None:
        head["agentId"] = event.agent_id
    return {
        **head,
        "timestamp": utc_ms(event.at),
        **fields,
        "seq": event.seq,
        "cursor": event.position,
        "class": event.event_class.value,
    }


def flat_json(event: LoggedEvent | Gap) -> str:
    """As `flat`, on one line of JSON."""
    return json.dumps(flat(event), ensure_ascii=False, separators=(",", ":"))


def utc_ms(at: datetime) -> str:
    """A time as programs read it: UTC to the millisecond, with a `Z`."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _flat_gap(gap: Gap) -> Mapping[str, object]:
    plain: dict[str, object] = {"type": "gap", "treeId": gap.tree_id or "*", "reason": gap.reason.value}
    if gap.first_seq is not None:
        plain |= {"firstSeq": gap.first_seq, "lastSeq": gap.last_seq}
    return plain | {"cursor": gap.last_position}


async def check_tree(services: Services, tree_id: TreeId) -> None:
    """Return if there is such a tree, or was, as long as anything is kept of it. Raises NotFound."""
    async with services.db.reader() as reader:
        is_known = await event_log.last_seq(reader, tree_id) or await trees.find(reader, tree_id)
    if not is_known:
        raise NotFound(
            f"There is no tree {tree_id[:_MAX_ID_CHARS]!r}.",
            suggestion="See which there are: dovecote agent tree, or GET /api/v1/trees.",
        )


async def tree_events(
    services: Services, tree_id: TreeId, sight: EventSight, *, since: int, count: int, up_to: int = _LAST
) -> EventPage:
    """Events of a tree behind its number `since`, with gaps; readable after the tree's end.

    up_to: the last position that is wanted. cursor of the page: the number in the tree to go on from.
    """
    seen = Sight(sight.agents)
    async with services.db.reader() as reader:
        # Asked first: what is appended in between is then no hole at the end.
        last = await event_log.last_seq(reader, tree_id)
        found = await event_log.of_tree(reader, tree_id, after_seq=since, up_to=up_to, count=count)
    is_full = len(found) == count
    items = list(with_holes(found, after_seq=since))
    reached = found[-1].seq if found else since
    if not is_full and reached < last and up_to == _LAST:
        items.append(_expired(tree_id, reached + 1, last))
        reached = last
    shown = tuple(each for each in items if isinstance(each, Gap) or seen.sees(each))
    return EventPage(events=shown, cursor=reached, is_full=is_full)


def _expired(tree_id: TreeId, first_seq: int, last_seq: int) -> Gap:
    return Gap(
        tree_id=tree_id, first_seq=first_seq, last_seq=last_seq, last_position=0, reason=GapReason.EXPIRED
    )


async def all_events(
    services: Services, sight: EventSight, *, since: int, count: int, up_to: int = _LAST
) -> EventPage:
    """Events of all trees behind position `since`; one gap first where some of them are not kept any more."""
    seen = Sight(sight.agents)
    async with services.db.reader() as reader:
        found = await event_log.behind(reader, since, up_to=up_to, count=count)
        gaps = await _gap_behind(reader, since)
    last: Sequence[LoggedEvent | Gap] = (*gaps, *found)
    cursor = since if not last else _position(last[-1])
    shown: list[LoggedEvent | Gap] = [*gaps, *(each for each in found if seen.sees(each))]
    return EventPage(events=tuple(shown), cursor=cursor, is_full=len(found) == count)


def _position(item: LoggedEvent | Gap) -> int:
    return item.last_position if isinstance(item, Gap) else item.position


async def _gap_behind(reader: Reader, since: int) -> Sequence[Gap]:
    horizon = await event_log.horizon(reader)
    if since >= horizon:
        return ()
    gap = Gap(tree_id=None, first_seq=None, last_seq=None, last_position=horizon, reason=GapReason.EXPIRED)
    return (gap,)


async def newest_page(
    services: Services,
    tree_id: TreeId | None,
    sight: EventSight,
    *,
    count: int,
    choice: EventChoice = EVERY_EVENT,
) -> EventPage:
    """The newest events of a tree, or of all trees with None, oldest first, and where to go on from."""
    async with services.db.reader() as reader:
        head = await event_log.head(reader)
        found = await event_log.newest(
            reader,
            up_to=head,
            count=count,
            tree_id=tree_id,
            event_class=choice.event_class,
            without=choice.without,
            agents=sight.agents,
        )
        last = await event_log.newest(reader, up_to=head, count=1, tree_id=tree_id)
    reached = head if tree_id is None else last[-1].seq if last else 0
    return EventPage(events=tuple(found), cursor=reached, is_full=False)


async def wait_for_events(
    services: Services,
    tree_id: TreeId | None,
    sight: EventSight,
    *,
    since: int,
    count: int,
    wait_s: float,
    choice: EventChoice = EVERY_EVENT,
) -> EventPage:
    """A page of a tree, or of all trees with None, as soon as there is something on it, or after `wait_s`.

    choice: only such events; a page has `count` of them if there are so many.
    """
    deadline_s = services.clock.monotonic() + min(wait_s, MAX_WAIT_S)
    ear = services.wakeups.listen(Topic.EVENTS)
    kept: list[LoggedEvent | Gap] = []
    while True:
        if tree_id is None:
            page = await all_events(services, sight, since=since, count=count)
        else:
            page = await tree_events(services, tree_id, sight, since=since, count=count)
        kept += [each for each in page.events if choice.takes(each)]
        since = page.cursor
        left_s = deadline_s - services.clock.monotonic()
        if len(kept) > count or (len(kept) == count and page.is_full):
            return _cut(kept, count, is_of_tree=tree_id is not None)
        if not page.is_full and (kept or left_s <= 0):
            return EventPage(events=tuple(kept), cursor=since, is_full=False)
        if not page.is_full:
            await ear.wait(at_most_s=min(left_s, _POLL_S))


def _cut(items: Sequence[LoggedEvent | Gap], count: int, *, is_of_tree: bool) -> EventPage:
    """The first `count` of them as a page, from whose last the next one goes on."""
    last = items[count - 1]
    number = last.last_seq if isinstance(last, Gap) else last.seq
    cursor = number if is_of_tree and number is not None else _position(last)
    return EventPage(events=tuple(items[:count]), cursor=cursor, is_full=True)
