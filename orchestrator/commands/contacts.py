"""Who is who: ids that are one person, the chat that both lead to, and the names in a text."""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid, is_network_id
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.core.chat.identities import chat_of
from orchestrator.core.chat.mentions import numbers_called, with_names
from orchestrator.store import chats, contacts, groups, outbox
from orchestrator.store.database import Transaction

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


def people_called(tx: Transaction, text: str) -> tuple[Jid, ...]:
    """Whom a text of ours calls by the number of an id that they wrote under."""
    return tuple(jid for number in numbers_called(text) for jid in contacts.with_number(tx, number))


def with_own_quote(tx: Transaction, message: InboundMessage) -> InboundMessage:
    """The message, whose quote is ours if its id is one of a text that we sent."""
    quoted = message.quoted
    if quoted is None or quoted.is_ours or not outbox.is_ours(tx, message.chat_jid, quoted.message_id):
        return message
    return replace(message, quoted=replace(quoted, is_ours=True))


def with_known_names(tx: Transaction, group: Group, message: InboundMessage) -> InboundMessage:
    """The message with names where a network gives ids: of its sender, whom it calls, and whom it quotes."""
    people = [message.sender_jid, *(each.jid for each in message.mentions)]
    known = contacts.names(tx, people)
    named = with_names(message, known)
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
