"""What people say to Dovecote itself rather than to the agent: `/retry` and `/stop`."""

from datetime import datetime
from typing import Final

from orchestrator.commands.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import InboundMessage, SenderRole, StoredMessage
from orchestrator.contracts.seams import Topic
from orchestrator.core.chat.slash_words import SlashWord
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.core.wording import Say
from orchestrator.store import messages
from orchestrator.store.database import Transaction

HANDLED_WORDS: Final = frozenset({"retry", "stop"})


async def run_operator_word(services: Services, message: InboundMessage, word: SlashWord) -> None:
    """Do what the word says and tell the chat."""
    if word.name == "retry":
        await _retry(services, message)
    else:
        await _stop(services, message)


async def _retry(services: Services, message: InboundMessage) -> None:
    at = services.clock.now()

    def body(tx: Transaction) -> None:
        again = _latest_unfinished(tx, message)
        context = messages.broken_with(tx, again[0]) if again else []
        for each in (*again, *context):
            MESSAGE.check(each.status, MessageEvent.RETRIED)
            messages.give_back(tx, each, tries=0, deaths=0)
        messages.move_cursor(tx, message.chat_jid)
        tx.wake(Topic.MESSAGES)
        what = Say.RETRYING if again else Say.NOTHING_TO_RETRY
        _tell(tx, services, message, what, at)

    await services.db.run(body)


def _latest_unfinished(tx: Transaction, message: InboundMessage) -> list[StoredMessage]:
    """What broke off together last; of a member only what he wrote himself."""
    found = messages.unfinished(tx, message.chat_jid)
    asker = messages.role_of(tx, message.chat_jid, message.message_id)
    if asker is not SenderRole.OPERATOR:
        found = [each for each in found if each.sender_jid == message.sender_jid]
    return [each for each in found if each.turn_id == found[0].turn_id]


async def _stop(services: Services, message: InboundMessage) -> None:
    is_allowed = await services.db.run(lambda tx: _may_stop(tx, message))
    if not is_allowed:
        what = Say.NOT_ALLOWED
    elif await services.control.stop_chat(message.chat_jid):
        what = Say.STOPPED
    else:
        what = Say.NOTHING_TO_STOP
    at = services.clock.now()
    await services.db.run(lambda tx: _tell(tx, services, message, what, at))


def _may_stop(tx: Transaction, message: InboundMessage) -> bool:
    """An operator stops anything; another person what he set off himself."""
    if messages.role_of(tx, message.chat_jid, message.message_id) is SenderRole.OPERATOR:
        return True
    at_work = messages.triggers_at_work(tx, message.chat_jid)
    return all(each.sender_jid == message.sender_jid for each in at_work)


def _tell(tx: Transaction, services: Services, message: InboundMessage, what: Say, at: datetime) -> None:
    chat = Jid(message.chat_jid)
    queue_notice(tx, services, chat=chat, what=what, incident=f"word:{chat}:{message.message_id}", at=at)
