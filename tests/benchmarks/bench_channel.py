"""A chat network for benchmarks: it keeps what it was sent and when, and may be slow in some chats."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.groups import Chat
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage, Receipt
from orchestrator.contracts.seams import Inbox

NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A text that the network took, and when it had it."""

    chat: Jid
    text: str
    at_s: float


class BenchChannel:
    """Implements `Channel` for the chats `bench:*`. send_s: how long a send takes, by chat."""

    name = "bench"

    def __init__(self, send_s: Mapping[Jid, float] | None = None) -> None:
        self.sent: list[Sent] = []
        self._send_s = dict(send_s or {})
        self._inbox: Inbox | None = None

    def owns(self, jid: Jid) -> bool:
        """Whether `jid` is a chat of this network."""
        return jid.startswith("bench:")

    @property
    def max_text_chars(self) -> int:
        """As a console."""
        return 60_000

    @property
    def is_connected(self) -> bool:
        """From `connect` to `close`."""
        return self._inbox is not None

    async def connect(self, inbox: Inbox) -> None:
        """Open it."""
        self._inbox = inbox

    async def send(self, message: OutboundMessage) -> Receipt:
        """Take the text, as fast as this chat is."""
        if (wait_s := self._send_s.get(message.chat_jid)) is not None:
            await asyncio.sleep(wait_s)
        self.sent.append(Sent(chat=message.chat_jid, text=message.text, at_s=time.monotonic()))
        return Receipt(message_id=MessageId(f"out-{message.outbox_id}"))

    async def set_typing(self, chat: Jid, *, is_typing: bool) -> None:
        """Nobody looks."""

    async def fetch_groups(self) -> Sequence[Chat]:
        """None."""
        return ()

    async def close(self) -> None:
        """Take nothing more."""
        self._inbox = None

    async def hear(self, chat: Jid, text: str, *, message_id: str) -> None:
        """A person wrote this; it is stored when this returns."""
        assert self._inbox is not None
        await self._inbox(
            InboundMessage(
                chat_jid=chat,
                message_id=MessageId(message_id),
                sender_jid=Jid("bench-person@s"),
                sender_name="Person",
                text=text,
                sent_at=NOON,
            )
        )
