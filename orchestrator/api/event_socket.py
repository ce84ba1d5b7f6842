"""What a reader of events is told: what was before, and live what happens. Source: agents.md section 1.

Each message is one JSON object. A reader who is slower than what happens is told of the gap; nobody waits
for him.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog

from orchestrator.commands.agents.event_views import (
    EventSight,
    all_events,
    check_tree,
    flat_json,
    newest_page,
    tree_events,
)
from orchestrator.commands.services import Services
from orchestrator.contracts.egress_seams import TextSocket
from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest, LimitExceeded, NotFound
from orchestrator.contracts.ids import TreeId
from orchestrator.contracts.live_events import Gap, Item, Subscriber
from orchestrator.contracts.wire.codec import WireError, parse_json
from orchestrator.contracts.wire.field_names import unknown_field
from orchestrator.core.events import with_holes
from orchestrator.core.rate_limit import Bucket, take

_log = structlog.get_logger(__name__)

IsKnown = Callable[[], Awaitable[bool]]

ALL: Final = "*"
MAX_WATCHED: Final = 1_000
"""Trees that one reader may watch one by one."""
_FIELDS: Final = ("type", "treeId", "since")
MAX_BUFFERED_EVENTS: Final = 1_000
_PAGE: Final = 500
_PER_MINUTE: Final = 300.0
_BURST: Final = 100.0
_MAX_WAITING: Final = 16
_KNOWN_FOR_S: Final = 30.0
"""After this a credential is looked at again."""


class EventSocket:
    """One reader's connection, accepted and known. `run` until it ends."""

    def __init__(
        self,
        socket: TextSocket,
        services: Services,
        subscriber: Subscriber,
        sight: EventSight,
        is_known: IsKnown,
    ) -> None:
        self._socket = socket
        self._services = services
        self._subscriber = subscriber
        self._sight = sight
        self._is_known = is_known
        self._known_at_s = services.clock.monotonic()
        self._asked: deque[Mapping[str, Any] | DovecoteError] = deque()
        self._has_room = asyncio.Event()
        self._watched: set[TreeId | None] = set()
        self._reached: dict[TreeId, int] = {}
        self._bucket = Bucket(tokens=_BURST, at=services.clock.monotonic())
        self._answers = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "getBufferedEvents": self._buffered,
        }

    async def run(self) -> None:
        """Answer and deliver until the reader goes, or has to."""
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(self._listen(), name="what a reader of events asks")
            delivering = tasks.create_task(self._deliver(), name="events to a reader")
            await asyncio.wait({listening, delivering}, return_when=asyncio.FIRST_COMPLETED)
            ended = [each for each in (listening, delivering) if each.done()]
            listening.cancel()
            delivering.cancel()
        fault = next((each.result() for each in ended if not each.cancelled()), None)
        if fault is not None:
            with contextlib.suppress(ConnectionError):
                await self._socket.refuse(fault)

    async def _listen(self) -> str | None:
        """Take in what the reader asks, no faster than he is answered. Why he has to go; None if he went."""
        while True:
            received = await self._socket.receive()
            if received is None:
                return None
            wait_s = self._take_token()
            if wait_s > 0:
                return "too many messages"
            self._asked.append(_parsed(received))
            self._subscriber.nudge()
            while len(self._asked) >= _MAX_WAITING:
                self._has_room.clear()
                await self._has_room.wait()

    def _take_token(self) -> float:
        now = self._services.clock.monotonic()
        self._bucket, wait_s = take(self._bucket, now, per_minute=_PER_MINUTE, burst=_BURST)
        return wait_s

    async def _deliver(self) -> str | None:
        """The one writer: what was asked first, so that nothing live overtakes what was before.

        Why the reader has to go; None if he went.
        """
        try:
            while True:
                while self._asked:
                    await self._answer(self._asked.popleft())
                    self._has_room.set()
                items = await self._subscriber.take()
                if not await self._may_stay():
                    return "the credential is not good any more"
                for item in items:
                    await self._send_live(item)
        except ConnectionError:
            return None

    async def _may_stay(self) -> bool:
        """Whether his credential is still good, looked up once in a while."""
        now = self._services.clock.monotonic()
        if now - self._known_at_s < _KNOWN_FOR_S:
            return True
        self._known_at_s = now
        return await self._is_known()

    async def _send_live(self, item: Item) -> None:
        """Send it; of what was stored behind the newest that is kept, only the first live one tells."""
        if isinstance(item, Gap):
            if item.tree_id is None:
                self._reached.clear()
            else:
                self._reached.pop(item.tree_id, None)
            await self._send(flat_json(item))
            return
        event = item.event
        reached = None if event.tree_id is None else self._reached.pop(event.tree_id, None)
        if reached is not None:
            for missing in with_holes([event], after_seq=reached):
                if isinstance(missing, Gap):
                    await self._send(flat_json(missing))
        await self._send(item.text)

    async def _answer(self, asked: Mapping[str, Any] | DovecoteError) -> None:
        try:
            if isinstance(asked, DovecoteError):
                raise asked
            answer = self._answers.get(str(asked.get("type")))
            if answer is None:
                raise InvalidRequest(
                    f"type: {str(asked.get('type'))[:40]!r} is not known.",
                    suggestion=f"Send one of {', '.join(self._answers)}.",
                )
            _check_names(asked)
            await answer(asked)
        except DovecoteError as error:
            plain = {"type": "error", "error": error.message, "code": error.code.value}
            await self._send(
                json.dumps(plain | ({"suggestion": error.suggestion} if error.suggestion else {}))
            )

    async def _subscribe(self, asked: Mapping[str, Any]) -> None:
        """From `since` on, if it is given; else from now on."""
        tree_id, since = self._tree(asked), _number(asked, "since")
        await self._check_tree(tree_id)
        if len(self._watched) >= MAX_WATCHED:
            raise LimitExceeded(
                f"This connection watches {MAX_WATCHED} trees already.", suggestion=f"Watch {ALL!r} instead."
            )
        if since is None:
            self._watch(tree_id)
        else:
            await self._catch_up(tree_id, since)
        await self._send(json.dumps({"type": "subscribed", "treeId": tree_id or ALL}))

    def _watch(self, tree_id: TreeId | None) -> int:
        self._watched.add(tree_id)
        return self._subscriber.watch(self._sight.tree_id if tree_id is None else tree_id)

    async def _catch_up(self, tree_id: TreeId | None, since: int) -> None:
        """Send what is stored until little is left, then watch, then send that: no hole and no repeat."""
        is_full = True
        while is_full:
            since, is_full = await self._send_page(tree_id, since, up_to=self._subscriber.head)
        up_to, is_full = self._watch(tree_id), True
        while is_full:
            since, is_full = await self._send_page(tree_id, since, up_to=up_to)
        if tree_id is not None and self._sight.agents is None:
            self._reached[tree_id] = since

    async def _send_page(self, tree_id: TreeId | None, since: int, *, up_to: int) -> tuple[int, bool]:
        services, sight = self._services, self._sight
        if tree_id is None:
            page = await all_events(services, sight, since=since, count=_PAGE, up_to=up_to)
        else:
            page = await tree_events(services, tree_id, sight, since=since, count=_PAGE, up_to=up_to)
        for event in page.events:
            await self._send(flat_json(event))
        return page.cursor, page.is_full

    async def _unsubscribe(self, asked: Mapping[str, Any]) -> None:
        tree_id = self._tree(asked)
        self._watched.discard(tree_id)
        self._subscriber.unwatch(self._sight.tree_id if tree_id is None else tree_id)
        await self._send(json.dumps({"type": "unsubscribed", "treeId": tree_id or ALL}))

    async def _buffered(self, asked: Mapping[str, Any]) -> None:
        """What is kept of a tree, its newest events; or those behind `since`, a page at a time."""
        tree_id, since = self._tree(asked), _number(asked, "since")
        if tree_id is None:
            raise InvalidRequest("treeId: name one tree.", suggestion=f"Subscribe to {ALL!r} with `since`.")
        await self._check_tree(tree_id)
        if since is None:
            page = await newest_page(self._services, tree_id, self._sight, count=MAX_BUFFERED_EVENTS)
        else:
            page = await tree_events(
                self._services, tree_id, self._sight, since=since, count=MAX_BUFFERED_EVENTS
            )
        listed = ",".join(map(flat_json, page.events))
        name = json.dumps(tree_id)
        await self._send(f'{{"type":"bufferedEvents","treeId":{name},"events":[{listed}]}}')

    def _tree(self, asked: Mapping[str, Any]) -> TreeId | None:
        """The tree that is meant, None for all; an agent knows only its own."""
        name = asked.get("treeId")
        if not isinstance(name, str) or not name:
            raise InvalidRequest("treeId: is missing.", suggestion=f"Name a tree, or {ALL!r} for all.")
        if name == ALL:
            return None
        if self._sight.tree_id not in (None, name):
            raise NotFound(f"There is no tree {name[:80]!r}.", suggestion="An agent sees its own tree only.")
        return TreeId(name)

    async def _check_tree(self, tree_id: TreeId | None) -> None:
        """What is watched is there: who misspells it would wait for ever. Raises NotFound."""
        if tree_id is not None and self._sight.tree_id is None:
            await check_tree(self._services, tree_id)

    async def _send(self, text: str) -> None:
        await self._socket.send(text)


def _parsed(text: str | bytes) -> Mapping[str, Any] | DovecoteError:
    if not isinstance(text, str):
        return InvalidRequest("Send JSON as text, not as bytes.")
    try:
        plain = parse_json(text)
    except WireError as error:
        return InvalidRequest(f"The message is {error}.")
    return plain if isinstance(plain, dict) else InvalidRequest("The message is no JSON object.")


def _check_names(asked: Mapping[str, Any]) -> None:
    """Each field is known: one that is misspelled would be passed over. Raises InvalidRequest."""
    fault = unknown_field(asked, _FIELDS)
    if fault is not None:
        raise InvalidRequest(
            f"The message has a wrong field: {fault}.", suggestion=f"It takes: {', '.join(_FIELDS)}."
        )


def _number(asked: Mapping[str, Any], name: str) -> int | None:
    value = asked.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise DovecoteError(f"{name}: is not a whole number from 0.", code=ErrorCode.INVALID_REQUEST)
    return value
