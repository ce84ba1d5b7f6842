"""WhatsApp as a `Channel`: chats of one linked account, behind a supervised child process."""

import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from orchestrator.channels.base import ChannelParts, LinkedChannel
from orchestrator.channels.whatsapp.bridge import Bridge, BridgeRule, BridgeState
from orchestrator.channels.whatsapp.jids import (
    GROUP_SERVER,
    LID_SERVER,
    PHONE_SERVER,
    lid_and_phone,
    server_of,
    user_of,
)
from orchestrator.channels.whatsapp.lines import Heard, LinkState, MarkRead
from orchestrator.channels.whatsapp.pace import Pace, PaceRule
from orchestrator.channels.whatsapp.process import ChildCommand
from orchestrator.channels.whatsapp.session import linked_account
from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.channels import ChannelHealth
from orchestrator.contracts.records.groups import Chat
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage, Receipt
from orchestrator.contracts.seams import SendUnavailable
from orchestrator.core.chat.mentions import with_ids

_SERVERS: Final = (GROUP_SERVER, PHONE_SERVER, LID_SERVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelPlan:
    """Where the account lies, and how the channel behaves. format_text: Markdown in WhatsApp's own marks.

    read_receipts: whether senders see that their messages were read.
    """

    session: Path
    command: ChildCommand
    rule: BridgeRule = field(default_factory=BridgeRule)
    pace: PaceRule = field(default_factory=PaceRule)
    format_text: Callable[[str], str] = str
    read_receipts: bool = False


class WhatsAppChannel(LinkedChannel):
    """Owns the chats of WhatsApp. Everything that lasts is in the session, the spool and the store."""

    name = "whatsapp"
    title = "WhatsApp"
    # WhatsApp takes more; people do not read it.
    max_text_chars = 4_000

    def __init__(self, plan: ChannelPlan, parts: ChannelParts, *, random: Random) -> None:
        super().__init__(parts)
        self._plan = plan
        self._pace = Pace(plan.pace, parts.clock, random)
        self._bridge: Bridge | None = None

    def owns(self, jid: Jid) -> bool:
        """Whether `jid` is a group or a person of WhatsApp."""
        return bool(user_of(jid)) and server_of(jid) in _SERVERS

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

    async def live(self) -> None:
        """Keep one child running; it ends by a fault of ours only."""
        self._bridge = bridge = Bridge(
            self._plan.command,
            clock=self._parts.clock,
            linked_as=partial(linked_account, self._plan.session),
            on_state=self._note,
            is_read=self._parts.is_read,
            rule=self._plan.rule,
        )
        try:
            await bridge.run(self._take)
        finally:
            self._bridge = None

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send it once, at a human pace. Raises SendRefused, SendUnavailable or SendUnknown."""
        bridge = self._bridge
        if bridge is None or not self.is_connected:
            raise SendUnavailable("WhatsApp is not connected")
        await self._pace.turn(message.chat_jid)
        text = self._plan.format_text(with_ids(message.text, message.mentions))
        return await bridge.send(replace(message, text=text))

    async def set_typing(self, chat: Jid, *, is_typing: bool) -> None:
        """Show or hide the typing indicator, if that can be done now."""
        if self._bridge is not None:
            await self._bridge.set_typing(chat, is_typing=is_typing)

    async def fetch_groups(self) -> Sequence[Chat]:
        """The groups that this account is in. Raises Unavailable while it is not connected."""
        if self._bridge is None:
            raise Unavailable("WhatsApp is not connected.", code=ErrorCode.CHANNEL_UNAVAILABLE)
        found = await self._bridge.groups()
        await self._parts.on_same([(pair.lid, pair.phone) for each in found for pair in each.same])
        return [
            Chat(jid=each.jid, channel=self.name, name=each.name, is_group=True, members=each.members or None)
            for each in found
        ]

    async def _take(self, heard: Heard) -> None:
        """Who is who and what became of the group first: the message is told by it."""
        if heard.same:
            await self._parts.on_same([(each.lid, each.phone) for each in heard.same])
        if heard.group is not None:
            await self._parts.on_group(self.name, heard.group)
        if heard.message is not None:
            await self.hand_on(heard.message)
            if self._plan.read_receipts:
                await self._mark_read(heard.message)

    async def _mark_read(self, message: InboundMessage) -> None:
        """Its sender sees that it was read, if it is."""
        is_said = message.change is None and not message.is_context_only and not message.is_from_me
        if self._bridge is None or not is_said or not await self._parts.is_read(message):
            return
        await self._bridge.mark_read(
            MarkRead(chat=message.chat_jid, sender=message.sender_jid, message_id=message.message_id)
        )

    async def _note(self, state: BridgeState) -> None:
        own = lid_and_phone(*state.me) if len(state.me) == 2 else None
        if own is not None:
            with contextlib.suppress(Unavailable):  # said again with the next link
                await self._parts.on_same([own])
        health = ChannelHealth.DOWN if state.is_tripped else ChannelHealth.TRYING
        if state.link is LinkState.OPEN:
            health = ChannelHealth.OPEN
        elif state.link is LinkState.AUTH_REQUIRED:
            health = ChannelHealth.UNLINKED
        await self.say_state(health, state.why)


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
