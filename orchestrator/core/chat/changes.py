"""What becomes of a message that its sender edits later. Source: contracts.md section 6."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from orchestrator.contracts.records.messages import MessageStatus, StoredMessage

MAY_TRIGGER_FOR: Final = timedelta(minutes=15)
_EDITED: Final = "[Edit of the quoted message]"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOutcome:
    """What an edit does. is_note: the new text is a message of its own; else it takes the old one's place."""

    is_note: bool
    is_trigger: bool


def edit_outcome(earlier: StoredMessage, *, wakes: bool, edited_at: datetime) -> EditOutcome:
    """What waits is replaced; what an agent was given is followed by a note.

    earlier: as it says now. wakes: whether the new text calls the assistant. A trigger that an edit adds
    counts within 15 minutes of the message; one that was answered already does not count twice.
    """
    in_time = edited_at - earlier.sent_at <= MAY_TRIGGER_FOR
    if earlier.status is MessageStatus.PENDING:
        return EditOutcome(is_note=False, is_trigger=wakes and (earlier.is_trigger or in_time))
    is_at_work = earlier.status is MessageStatus.DISPATCHED
    counts = in_time and not earlier.is_trigger
    return EditOutcome(is_note=True, is_trigger=wakes and (counts or (is_at_work and earlier.is_trigger)))


def edit_note(text: str) -> str:
    """How a note begins, which quotes the earlier text."""
    return f"{_EDITED}\n{text}"
