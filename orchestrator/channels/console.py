"""The terminal as a chat network. Clients read sent texts from the outbox, so none is lost or doubled."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from orchestrator.channels.base import BaseChannel
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import AT_TERMINAL, Jid, MessageId, new_id
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage, Receipt, ReceivedFile
from orchestrator.contracts.seams import Clock, SendUnavailable, Topic, Wakeups

PREFIX: Final = "console:"


class ConsoleChannel(BaseChannel):
    """Owns the chats `console:*`. Keeps who is typing, and the files it was given; the store has the rest.

    file_path: where the file of an outbox id and a name is kept for the people at the terminal.
    """

    name = "console"
    # A terminal takes long texts; below the 64 KiB that any text may have.
    max_text_chars = 60_000

    def __init__(self, *, clock: Clock, wakeups: Wakeups, file_path: Callable[[int, str], Path]) -> None:
        super().__init__()
        self._clock = clock
        self._file_path = file_path
        self._wakeups = wakeups
        self._typing: set[Jid] = set()

    @property
    def sender(self) -> Jid:
        """As whom everybody at the terminal writes."""
        return AT_TERMINAL

    def owns(self, jid: Jid) -> bool:
        """Whether `jid` is a console chat."""
        return jid.startswith(PREFIX) and len(jid) > len(PREFIX)

    async def send(self, message: OutboundMessage) -> Receipt:
        """Take the text and keep the file. Clients find both in the outbox once its row says `sent`."""
        if message.file is not None:
            target = self._file_path(message.outbox_id, message.file.name)
            try:
                await asyncio.to_thread(_keep, message.file.path, target)
            except OSError as error:
                raise SendUnavailable(f"the file could not be kept: {error.strerror}") from error
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
        self,
        chat: Jid,
        text: str,
        *,
        message_id: MessageId | None = None,
        sender_name: str | None = None,
        files: Sequence[ReceivedFile] = (),
    ) -> MessageId:
        """Take in what the operator wrote; it is stored when this returns its id.

        files: the operator's own; they are copied. Raises InvalidRequest for a chat of another network or
        a message without text and files, Unavailable before `connect`.
        """
        if not self.owns(chat):
            raise InvalidRequest(
                f"{chat!r} is not a console chat.", suggestion="Name one that begins with console:."
            )
        if not text.strip() and not files:
            raise InvalidRequest("The text is empty.", suggestion="Write something.")
        message = InboundMessage(
            chat_jid=chat,
            message_id=message_id or MessageId(new_id("msg")),
            sender_jid=AT_TERMINAL,
            sender_name=sender_name or "Operator",
            text=text,
            sent_at=self._clock.now(),
            chat_name="Console",
            files=tuple(files),
        )
        await self.hand_on(message)
        return message.message_id

    async def close(self) -> None:
        """Take no more messages; nobody is typing any longer."""
        await super().close()
        self._typing.clear()
        self._wakeups.wake(Topic.CHAT_VIEW)


def _keep(source: Path, target: Path) -> None:
    """Give the file a second name, or copy it where a file can have but one. Met again it changes nothing."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if target.exists():
        return
    with contextlib.suppress(OSError):
        os.link(source, target)
        return
    unfinished = target.with_name(f".{target.name}.tmp")
    shutil.copyfile(source, unfinished)
    unfinished.rename(target)
