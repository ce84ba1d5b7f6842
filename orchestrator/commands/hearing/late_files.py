"""Files that come after their message was stored: it gets them while it waits, else a note brings them."""

from dataclasses import replace
from datetime import datetime

import structlog

from orchestrator.commands.contacts import with_known_names, with_own_quote
from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import InboundMessage, Quoted
from orchestrator.contracts.seams import Topic
from orchestrator.core.chat.late_files import is_replaceable, is_taken_back, late_file_id, late_file_note
from orchestrator.core.chat.mentions import with_our_name
from orchestrator.core.states.message import MESSAGE
from orchestrator.store import message_edits, messages
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)


def take_late_files(tx: Transaction, group: Group, message: InboundMessage, at: datetime) -> None:
    """Give a message that is known the files that it comes with now, if it has none yet."""
    if not any(each.path is not None for each in message.attachments):
        return
    versions = message_edits.versions(tx, message.chat_jid, message.message_id)
    stored = versions[0]
    if is_taken_back(stored) or any(each.path is not None for each in stored.attachments):
        return
    said = with_known_names(tx, group, with_our_name(with_own_quote(tx, message), group.assistant_name))
    is_replaced = len(versions) == 1 and is_replaceable(stored)
    if is_replaced:
        message_edits.give_files(tx, stored.seq, text=said.text, attachments=said.attachments)
    else:
        quoted = Quoted(message_id=stored.message_id, sender_name=stored.sender_name, text=stored.text)
        note = replace(
            said, message_id=late_file_id(stored.message_id), text=late_file_note(said.text), quoted=quoted
        )
        seq = messages.add(
            tx, note, role=stored.sender_role, is_trigger=stored.is_trigger, status=MESSAGE.start, at=at
        )
        if seq is not None:
            message_edits.mark_edit(tx, seq, of=MessageId(stored.message_id))
    tx.wake(Topic.WORK)
    _log.info("message.files_came", chat=group.jid, seq=stored.seq, note=not is_replaced)
