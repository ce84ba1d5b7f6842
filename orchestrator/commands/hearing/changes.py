"""Messages that their senders edit, take back or send once more. Source: contracts.md section 6."""

from dataclasses import replace
from datetime import datetime

import structlog

from orchestrator.commands.contacts import with_known_names, with_own_quote
from orchestrator.commands.hearing.judging import hear
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import (
    Change,
    ChangeKind,
    InboundMessage,
    MessageStatus,
    Quoted,
    SenderRole,
    StoredMessage,
)
from orchestrator.contracts.records.senders import SenderLook
from orchestrator.contracts.seams import Topic
from orchestrator.core.chat.changes import edit_note, edit_outcome
from orchestrator.core.chat.mentions import with_our_name
from orchestrator.core.chat.senders import is_same_person
from orchestrator.core.chat.trigger import wakes
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.store import contacts, groups, message_edits, messages
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)


def take_change(
    tx: Transaction, services: Services, message: InboundMessage, look: SenderLook, at: datetime
) -> InboundMessage | None:
    """Do what a change does to the message that it names; a repetition does nothing to it.

    Where that one was never heard, an edit is returned as the message itself, and a repetition as one of
    its own. Somebody else's message is not changed, but for an admin who takes it back; who repeats it says
    something of his own.
    """
    change = message.change
    assert change is not None
    group = groups.by_jid(tx, message.chat_jid)
    if group is None:
        return None
    versions = message_edits.versions(tx, message.chat_jid, change.message_id)
    if not versions:
        return _unheard(message, change)
    if not _may_change(tx, message, change, versions[0]):
        _log.warning("message.foreign_change", chat=message.chat_jid, kind=change.kind.value)
        return _unheard(message, change) if change.kind is ChangeKind.REPETITION else None
    if change.kind is ChangeKind.REVOCATION:
        _revoke(tx, versions)
    elif change.kind is ChangeKind.REPETITION:
        _log.info("message.repeated", chat=message.chat_jid, seq=versions[0].seq)
    else:
        _edit(tx, services, group, message, versions, look, at)
    return None


def _unheard(message: InboundMessage, change: Change) -> InboundMessage | None:
    """What a change says by itself, without the message that it names."""
    match change.kind:
        case ChangeKind.EDIT:
            return replace(message, message_id=change.message_id, change=None)
        case ChangeKind.REPETITION:
            return replace(message, change=None)  # under its own id: the first may still come, with its words
        case ChangeKind.REVOCATION:
            return None


def _may_change(tx: Transaction, message: InboundMessage, change: Change, earlier: StoredMessage) -> bool:
    if change.kind is ChangeKind.REVOCATION and change.by_admin:
        return True
    return is_same_person(contacts.ids_of(tx, message.sender_jid), earlier.sender_jid)


def _revoke(tx: Transaction, versions: list[StoredMessage]) -> None:
    """What waits is dropped, and its text with it; what an agent was given can't be taken from it."""
    chat = versions[0].chat_jid
    pending = [each.seq for each in versions if each.status is MessageStatus.PENDING]
    skipped = MESSAGE.after(MessageStatus.PENDING, MessageEvent.PASSED_OVER)
    messages.move(tx, pending, was=MessageStatus.PENDING, now=skipped)
    for seq in pending:
        message_edits.replace_text(tx, seq, text="", is_trigger=False)
    messages.move_cursor(tx, chat)
    tx.wake(Topic.WORK)
    _log.info("message.revoked", chat=chat, seq=versions[0].seq, dropped=len(pending))


def _edit(
    tx: Transaction,
    services: Services,
    group: Group,
    message: InboundMessage,
    versions: list[StoredMessage],
    look: SenderLook,
    at: datetime,
) -> None:
    earlier = versions[-1]
    quoted = message.quoted or versions[0].quoted
    said = with_our_name(with_own_quote(tx, replace(message, quoted=quoted)), group.assistant_name)
    if earlier.text == said.text or any(each.message_id == message.message_id for each in versions):
        return  # met again
    heard = hear(tx, services, group, said, look, at)
    if heard is None:
        return
    # The bounds have counted what waits as a trigger: its edit is none more.
    is_counted = earlier.is_trigger and earlier.status is MessageStatus.PENDING
    does_wake = wakes(group, said.text, quoted=said.quoted) if is_counted else heard.is_trigger
    outcome = edit_outcome(earlier, wakes=does_wake and not heard.is_word, edited_at=message.sent_at)
    said = with_known_names(tx, group, said)
    if outcome.is_note:
        _add_note(tx, said, versions, role=heard.role, is_trigger=outcome.is_trigger, at=at)
    else:
        message_edits.replace_text(tx, earlier.seq, text=said.text, is_trigger=outcome.is_trigger)
    tx.wake(Topic.WORK)
    _log.info(
        "message.edited", chat=group.jid, seq=earlier.seq, note=outcome.is_note, trigger=outcome.is_trigger
    )


def _add_note(
    tx: Transaction,
    said: InboundMessage,
    versions: list[StoredMessage],
    *,
    role: SenderRole,
    is_trigger: bool,
    at: datetime,
) -> None:
    first, latest = versions[0], versions[-1]
    quoted = Quoted(message_id=first.message_id, sender_name=first.sender_name, text=latest.text)
    note = replace(said, text=edit_note(said.text), quoted=quoted, files=(), attachments=())
    seq = messages.add(tx, note, role=role, is_trigger=is_trigger, status=MESSAGE.start, at=at)
    if seq is not None:
        message_edits.mark_edit(tx, seq, of=MessageId(first.message_id))
