"""Keeps what is known of the group chats that could be registered, by asking the channels."""

import asyncio
from typing import Final

import structlog

from orchestrator.commands.groups.group_chats import take_chats
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.seams import Channel, Topic
from orchestrator.engine.channel_set import ChannelSet

_log = structlog.get_logger(__name__)
_EVERY_S: Final = 24 * 3600.0
_APART_S: Final = 10.0
"""A burst of wishes is one look: networks limit how often they may be asked."""
_ANSWER_WITHIN_S: Final = 60.0


class ChatDirectory:
    """Asks each channel at its start, when an agent wishes it, and once a day. Runs until cancelled."""

    def __init__(self, services: Services, channels: ChannelSet, *, apart_s: float = _APART_S) -> None:
        self._services = services
        self._channels = channels
        self._apart_s = apart_s
        self._looked_at: dict[str, float] = {}
        self._due_at: dict[str, float] = {}

    async def run(self) -> None:
        """Wait for a wish; what comes too early is done once its time has come."""
        listener = self._services.wakeups.listen(Topic.CHATS)
        wait_s = 0.0
        while True:
            is_wished = await listener.wait(at_most_s=wait_s)
            connected = [each for each in self._channels.all if each.is_connected]
            waits = [await self._look(each, is_wished=is_wished) for each in connected]
            wait_s = min(waits, default=_EVERY_S)

    async def _look(self, channel: Channel, *, is_wished: bool) -> float:
        """Ask the channel if it is due, at once or soon after a wish; when to look again, in seconds."""
        now = self._services.clock.monotonic()
        due_at = self._due_at.get(channel.name, now)
        if is_wished and channel.name in self._looked_at:
            due_at = min(due_at, max(now, self._looked_at[channel.name] + self._apart_s))
        self._due_at[channel.name] = due_at
        if due_at > now:
            return due_at - now
        self._looked_at[channel.name], self._due_at[channel.name] = now, now + _EVERY_S
        try:
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                found = await channel.fetch_groups()
            await take_chats(self._services, channel.name, found)
        except (TimeoutError, Unavailable) as error:
            _log.warning("chats.not_fetched", channel=channel.name, error=str(error) or "no answer in time")
        else:
            _log.info("chats.fetched", channel=channel.name, count=len(found))
        return _EVERY_S
