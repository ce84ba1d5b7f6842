"""A message that a channel hands in: it is checked, told from an echo of our own, judged and stored."""

from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog

from orchestrator.commands.contacts import (
    in_known_chat,
    people_called,
    remember_name,
    with_known_names,
    with_own_quote,
)
from orchestrator.commands.hearing.changes import take_change
from orchestrator.commands.hearing.inbound_files import take_back_unstored, with_attachments
from orchestrator.commands.hearing.judging import hear
from orchestrator.commands.hearing.late_files import take_late_files
from orchestrator.commands.hearing.message_ids import with_own_id
from orchestrator.commands.hearing.sender_rules import look_at_rules
from orchestrator.commands.hearing.transcripts import with_transcripts
from orchestrator.commands.hearing.words_kept import do_word
from orchestrator.commands.running.holds import tell_again
from orchestrator.commands.saying.delivery import text_to_send
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import Caller
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import MAX_NETWORK_ID_BYTES, Jid, MessageId, is_network_id
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import InboundMessage, OutboxItem, OutboxStatus
from orchestrator.contracts.records.senders import SenderLook
from orchestrator.contracts.records.words import SpokenWord
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.framing import MAX_TEXT_BYTES
from orchestrator.core.authority import Target, allow
from orchestrator.core.chat.echoes import reads_alike
from orchestrator.core.chat.mentions import with_ids, with_our_name
from orchestrator.core.chat.senders import is_same_person
from orchestrator.core.chat.slash_words import SlashWord
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.core.text_cleaning import cap_text, clean_name, clean_text
from orchestrator.store import chats, contacts, groups, messages, notices, outbox, waiting_words
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)

REFUSED_INCIDENTS: Final = "message-refused:"
UNREGISTERED_INCIDENTS: Final = "unregistered:"
_ECHO_WAIT_S: Final = 30.0
"""So long an own-number message waits for a text in flight that it may be the echo of."""


async def receive_message(services: Services, inbound: InboundMessage, channel: str) -> None:
    """Take in what a channel heard; it is stored when this returns. Met again it changes nothing.

    A word to Dovecote is stored with it, and done at once if the store goes along, else later.

    Raises InvalidRequest for ids that no network may give: it will never be taken.
    """
    if (refusal := _refusal(inbound)) is not None:
        now = services.clock.now()
        await services.db.run(lambda tx: _warn_refused(tx, inbound, channel, refusal.message, now))
        raise refusal
    message = await with_own_id(services, await in_known_chat(services, _cleaned(inbound)))
    if message.is_from_me and message.change is None and await _is_echo(services, message):
        return
    # In this order: while a program listens nothing lies in a workspace that a stop would leave there.
    message = await with_attachments(services, await with_transcripts(services, message))
    look = await look_at_rules(services, message.chat_jid)
    at = services.clock.now()

    def body(tx: Transaction) -> SpokenWord | None:
        said = message if message.change is None else take_change(tx, services, message, look, at)
        return None if said is None else _store(tx, services, said, channel, look, at)

    word = await services.db.run(body)
    await take_back_unstored(services, message)
    services.checkpoints.reached("inbound.committed")
    if word is not None:
        await do_word(services, word)


def _refusal(message: InboundMessage) -> InvalidRequest | None:
    """Why the message can't be taken, if it can't: people on a network may choose ids of their own."""
    ids = {"message": message.message_id, "chat": message.chat_jid, "sender": message.sender_jid}
    if message.quoted is not None and message.quoted.message_id:
        ids["quoted message"] = message.quoted.message_id
    if message.change is not None:
        ids["changed message"] = message.change.message_id
    for what, each in ids.items():
        if not is_network_id(each):
            return InvalidRequest(
                f"The id of the {what} is {each[:40]!a}, {len(each)} characters long.",
                suggestion=f"It must have 1 to {MAX_NETWORK_ID_BYTES} bytes and no control characters.",
            )
    return None


def _warn_refused(tx: Transaction, message: InboundMessage, channel: str, why: str, at: datetime) -> None:
    """Say it once a chat, and count; a chat whose own id is off counts as its channel."""
    chat = message.chat_jid if is_network_id(message.chat_jid) else channel
    count, _ = notices.count_one(tx, f"{REFUSED_INCIDENTS}{chat}", at=at)
    if count == 1:
        _log.warning("message.refused", chat=chat, channel=channel, why=why)


async def check_posting(services: Services, caller: Caller, chat: Jid) -> None:
    """Return if `caller` may write to `chat` as a person. Raises Forbidden, or NotFound if it is no group."""
    group = await services.db.run(lambda tx: groups.by_jid(tx, chat))
    allow(caller, "post_message", Target(chat_jid=chat, group=None, is_registered=group is not None))


