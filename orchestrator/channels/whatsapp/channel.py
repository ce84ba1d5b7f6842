"""WhatsApp as a `Channel`: chats of one linked account, behind a supervised child process."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import structlog

from orchestrator.channels.whatsapp.bridge import Bridge, BridgeRule, BridgeState
from orchestrator.channels.whatsapp.jids import GROUP_SERVER, LID_SERVER, PHONE_SERVER, server_of, user_of
from orchestrator.channels.whatsapp.lanes import Taker
from orchestrator.channels.whatsapp.lines import Heard, LinkState
from orchestrator.channels.whatsapp.pace import Pace, PaceRule
from orchestrator.channels.whatsapp.process import ChildCommand
from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.groups import Chat
from orchestrator.contracts.records.messages import OutboundMessage, Receipt
from orchestrator.contracts.seams import Clock, Inbox, SendUnavailable

_log = structlog.get_logger(__name__)
_SERVERS: Final = (GROUP_SERVER, PHONE_SERVER, LID_SERVER)
_MAX_TEXT_CHARS: Final = 4_000
_AFTER_FAULT_S: Final = 300.0

OnState = Callable[[BridgeState], Awaitable[None]]
"""Called with each change of the link, one after another; must not raise."""
OnSame = Callable[[Sequence[tuple[Jid, Jid]]], Awaitable[None]]
"""Called with pairs of ids that are one person, the hidden one first. Raises Unavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPlan:
    """Where the account lies, and how the channel behaves. format_text: Markdown in WhatsApp's own marks."""

    session: Path
    command: ChildCommand
    rule: BridgeRule = field(default_factory=BridgeRule)
    pace: PaceRule = field(default_factory=PaceRule)
    format_text: Callable[[str], str] = str


class WhatsAppChannel:
    """Owns the chats of WhatsApp. Everything that lasts is in the session, the spool and the store."""

    name = "whatsapp"

    def __init__(
        self,
        plan: ChannelPlan,
        *,
        tasks: asyncio.TaskGroup,
        clock: Clock,
        on_state: OnState,
        on_same: OnSame,
        random: Random,
    ) -> None:
        """tasks: owns what keeps the link, from `connect` to `close`; entered by then."""
        self._plan = plan
        self._tasks = tasks
        self._clock = clock
        self._on_state = on_state
        self._on_same = on_same
        self._pace = Pace(plan.pace, clock, random)
        self._bridge: Bridge | None = None
        self._running: asyncio.Task[None] | None = None

    def owns(self, jid: Jid) -> bool:
        """Whether `jid` is a group or a person of WhatsApp."""
        return bool(user_of(jid)) and server_of(jid) in _SERVERS

    @property
    def max_text_chars(self) -> int:
        """WhatsApp takes more; people do not read it."""
        return _MAX_TEXT_CHARS

    @property
    def state(self) -> BridgeState | None:
        """How the link stands; None before `connect` and after `close`."""
        return None if self._bridge is None else self._bridge.state

    @property
    def generation(self) -> int:
        """How many children there were since `connect`."""
        return 0 if self._bridge is None else self._bridge.generation

    @property
    def is_connected(self) -> bool:
        """Whether the link is open now."""
        return self._bridge is not None and self._bridge.state.link is LinkState.OPEN

    async def connect(self, inbox: Inbox) -> None:
        """Keep a link from now until `close`; returns once it is open for the first time."""
        await self.close()
        plan = self._plan
        self._bridge = bridge = Bridge(
            plan.command,
            clock=self._clock,
            linked_as=partial(linked_account, plan.session),
            on_state=self._on_state,
            rule=plan.rule,
        )
        self._running = self._tasks.create_task(
            self._keep(bridge, self._taker(inbox)), name="whatsapp bridge"
        )
        await bridge.opened()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send it once, at a human pace. Raises SendRefused, SendUnavailable or SendUnknown."""
        bridge = self._bridge
        if bridge is None or not self.is_connected:
            raise SendUnavailable("WhatsApp is not connected")
        await self._pace.turn(message.chat_jid)
        return await bridge.send(replace(message, text=self._plan.format_text(message.text)))

    async def set_typing(self, chat: Jid, *, is_typing: bool) -> None:
        """Show or hide the typing indicator, if that can be done now."""
        if self._bridge is not None:
            await self._bridge.set_typing(chat, is_typing=is_typing)

    async def fetch_groups(self) -> Sequence[Chat]:
        """The groups that this account is in. Raises Unavailable while it is not connected."""
        if self._bridge is None:
            raise Unavailable("WhatsApp is not connected.", code=ErrorCode.CHANNEL_UNAVAILABLE)
        found = await self._bridge.groups()
        return [Chat(jid=each.jid, channel=self.name, name=each.name, is_group=True) for each in found]

    async def close(self) -> None:
        """End the link and its process."""
        running, self._running, self._bridge = self._running, None, None
        if running is not None:
            running.cancel()
            await asyncio.wait({running})

    def _taker(self, inbox: Inbox) -> Taker:
        async def take(heard: Heard) -> None:
            if heard.same:
                await self._on_same([(each.lid, each.phone) for each in heard.same])
            await inbox(heard.message)

        return take

    async def _keep(self, bridge: Bridge, take: Taker) -> None:
        """A fault of ours in here must not silence the channel for ever."""
        while True:
            try:
                await bridge.run(take)
            except Exception:  # the owner of the activity logs its fault once, and starts it again
                _log.exception("whatsapp.bridge_failed", pause_s=_AFTER_FAULT_S)
                await self._on_state(
                    BridgeState(link=LinkState.FAILED, why="a fault of our own; see the log", is_tripped=True)
                )
            await asyncio.sleep(_AFTER_FAULT_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildOptions:
    """What the child is started with. has_owner: a person writes from the account as well.

    not_before: what was sent earlier is passed over.
    """

    session: Path
    spool: Path
    has_owner: bool = False
    not_before: datetime | None = None
    purpose: str = "run"


def child_command(options: ChildOptions) -> ChildCommand:
    """How the child is started: by this interpreter, away from the directory we happen to be in."""

    def words(descriptor: int, generation: int) -> list[str]:
        found = [sys.executable, "-P", "-m", "orchestrator.channels.whatsapp"]
        found += ["--descriptor", str(descriptor), "--generation", str(generation)]
        found += ["--session", str(options.session), "--spool", str(options.spool)]
        found += ["--purpose", options.purpose]
        if options.has_owner:
            found.append("--has-owner")
        if options.not_before is not None:
            found += ["--not-before-ms", str(int(options.not_before.timestamp() * 1000))]
        return found

    return words
