"""What chat networks have in common: the inbox, and a link that is kept up from `connect` to `close`."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.channels import ChannelHealth, ChannelState
from orchestrator.contracts.records.groups import Chat, GroupChange
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage, Receipt
from orchestrator.contracts.seams import Clock, Inbox
from orchestrator.core.reconnects import Reconnects, RetryRule

_log = structlog.get_logger(__name__)

OUR_FAULT: Final = "a fault of our own; see the log"
OnState = Callable[[ChannelState, Callable[[Jid], bool]], Awaitable[None]]
"""Told how a channel stands each time that this changes, and which chats are its own; never raises."""
OnSame = Callable[[Sequence[tuple[Jid, Jid]]], Awaitable[None]]
"""Told pairs of ids that are one person, the hidden one first. Raises Unavailable."""
IsRead = Callable[[InboundMessage], Awaitable[bool]]
"""Asked whether anybody reads a message, before its files are fetched for it. Raises Unavailable."""
OnGroup = Callable[[str, GroupChange], Awaitable[None]]
"""Told what happened to a group chat of the channel with this name. Raises Unavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelParts:
    """What a network's channel is made with. tasks: owns what keeps the link, and is entered by `connect`.

    retry: the pauses between two tries of the link.
    """

    tasks: asyncio.TaskGroup
    clock: Clock
    on_state: OnState
    on_same: OnSame
    on_group: OnGroup
    is_read: IsRead
    retry: RetryRule = field(default_factory=RetryRule)


class BaseChannel(ABC):
    """A `Channel` that has no group chats, shows no typing, and is connected from `connect` to `close`."""

    name: str
    max_text_chars: int = 4_000

    def __init__(self) -> None:
        self._inbox: Inbox | None = None

    @property
    def is_connected(self) -> bool:
        """Whether texts can be sent now."""
        return self._inbox is not None

    @abstractmethod
    def owns(self, jid: Jid) -> bool:
        """Whether `jid` is a chat of this network."""

    @abstractmethod
    async def send(self, message: OutboundMessage) -> Receipt:
        """Send it once. Raises SendRefused, SendUnavailable or SendUnknown."""

    async def connect(self, inbox: Inbox) -> None:
        """Open the door: from now on messages go to `inbox`."""
        self._inbox = inbox

    async def hand_on(self, message: InboundMessage) -> None:
        """Hand in what somebody wrote; it is stored when this returns. Raises as `Inbox` does."""
        if self._inbox is None:
            raise Unavailable(f"The {self.name} is not open yet.", code=ErrorCode.CHANNEL_UNAVAILABLE)
        await self._inbox(message)

    async def set_typing(  # noqa: B027 - a network that shows none has nothing to do
        self, chat: Jid, *, is_typing: bool
    ) -> None:
        """Nothing is shown."""

    async def fetch_groups(self) -> Sequence[Chat]:
        """None: a chat is there once somebody opens it."""
        return ()

    async def close(self) -> None:
        """Take no more messages."""
        self._inbox = None


class LinkedChannel(BaseChannel):
    """A channel over a link that may break: `live` is run again, after a pause, each time that it ends."""

    title: str
    """What people call the network."""

    def __init__(self, parts: ChannelParts) -> None:
        super().__init__()
        self._parts = parts
        self._known = Reconnects()
        self._health = ChannelHealth.TRYING
        self._opened = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    @property
    def is_connected(self) -> bool:
        """Whether the link is open now."""
        return self._inbox is not None and self._health is ChannelHealth.OPEN

    @abstractmethod
    async def live(self) -> None:
        """One life of the link, from the dial to its end; calls `say_state` when it is open.

        Whatever it began has ended when it returns or raises. Raises Unavailable, saying why it ended.
        """

    async def connect(self, inbox: Inbox) -> None:
        """Keep the link from now until `close`; returns once it is open for the first time."""
        await self.close()
        await super().connect(inbox)
        self._opened.clear()
        # In the orchestrator's own TaskGroup: the link outlives this call, and ends by `close`.
        self._running = self._parts.tasks.create_task(self._keep(), name=f"channel {self.name}")
        await self._opened.wait()

    async def close(self) -> None:
        """End the link."""
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            await asyncio.wait({running})
        self._health = ChannelHealth.TRYING
        await super().close()

    async def say_state(self, health: ChannelHealth, why: str = "") -> None:
        """The link stands like this now; operators hear what they should know of it."""
        self._health = health
        if health is ChannelHealth.OPEN:
            self._known = self._known.opened()
            self._opened.set()
        shown = ChannelState(name=self.name, title=self.title, health=health, why=why)
        await self._parts.on_state(shown, self.owns)

    async def _keep(self) -> None:
        rule = self._parts.retry
        while True:
            why = "the link ended"
            try:
                await self.live()
            except Unavailable as error:
                why = error.message
            except Exception:  # the owner of the activity logs its fault once, and starts it again
                _log.exception("channel.failed", channel=self.name)
                why = OUR_FAULT
            now = self._parts.clock.monotonic()
            held = self._known.held(now, rule) if self._health is ChannelHealth.OPEN else self._known
            self._known = held.failed(now, rule)
            is_down = self._known.is_tripped or why is OUR_FAULT
            await self.say_state(ChannelHealth.DOWN if is_down else ChannelHealth.TRYING, why)
            await asyncio.sleep(rule.most_s if why is OUR_FAULT else self._known.pause_s(rule))
