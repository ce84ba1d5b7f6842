"""Who is who: ids that are one person, the chat that both lead to, and the names in a text."""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid, is_network_id
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import InboundMessage, Mention
from orchestrator.contracts.wire.framing import MAX_TEXT_BYTES
from orchestrator.core.chat.identities import chat_of
from orchestrator.core.chat.mentions import numbers_called, people_named, with_names
from orchestrator.core.text_cleaning import cap_text
from orchestrator.store import chats, contacts, groups, members, message_edits, outbox
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)


async def join_contacts(services: Services, pairs: Sequence[tuple[Jid, Jid]]) -> None:
    """Remember which ids are one person, each pair the hidden one and the one with the number.

    A channel calls it before it hands in the message that says so, and with its own account's ids.
    """
    fit = [pair for pair in pairs if all(map(is_network_id, pair))]
    if fit:
        await services.db.run(lambda tx: _join(tx, fit))


def _join(tx: Transaction, pairs: Sequence[tuple[Jid, Jid]]) -> None:
    for lid, phone in pairs:
        before = contacts.other_id(tx, lid)
        contacts.join(tx, lid, phone)
        if before is not None and before != phone:
            _log.warning("contact.moved", lid=lid, was=before, now=phone)


async def in_known_chat(services: Services, message: InboundMessage) -> InboundMessage:
    """The message in the chat that it belongs to: a direct one may come under either id of the person."""
    # Ids without an @ are of networks of ours, where people have one.
    if message.chat_is_group or "@" not in message.chat_jid:
        return message
    chat = await services.db.run(lambda tx: _known_chat(tx, message.chat_jid))
    return replace(message, chat_jid=chat)


def _known_chat(tx: Transaction, given: Jid) -> Jid:
    other = contacts.other_id(tx, given)
    if other is None:
        return given
    both = (given, other)
    registered = [jid for jid in both if groups.is_registered(tx, jid)]
    return chat_of(given, other, registered=registered, seen=[jid for jid in both if chats.is_seen(tx, jid)])


def remember_name(tx: Transaction, message: InboundMessage) -> None:
    """Keep how the sender calls himself; a number that stands in for a name is none."""
    if message.sender_name and message.sender_name != message.sender_jid.partition("@")[0]:
        contacts.call(tx, message.sender_jid, message.sender_name)


def people_called(tx: Transaction, chat: Jid, text: str) -> tuple[Mention, ...]:
    """Whom a text of ours calls: by the number of an id, or by the name of somebody who is in the chat."""
    if "@" not in text:
        return ()
    by_number = [
        Mention(token=f"@{number}", jid=jid)
        for number in numbers_called(text)
        for jid in contacts.with_number(tx, number)
    ]
    there = members.of_chat(tx, chat) or contacts.people_of(tx, chat)
    people = contacts.names(tx, there)
    return (*by_number, *people_named(text, people))


def with_own_quote(tx: Transaction, message: InboundMessage) -> InboundMessage:
    """The message, whose quote is what the store has under its id: a sender can quote what nobody said."""
    quoted = message.quoted
    if quoted is None:
        return message
    ours = outbox.sent_as(tx, message.chat_jid, quoted.message_id)
    if ours is not None:
        own = replace(quoted, is_ours=True, text=ours.text if quoted.text and ours.text else quoted.text)
        return replace(message, quoted=own)
    versions = message_edits.versions(tx, message.chat_jid, quoted.message_id)
    if not versions:
        return message
    # A reaction quotes no words; of an edited message any text counts that it ever had.
    is_true = not quoted.text or any(each.text == quoted.text for each in versions)
    text = quoted.text if is_true else versions[-1].text
    theirs = replace(quoted, is_ours=False, sender_name=versions[0].sender_jid, text=text)
    return replace(message, quoted=theirs)


def with_known_names(tx: Transaction, group: Group, message: InboundMessage) -> InboundMessage:
    """The message with names where a network gives ids: of its sender, whom it calls, and whom it quotes."""
    people = [message.sender_jid, *(each.jid for each in message.mentions)]
    known = contacts.names(tx, people)
    named = with_names(message, known)
    named = replace(named, text=cap_text(named.text, MAX_TEXT_BYTES))  # names are longer than numbers
    if message.sender_name == message.sender_jid.partition("@")[0]:
        named = replace(named, sender_name=known.get(message.sender_jid, message.sender_name))
    quoted = message.quoted
    if quoted is None:
        return named
    if quoted.is_ours:
        return replace(named, quoted=replace(quoted, sender_name=group.assistant_name))
    id_given = Jid(quoted.sender_name)
    name = contacts.names(tx, [id_given]).get(id_given)
    return named if name is None else replace(named, quoted=replace(quoted, sender_name=name))
