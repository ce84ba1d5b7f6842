"""Rows of the spool as lines: what the library handed over, read into words of ours. Used in the child."""

from collections.abc import Callable
from typing import Any, Final

from orchestrator.channels.whatsapp.albums import album_of
from orchestrator.channels.whatsapp.group_news import group_change, group_news, joined_group
from orchestrator.channels.whatsapp.lines import Album, Heard, PassedOver, SamePerson
from orchestrator.channels.whatsapp.media import MessageFile
from orchestrator.channels.whatsapp.translate import (
    Me,
    Skip,
    file_in,
    same_people,
    to_inbound,
    undecryptable,
)

MESSAGE: Final = "Message"
UNDECRYPTABLE: Final = "UndecryptableMessage"
GROUP_NEWS: Final = "GroupInfoEvent"
JOINED: Final = "JoinedGroup"


def row_of(kind: str, raw: bytes) -> bytes:
    """What a row holds: the name of the event's type on a line, then its bytes."""
    return kind.encode("ascii") + b"\n" + raw


def file_of_row(event_of: Callable[[str, bytes], Any], row: bytes) -> MessageFile | None:
    """The file of the message in a row. Raises whatever reading foreign bytes raises."""
    kind, _, raw = row.partition(b"\n")
    return file_in(event_of(MESSAGE, raw)) if kind.decode("ascii") == MESSAGE else None


class RowReader:
    """Reads rows for one account. event_of: makes the protobuf object of a type's name and bytes."""

    def __init__(self, event_of: Callable[[str, bytes], Any], *, me: Me, generation: int) -> None:
        self._event_of = event_of
        self._me = me
        self._generation = generation

    def line(self, name: str, row: bytes) -> Heard | PassedOver:
        """What the row says. Raises whatever reading foreign bytes raises."""
        kind, _, raw = row.partition(b"\n")
        event = self._event_of(kind.decode("ascii"), raw)
        if kind.decode("ascii") == GROUP_NEWS:
            return self._news_line(name, event)
        if kind.decode("ascii") == JOINED:
            return self._joined_line(name, event)
        read = undecryptable if kind.decode("ascii") == UNDECRYPTABLE else to_inbound
        found = read(event, self._me)
        if isinstance(found, Skip):
            return self._passed_over(found)
        same = tuple(SamePerson(lid=lid, phone=phone) for lid, phone in same_people(event.Info))
        return Heard(
            generation=self._generation, spool=name, message=found, same=same, album=self._album(kind, event)
        )

    def _album(self, kind: bytes, event: Any) -> Album | None:
        return album_of(event) if kind.decode("ascii") == MESSAGE else None

    def _news_line(self, name: str, event: Any) -> Heard | PassedOver:
        found = group_news(event, self._me)
        if isinstance(found, Skip):
            return self._passed_over(found)
        change = group_change(event, self._me)
        return Heard(generation=self._generation, spool=name, message=found, group=change)

    def _joined_line(self, name: str, event: Any) -> Heard | PassedOver:
        found = joined_group(event)
        if isinstance(found, Skip):
            return self._passed_over(found)
        change, same = found
        return Heard(generation=self._generation, spool=name, group=change, same=same)

    def _passed_over(self, skip: Skip) -> PassedOver:
        return PassedOver(generation=self._generation, reason=skip.reason, chat=skip.chat)
