"""Rows of the spool as lines: what the library handed over, read into words of ours. Used in the child."""

from collections.abc import Callable
from typing import Any, Final

from orchestrator.channels.whatsapp.lines import Heard, PassedOver, SamePerson
from orchestrator.channels.whatsapp.translate import Me, Skip, same_people, to_inbound, undecryptable

MESSAGE: Final = "Message"
UNDECRYPTABLE: Final = "UndecryptableMessage"


def row_of(kind: str, raw: bytes) -> bytes:
    """What a row holds: the name of the event's type on a line, then its bytes."""
    return kind.encode("ascii") + b"\n" + raw


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
        read = undecryptable if kind.decode("ascii") == UNDECRYPTABLE else to_inbound
        found = read(event, self._me)
        if isinstance(found, Skip):
            return PassedOver(generation=self._generation, reason=found.reason, chat=found.chat)
        same = tuple(SamePerson(lid=lid, phone=phone) for lid, phone in same_people(event.Info))
        return Heard(generation=self._generation, spool=name, message=found, same=same)
