"""The channels of this installation, and which of them a chat belongs to."""

from collections.abc import Sequence
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.seams import Channel

_DEFAULT_TEXT_LIMIT: Final = 4000


class ChannelSet:
    """Finds the channel of a chat."""

    def __init__(self, channels: Sequence[Channel]) -> None:
        self.all = tuple(channels)

    def of(self, jid: Jid) -> Channel | None:
        """The channel whose chat this is."""
        return next((channel for channel in self.all if channel.owns(jid)), None)

    def text_limit(self, jid: Jid) -> int:
        """The longest text that one message of this chat may hold."""
        channel = self.of(jid)
        return _DEFAULT_TEXT_LIMIT if channel is None else channel.max_text_chars

    async def set_typing(self, jid: Jid, *, is_typing: bool) -> None:
        """Show or hide the typing indicator, if the chat's channel is there."""
        channel = self.of(jid)
        if channel is not None and channel.is_connected:
            await channel.set_typing(jid, is_typing=is_typing)
