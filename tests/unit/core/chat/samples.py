"""Records with everything that a test does not care about filled in."""

from datetime import UTC, datetime

from orchestrator.contracts.ids import GroupFolder, Jid, MessageId
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import MessageStatus, SenderRole, StoredMessage

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def stored(seq: int = 1, text: str = "hello", *, is_trigger: bool = False) -> StoredMessage:
    """A waiting message of a member."""
    return StoredMessage(
        seq=seq,
        chat_jid=Jid("1203@g.us"),
        message_id=MessageId(f"id-{seq}"),
        sender_jid=Jid("49170@s.whatsapp.net"),
        sender_name="Ann",
        sender_role=SenderRole.MEMBER,
        text=text,
        sent_at=NOON,
        status=MessageStatus.PENDING,
        is_trigger=is_trigger,
    )


def group() -> Group:
    """A group that answers to @Andy."""
    return Group(
        folder=GroupFolder("family"),
        jid=Jid("1203@g.us"),
        name="Family",
        trigger="@Andy",
        assistant_name="Andy",
        added_at=NOON,
        number=1,
    )
