"""The terminal as a chat network. Clients read sent texts from the outbox, so none is lost or doubled."""

from typing import Final

from orchestrator.contracts.errors import ErrorCode, InvalidRequest, Unavailable
from orchestrator.contracts.ids import Jid, MessageId, new_id
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage, Receipt
from orchestrator.contracts.seams import Clock, Inbox, Topic, Wakeups

PREFIX: Final = "console:"
OPERATOR: Final = Jid("console:operator")
_MAX_TEXT_CHARS: Final = 60_000


class ConsoleChannel:
    """Owns the chats `console:*`. Keeps nothing but who is typing; the store has the rest."""

    name = "console"

    def __init__(self, *, clock: Clock, wakeups: Wakeups) -> None:
        self._clock = clock
        self._wakeups = wakeups
        self._inbox: Inbox | None = None
        self._typing: set[Jid] = set()

    def owns(self, jid: Jid) -> bool:
        """Whether `jid` is a console chat."""
        return jid.startswith(PREFIX) and len(jid) > len(PREFIX)

    @property
    def max_text_chars(self) -> int:
        """A terminal takes long texts; below the 64 KiB that any text may have."""
        return _MAX_TEXT_CHARS

    @property
    def is_connected(self) -> bool:
        """From `connect` to `close`."""
        return self._inbox is not None

    async def connect(self, inbox: Inbox) -> None:
        """Open the door: from now on messages go to `inbox`."""
        self._inbox = inbox

    async def send(self, message: OutboundMessage) -> Receipt:
        """Take the text. Clients find it in the outbox once its row says `sent`."""
        return Receipt(message_id=MessageId(f"out-{message.outbox_id}"))

    async def set_typing(self, chat: Jid, *, is_typing: bool) -> None:
        """Remember it and let the clients look."""
        if is_typing == (chat in self._typing):
            return
        if is_typing:
            self._typing.add(chat)
        else:
            self._typing.discard(chat)
        self._wakeups.wake(Topic.CHAT_VIEW)

    def is_typing(self, chat: Jid) -> bool:
        """Whether the assistant is at work in `chat`."""
        return chat in self._typing

    async def receive(
        self, chat: Jid, text: str, *, message_id: MessageId | None = None, sender_name: str | None = None
    ) -> MessageId:
        """Take in what the operator wrote; it is stored when this returns its id.

        Raises InvalidRequest for a chat of another network or an empty text, Unavailable before `connect`.
        """
        if not self.owns(chat):
            raise InvalidRequest(
                f"{chat!r} is not a console chat.", suggestion="Name one that begins with console:."
            )
        if not text.strip():
            raise InvalidRequest("The text is empty.", suggestion="Write something.")
        if self._inbox is None:
            raise Unavailable("The console is not open yet.", code=ErrorCode.CHANNEL_UNAVAILABLE)
        message = InboundMessage(
            chat_jid=chat,
            message_id=message_id or MessageId(new_id("msg")),
            sender_jid=OPERATOR,
            sender_name=sender_name or "Operator",
            text=text,
            sent_at=self._clock.now(),
            chat_name="Console",
        )
        await self._inbox(message)
        return message.message_id

    async def close(self) -> None:
        """Take no more messages; nobody is typing any longer."""
        self._inbox = None
        self._typing.clear()
        self._wakeups.wake(Topic.CHAT_VIEW)
