"""Sends what the outbox holds, in order within a chat; a slow chat holds up no other."""

import asyncio
from datetime import datetime
from typing import Final, Protocol

import structlog

from orchestrator.commands.saying.attachments import outbound_file, remove_ended
from orchestrator.commands.saying.delivery import (
    NextText,
    claim_next,
    note_refused,
    note_sent,
    note_unavailable,
    note_unknown,
    text_to_send,
)
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import OutboundMessage, OutboxItem
from orchestrator.contracts.seams import Channel, SendRefused, SendUnavailable, SendUnknown, Topic
from orchestrator.core.chat.attachments import upload_limit_s
from orchestrator.engine.channel_set import ChannelSet
from orchestrator.engine.persistence import persist
from orchestrator.store import outbox
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
_POLL_S: Final = 2.0
_SEND_LIMIT_S: Final = 60.0


class _Writer(Protocol):
    def __call__(
        self, tx: Transaction, services: Services, item: OutboxItem, *, why: str, at: datetime
    ) -> None: ...


class OutboxSender:
    """One task a chat that has something to send. Runs until cancelled."""

    def __init__(self, services: Services, channels: ChannelSet) -> None:
        self._services = services
        self._channels = channels
        self._busy: set[Jid] = set()

    async def run(self) -> None:
        """Send until cancelled."""
        listener = self._services.wakeups.listen(Topic.OUTBOX)
        async with asyncio.TaskGroup() as sends:
            while True:
                await self._start_sends(sends)
                await listener.wait(at_most_s=_POLL_S)

    async def flush(self, *, within_s: float) -> bool:
        """Wait until everything has left that can leave now; False when the time ran out first."""
        listener = self._services.wakeups.listen(Topic.OUTBOX, Topic.CHAT_VIEW)
        deadline = self._services.clock.monotonic() + within_s
        while True:
            try:
                chats = await self._services.db.run(outbox.waiting_chats)
            except Unavailable:
                return False
            if not [chat for chat in chats if self._connected(chat) is not None]:
                return True
            left_s = deadline - self._services.clock.monotonic()
            if left_s <= 0:
                return False
            await listener.wait(at_most_s=min(left_s, 0.2))

    async def _start_sends(self, sends: asyncio.TaskGroup) -> None:
        try:
            chats = await self._services.db.run(outbox.waiting_chats)
        except Unavailable as error:
            _log.error("outbox.store_unavailable", error=error.message, suggestion=error.suggestion)
            return
        for chat in chats:
            channel = self._connected(chat)
            if channel is not None and chat not in self._busy:
                self._busy.add(chat)
                sends.create_task(self._send_chat(chat, channel), name=f"send to {chat}")

    def _connected(self, chat: Jid) -> Channel | None:
        channel = self._channels.of(chat)
        return channel if channel is not None and channel.is_connected else None

    async def _send_chat(self, chat: Jid, channel: Channel) -> None:
        """Send what is due in one chat, one after another."""
        services = self._services
        try:
            while channel.is_connected:
                due = await services.db.run(
                    lambda tx: claim_next(tx, services, chat, at=services.clock.now())
                )
                if due.item is not None:
                    await self._send(channel, due, due.item)
                    if due.item.file is not None:
                        await remove_ended(services)
                elif not await self._wait_until(due.not_before):
                    return
        except Unavailable as error:
            _log.error("outbox.store_unavailable", error=error.message, suggestion=error.suggestion)
        finally:
            self._busy.discard(chat)

    async def _wait_until(self, due: datetime | None) -> bool:
        """Wait for a text that backs off; False, at once, when the next poll comes early enough for it."""
        if due is None:
            return False
        wait_s = (due - self._services.clock.now()).total_seconds()
        if wait_s > _POLL_S:
            return False
        await asyncio.sleep(max(wait_s, 0.0))
        return True

    async def _send(self, channel: Channel, due: NextText, item: OutboxItem) -> None:
        services = self._services
        services.checkpoints.reached("outbox.claimed")
        locale = services.settings.assistant.locale
        file = None if item.file is None else outbound_file(services, item.file)
        if file is not None and not await asyncio.to_thread(file.path.is_file):
            await self._note(item, "outbox.refused", note_refused, "its copy in data/spool is gone")
            return
        message = OutboundMessage(
            chat_jid=item.chat_jid,
            text=text_to_send(services, item, locale=locale, at=services.clock.now()),
            outbox_id=item.id,
            reply_to=item.reply_to,
            reply_to_sender=due.reply_to_sender,
            reply_to_text=due.reply_to_text,
            mentions=due.mentions,
            file=file,
        )
        limit_s = _SEND_LIMIT_S + (0.0 if file is None else upload_limit_s(file.size_bytes))
        try:
            async with asyncio.timeout(limit_s):
                receipt = await channel.send(message)
        except SendRefused as error:
            await self._note(item, "outbox.refused", note_refused, str(error))
        except SendUnavailable as error:
            await self._note(item, "outbox.held_off", note_unavailable, str(error))
        except (SendUnknown, TimeoutError) as error:
            why = str(error) or "the channel did not answer"
            _log.warning("outbox.unknown", outbox_id=item.id, chat=item.chat_jid, why=why)
            now = services.clock.now()
            await persist(services, lambda tx: note_unknown(tx, item, why=why, at=now))
        else:
            services.checkpoints.reached("outbox.sent")
            now = services.clock.now()
            await persist(services, lambda tx: note_sent(tx, item, receipt, at=now))
            _log.info(
                "outbox.sent",
                chat=item.chat_jid,
                outbox_id=item.id,
                chars=len(item.text),
                attempts=item.attempts,
                resent=item.was_resent,
            )

    async def _note(self, item: OutboxItem, event: str, write: _Writer, why: str) -> None:
        services, now = self._services, self._services.clock.now()
        _log.warning(event, outbox_id=item.id, chat=item.chat_jid, why=why, attempts=item.attempts)
        await persist(services, lambda tx: write(tx, services, item, why=why, at=now))
