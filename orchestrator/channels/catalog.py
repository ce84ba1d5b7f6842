"""Which channels there are, and how to get one without loading the others."""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final, Protocol, cast

from orchestrator.contracts.errors import ErrorCode, NotFound
from orchestrator.contracts.seams import Channel, Clock, Wakeups

CHANNELS: Final[Mapping[str, str]] = {
    "console": "orchestrator.channels.console:ConsoleChannel",
}
"""Name to where its class lies. Other packages add theirs by the entry point `dovecote.channels`."""

ENTRY_POINTS: Final = "dovecote.channels"


class ChannelMaker(Protocol):
    """What a name of the catalog stands for."""

    def __call__(self, *, clock: Clock, wakeups: Wakeups) -> Channel: ...


def channel_maker(name: str) -> ChannelMaker:
    """The class of a channel, loaded now. Raises NotFound naming those there are."""
    if place := CHANNELS.get(name):
        module, _, attribute = place.partition(":")
        return cast(ChannelMaker, getattr(import_module(module), attribute))
    added = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name in added:
        return cast(ChannelMaker, added[name].load())
    there_are = ", ".join(sorted({*CHANNELS, *added}))
    raise NotFound(
        f"There is no channel {name!r}.",
        code=ErrorCode.CHANNEL_UNAVAILABLE,
        suggestion=f"Those there are: {there_are}.",
    )
