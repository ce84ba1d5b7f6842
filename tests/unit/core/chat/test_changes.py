"""What becomes of a message that is edited. Source: contracts.md section 6."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import MessageStatus, SenderRole, StoredMessage
from orchestrator.core.chat.changes import EditOutcome, edit_outcome
from tests.support.store_rows import NOON

S = MessageStatus
IN_TIME, LATE = timedelta(minutes=15), timedelta(minutes=15, milliseconds=1)
REPLACED, REPLACED_TRIGGER = (
    EditOutcome(is_note=False, is_trigger=False),
    EditOutcome(is_note=False, is_trigger=True),
)
NOTE, NOTE_TRIGGER = EditOutcome(is_note=True, is_trigger=False), EditOutcome(is_note=True, is_trigger=True)


def stored(status: MessageStatus, *, is_trigger: bool) -> StoredMessage:
    return StoredMessage(
        seq=1,
        chat_jid=Jid("1@g.us"),
        message_id=MessageId("m-1"),
        sender_jid=Jid("49170@s.whatsapp.net"),
        sender_name="Ann",
        sender_role=SenderRole.MEMBER,
        text="hello",
        sent_at=NOON,
        status=status,
        is_trigger=is_trigger,
    )


@pytest.mark.parametrize(
    ("status", "was_trigger", "wakes", "after", "expected"),
    [
        (S.PENDING, False, False, IN_TIME, REPLACED),
        (S.PENDING, False, True, IN_TIME, REPLACED_TRIGGER),
        (S.PENDING, False, True, LATE, REPLACED),
        (S.PENDING, True, True, IN_TIME, REPLACED_TRIGGER),
        (S.PENDING, True, True, LATE, REPLACED_TRIGGER),
        (S.PENDING, True, False, IN_TIME, REPLACED),
        (S.DISPATCHED, True, True, IN_TIME, NOTE_TRIGGER),
        (S.DISPATCHED, True, True, LATE, NOTE_TRIGGER),
        (S.DISPATCHED, True, False, IN_TIME, NOTE),
        (S.DISPATCHED, False, True, IN_TIME, NOTE_TRIGGER),
        (S.DISPATCHED, False, True, LATE, NOTE),
        (S.SKIPPED, False, True, IN_TIME, NOTE_TRIGGER),
        (S.SKIPPED, False, True, LATE, NOTE),
        (S.SKIPPED, False, False, IN_TIME, NOTE),
        (S.SETTLED, True, True, IN_TIME, NOTE),
        (S.SETTLED, False, True, IN_TIME, NOTE_TRIGGER),
        (S.PARTIAL, True, True, IN_TIME, NOTE),
        (S.FAILED, True, True, IN_TIME, NOTE),
    ],
)
def test_what_an_edit_does(
    status: MessageStatus, was_trigger: bool, wakes: bool, after: timedelta, expected: EditOutcome
) -> None:
    earlier = stored(status, is_trigger=was_trigger)

    assert edit_outcome(earlier, wakes=wakes, edited_at=NOON + after) == expected


@given(st.sampled_from(MessageStatus), st.booleans(), st.timedeltas(timedelta(), timedelta(days=2)))
def test_an_edit_that_calls_nobody_never_triggers(
    status: MessageStatus, was_trigger: bool, after: timedelta
) -> None:
    earlier = stored(status, is_trigger=was_trigger)

    assert not edit_outcome(earlier, wakes=False, edited_at=NOON + after).is_trigger


@given(st.sampled_from([S.SETTLED, S.PARTIAL, S.FAILED]), st.timedeltas(timedelta(), timedelta(days=2)))
def test_what_was_tried_already_is_never_triggered_again(status: MessageStatus, after: timedelta) -> None:
    earlier = stored(status, is_trigger=True)

    assert edit_outcome(earlier, wakes=True, edited_at=NOON + after) == NOTE
