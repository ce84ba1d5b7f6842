"""Photos and films that were sent together: one message each, after one that says how many there are."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from orchestrator.channels.whatsapp.content import content_of
from orchestrator.channels.whatsapp.lines import Album, Heard
from orchestrator.channels.whatsapp.mending import mended
from orchestrator.channels.whatsapp.ties import ALBUM, parent_of
from orchestrator.channels.whatsapp.unwrapping import unwrap
from orchestrator.contracts.ids import MessageId

_MOST: Final = 32
"""WhatsApp lets people choose 30 at once or so; what claims to be more is not waited for."""


def album_of(event: Any) -> Album | None:
    """Which album a `neonize` message event belongs to, and as what; None if to none."""
    event = mended(event)
    outer = event.Message if event.HasField("Message") else event.Raw
    message = unwrap(outer)
    if message.HasField("albumMessage"):
        said = message.albumMessage
        expected = min(said.expectedImageCount + said.expectedVideoCount, _MOST)
        return Album(id=MessageId(event.Info.ID), expected=expected)
    parent = parent_of(event, ALBUM)
    if parent is None:
        return None
    content = content_of(message)
    has_words = content is not None and content.file is not None and bool(content.file.caption)
    return Album(id=parent, has_words=has_words)


def count_of(album: Album, heard: Iterable[Heard]) -> int:
    """How many of the album are there."""
    return sum(_is_of(album, each) for each in heard)


def is_followed(album: Album, heard: Iterable[Heard]) -> bool:
    """Whether another album begins among these."""
    return any(each.album is not None and each.album.expected and each.album.id != album.id for each in heard)


def album_first(album: Album, heard: Sequence[Heard]) -> list[Heard]:
    """The album before all others, and in it those with words last.

    What calls the assistant brings along what came before it; what comes later has to call it again.
    """
    return sorted(heard, key=lambda each: _place(album, each))


def _place(album: Album, heard: Heard) -> int:
    if heard.album is None or heard.album.id != album.id:
        return 2
    return 1 if heard.album.has_words else 0


def _is_of(album: Album, heard: Heard) -> bool:
    return heard.album is not None and heard.album.id == album.id
