"""Ids of messages that two people gave: on some networks the sender's own program makes them up."""

from dataclasses import replace

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.core.chat.identities import id_beside
from orchestrator.core.chat.senders import are_two_people
from orchestrator.store import contacts, messages
from orchestrator.store.transaction import Transaction


async def with_own_id(services: Services, message: InboundMessage) -> InboundMessage:
    """The message under an id that is nobody else's message's, or about one that is its sender's.

    Whoever takes the id of a message that he saw must neither speak as its sender nor silence him.
    """
    return await services.db.run(lambda tx: _with_own_id(tx, message))


def _with_own_id(tx: Transaction, message: InboundMessage) -> InboundMessage:
    change = message.change
    if change is None:
        own = _own_id(tx, message.chat_jid, message.sender_jid, message.message_id)
        return replace(message, message_id=own)
    if change.by_admin:
        return message
    own = _own_id(tx, message.chat_jid, message.sender_jid, change.message_id)
    if messages.sender_of(tx, message.chat_jid, own) is None:
        return message
    return replace(message, change=replace(change, message_id=own))


def _own_id(tx: Transaction, chat: Jid, sender: Jid, given: MessageId) -> MessageId:
    stored = messages.sender_of(tx, chat, given)
    if stored is None or not are_two_people(contacts.ids_of(tx, sender), contacts.ids_of(tx, stored)):
        return given
    return id_beside(given, sender)