def _store(
    tx: Transaction,
    services: Services,
    message: InboundMessage,
    channel: str,
    look: SenderLook,
    at: datetime,
) -> SpokenWord | None:
    """Store the message unless it is dropped; the word to us that it is and that waits to be done."""
    chats.see(
        tx,
        message.chat_jid,
        channel=channel,
        name=message.chat_name,
        is_group=message.chat_is_group,
        at=at,
    )
    group = groups.by_jid(tx, message.chat_jid)
    if group is None:
        _warn_unregistered(tx, message, channel, at)
        return None
    if outbox.is_ours(tx, message.chat_jid, message.message_id):
        return None
    if messages.role_of(tx, message.chat_jid, message.message_id) is not None:
        return _meet_again(tx, group, message, at)
    message = with_our_name(with_own_quote(tx, message), group.assistant_name)
    heard = hear(tx, services, group, message, look, at)
    if heard is None:
        return None
    message = with_known_names(tx, group, message)
    remember_name(tx, message)
    status = MESSAGE.after(MESSAGE.start, MessageEvent.PASSED_OVER) if heard.is_word else MESSAGE.start
    seq = messages.add(tx, message, role=heard.role, is_trigger=heard.is_trigger, status=status, at=at)
    tx.wake(Topic.WORK)
    if heard.is_trigger:
        tell_again(tx, services, message.chat_jid, at=at)
    chars = len(message.text)
    _log.info("message.stored", chat=message.chat_jid, seq=seq, chars=chars, trigger=heard.is_trigger)
    return None if seq is None or heard.word is None else _spoken(tx, message, heard.word, seq)


def _meet_again(tx: Transaction, group: Group, message: InboundMessage, at: datetime) -> SpokenWord | None:
    """The word that a message is which is stored already; its files may have come only now.

    Only its sender brings it again: by its id alone nobody speaks with another one's rights.
    """
    sender = messages.sender_of(tx, message.chat_jid, message.message_id)
    if sender is None or not is_same_person(contacts.ids_of(tx, message.sender_jid), sender):
        _log.warning("message.foreign_id", chat=message.chat_jid, message_id=message.message_id)
        return None
    take_late_files(tx, group, message, at)
    return waiting_words.of_message(tx, message.chat_jid, message.message_id)


def _spoken(tx: Transaction, message: InboundMessage, word: SlashWord, seq: int) -> SpokenWord:
    spoken = SpokenWord(
        seq=seq,
        chat_jid=message.chat_jid,
        message_id=message.message_id,
        sender_jid=message.sender_jid,
        name=word.name,
        argument=word.argument,
    )
    waiting_words.add(tx, spoken)
    return spoken


def _cleaned(message: InboundMessage) -> InboundMessage:
    quoted = message.quoted
    if quoted is not None:
        quoted = replace(
            quoted,
            text=cap_text(clean_text(quoted.text), MAX_TEXT_BYTES),
            sender_name=clean_name(quoted.sender_name),
        )
    return replace(
        message,
        text=cap_text(clean_text(message.text), MAX_TEXT_BYTES),
        sender_name=clean_name(message.sender_name),
        chat_name=None if message.chat_name is None else clean_name(message.chat_name),
        quoted=quoted,
    )


def _warn_unregistered(tx: Transaction, message: InboundMessage, channel: str, at: datetime) -> None:
    count, _ = notices.count_one(tx, f"{UNREGISTERED_INCIDENTS}{message.chat_jid}", at=at)
    if count == 1:
        _log.warning(
            "chat.not_registered",
            chat=message.chat_jid,
            channel=channel,
            suggestion=f"dovecote group add FOLDER --jid {message.chat_jid}",
        )


async def _is_echo(services: Services, message: InboundMessage) -> bool:
    """Whether an own-number message is a text of ours coming back rather than the owner speaking."""
    listener = services.wakeups.listen(Topic.OUTBOX)
    deadline = services.clock.monotonic() + _ECHO_WAIT_S
    while True:
        verdict = await services.db.run(lambda tx: _match_echo(tx, services, message))
        left_s = deadline - services.clock.monotonic()
        if verdict is not None:
            return verdict
        if left_s <= 0:
            return await services.db.run(lambda tx: _is_alike_in_flight(tx, services, message))
        await listener.wait(at_most_s=min(left_s, 1.0))


def _match_echo(tx: Transaction, services: Services, message: InboundMessage) -> bool | None:
    """True: an echo. False: the owner. None: a text is in flight, so nobody can tell yet."""
    if outbox.is_ours(tx, message.chat_jid, message.message_id):
        return True
    for item in outbox.in_flight_of_chat(tx, message.chat_jid):
        if item.status is OutboxStatus.UNKNOWN and _is_alike(tx, services, item, message):
            outbox.move(
                tx,
                item,
                now=OutboxStatus.SENT,
                at=services.clock.now(),
                channel_message_id=MessageId(message.message_id),
            )
            tx.wake(Topic.OUTBOX)
            return True
        if item.status is OutboxStatus.SENDING:
            return None
    return False


def _is_alike_in_flight(tx: Transaction, services: Services, message: InboundMessage) -> bool:
    """Nobody can tell in time: the very text that is being sent is no word of the owner's."""
    in_flight = outbox.in_flight_of_chat(tx, message.chat_jid)
    return any(_is_alike(tx, services, item, message) for item in in_flight)


def _is_alike(tx: Transaction, services: Services, item: OutboxItem, message: InboundMessage) -> bool:
    """Whether it reads as the text, with what is put around one that is late or sent again.

    It comes back with numbers in the place of the names that it called.
    """
    locale, at = services.settings.assistant.locale, services.clock.now()
    sent = (item.text, text_to_send(services, item, locale=locale, at=at))
    called = people_called(tx, item.chat_jid, item.text)
    is_alike = any(reads_alike(with_ids(each, called), message.text) for each in sent)
    if item.file is not None and not item.text:  # a network says something in the place of no text
        is_alike = item.file.name in {file.name for file in message.files}
    return is_alike and (item.file is not None) == bool(message.files)
