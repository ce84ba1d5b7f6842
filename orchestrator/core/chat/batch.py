"""Which of the waiting messages an agent is given."""

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.contracts.records.messages import StoredMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What a turn starts with. messages: oldest first. omitted: how many were passed over."""

    messages: tuple[StoredMessage, ...]
    omitted: int


def select_batch(unsettled: Sequence[StoredMessage], *, max_count: int, max_bytes: int) -> Batch:
    """The newest messages that fit, oldest first; a trigger is always kept.

    unsettled: one chat, ascending `seq`, no messages of our own, up to and including the last trigger.
    Triggers are kept even where they alone are over the bounds. Source: contracts.md section 6.
    """
    kept: list[StoredMessage] = []
    room, full = max_bytes, False
    for message in reversed(unsettled):
        full = full or len(kept) >= max_count or message.size_bytes > room
        if message.is_trigger or not full:
            kept.append(message)
            room -= message.size_bytes
    return Batch(messages=tuple(reversed(kept)), omitted=len(unsettled) - len(kept))
