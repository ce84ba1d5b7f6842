"""Live events: one reader of the event log, which hands each event to everybody who watches its tree."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Final, Self

import structlog

from orchestrator.commands.agents.event_views import flat_json
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import LimitExceeded, Unavailable
from orchestrator.contracts.events import LoggedEvent
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.live_events import Delivery, Item
from orchestrator.contracts.seams import Topic
from orchestrator.core.events import EventBuffer, Sight
from orchestrator.store import event_log

_log = structlog.get_logger(__name__)

_PAGE: Final = 100
"""So few that thousands of readers of all trees do not hold up the loop."""
_POLL_S: Final = 1.0
_LAST: Final = 2**62


class FeedSubscriber:
    """One reader's place in the feed."""

    def __init__(self, feed: "EventFeed", sight: Sight, buffer: EventBuffer) -> None:
        self.watched: set[TreeId | None] = set()
        self.buffer = buffer
        self._feed = feed
        self._sight = sight
        self._news = asyncio.Event()

    @property
    def head(self) -> int:
        """Up to this position every event was handed out to those who watched."""
        return self._feed.head

    def watch(self, tree_id: TreeId | None) -> int:
        """Gather the events of a tree, of all with None, from now on; the position behind which they are."""
        self.watched.add(tree_id)
        return self._feed.watch(self, tree_id)

    def unwatch(self, tree_id: TreeId | None) -> None:
        """Gather them no longer."""
        self.watched.discard(tree_id)
        self._feed.forget(self, tree_id)

    def sees(self, event: LoggedEvent) -> bool:
        """Whether the reader may see it."""
        return self._sight.sees(event)

    def put(self, delivery: Delivery) -> None:
        """An event of what it watches."""
        if self._sight.sees(delivery.event):
            self.buffer.put(delivery)
            self._news.set()

    async def take(self) -> Sequence[Item]:
        """What was gathered since the last call, waiting for it; empty after a `nudge`."""
        await self._news.wait()
        self._news.clear()
        return self.buffer.take()

    def nudge(self) -> None:
        """Let a waiting `take` return."""
        self._news.set()

    def close(self) -> None:
        """Give up the place."""
        for tree_id in tuple(self.watched):
            self.unwatch(tree_id)
        self._feed.dismiss(self)


class EventFeed:
    """Reads the log as it grows. `run` until cancelled; used from the loop's thread only."""

    def __init__(self, services: Services, *, head: int) -> None:
        self.head = head
        """Up to this position every event was handed out."""
        self._services = services
        self._by_tree: dict[TreeId | None, dict[FeedSubscriber, None]] = {}
        self._subscribers: dict[FeedSubscriber, None] = {}

    @classmethod
    async def open(cls, services: Services) -> Self:
        """A feed of what happens from now on."""
        async with services.db.reader() as reader:
            return cls(services, head=await event_log.head(reader))

    def subscribe(self, *, only: Collection[AgentId] | None) -> FeedSubscriber:
        """A place that watches nothing yet. Raises LimitExceeded when there are too many readers."""
        settings = self._services.settings.events
        if len(self._subscribers) >= settings.max_readers:
            raise LimitExceeded(
                f"{settings.max_readers} readers listen to events already.",
                suggestion="Close some of them, or raise events.max_readers.",
            )
        buffer = EventBuffer(max_items=settings.reader_buffer)
        subscriber = FeedSubscriber(self, Sight(only), buffer)
        self._subscribers[subscriber] = None
        return subscriber

    def watch(self, subscriber: FeedSubscriber, tree_id: TreeId | None) -> int:
        """From now on `subscriber` gets what happens in the tree; behind which position that is."""
        self._by_tree.setdefault(tree_id, {})[subscriber] = None
        return self.head

    def forget(self, subscriber: FeedSubscriber, tree_id: TreeId | None) -> None:
        """`subscriber` gets nothing of that tree any more."""
        watching = self._by_tree.get(tree_id, {})
        watching.pop(subscriber, None)
        if not watching:
            self._by_tree.pop(tree_id, None)

    def dismiss(self, subscriber: FeedSubscriber) -> None:
        """The reader is gone."""
        self._subscribers.pop(subscriber, None)

    async def run(self) -> None:
        """Hand out what is committed. A store that can't be read is asked again."""
        ear = self._services.wakeups.listen(Topic.EVENTS)
        while True:
            try:
                is_more = await self._pass_once()
            except Unavailable as error:
                _log.warning("events.store_unavailable", error=error.message)
                is_more = False
            if not is_more:
                await ear.wait(at_most_s=_POLL_S)

    async def _pass_once(self) -> bool:
        """Hand out one page; whether it was a full one."""
        async with self._services.db.reader() as reader:
            events = await event_log.behind(reader, self.head, up_to=_LAST, count=_PAGE)
        for event in events:
            self._hand_out(event)
            self.head = event.position
        return len(events) == _PAGE

    def _hand_out(self, event: LoggedEvent) -> None:
        of_tree, of_all = self._by_tree.get(event.tree_id, {}), self._by_tree.get(None, {})
        if not of_tree and not of_all:
            return
        delivery = Delivery(event=event, text=flat_json(event))
        for subscriber in {**of_tree, **of_all}:
            subscriber.put(delivery)
