"""What people say to Dovecote itself rather than to the agent. Source: contracts.md section 6."""

from datetime import datetime
from typing import Final

from orchestrator.commands.chat_texts import status_text, tasks_text
from orchestrator.commands.outgoing import queue_notice, queue_text
from orchestrator.commands.services import Services
from orchestrator.contracts.records.messages import InboundMessage, SenderRole, StoredMessage, TextSource
from orchestrator.contracts.seams import Topic
from orchestrator.core.chat.slash_words import SlashWord
from orchestrator.core.chat.splitting import split_text
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.core.wording import Say, say
from orchestrator.store import groups, messages, sessions
from orchestrator.store.database import Transaction

HANDLED_WORDS: Final = frozenset({"status", "stop", "new", "tasks", "retry", "help"})
_WORDS_OF_ALL: Final = frozenset({"stop", "retry", "help"})
"""What everybody may say who may trigger; the rest is the operators'."""


async def run_operator_word(services: Services, message: InboundMessage, word: SlashWord) -> None:
    """Do what the word says and tell the chat."""
    if word.name == "retry":
        await _retry(services, message)
    elif word.name == "stop":
        await _stop(services, message)
    elif word.name == "new":
        await _new(services, message)
    else:
        at = services.clock.now()
        await services.db.run(lambda tx: _show(tx, services, message, word, at))


async def _new(services: Services, message: InboundMessage) -> None:
    """The agent that lives may finish its turn; what it says of its session counts no longer."""
    at = services.clock.now()

    def body(tx: Transaction) -> bool:
        group = groups.by_jid(tx, message.chat_jid)
        if group is None or not _is_operator(tx, message):
            _tell(tx, services, message, Say.NOT_ALLOWED, at)
            return False
        sessions.drop(tx, group.folder, services.settings.agent.driver, at=at)
        _tell(tx, services, message, Say.NEW_CONVERSATION, at)
        return True

    if await services.db.run(body):
        await services.control.close_chat(message.chat_jid)


def _show(
    tx: Transaction, services: Services, message: InboundMessage, word: SlashWord, at: datetime
) -> None:
    """Answer a word that changes nothing."""
    group = groups.by_jid(tx, message.chat_jid)
    is_operator = _is_operator(tx, message)
    if group is None or not (is_operator or word.name in _WORDS_OF_ALL):
        _tell(tx, services, message, Say.NOT_ALLOWED, at)
        return
    if word.name == "help":
        text = say(Say.HELP if is_operator else Say.HELP_FOR_MEMBERS, group.locale)
    elif word.name == "tasks":
        text = tasks_text(tx, group)
    else:
        text = status_text(tx, group)
    queue_text(
        tx,
        chat=group.jid,
        parts=split_text(text, services.text_limit(group.jid)),
        source=TextSource.NOTICE,
        source_key=_incident(message),
        at=at,
    )


def _is_operator(tx: Transaction, message: InboundMessage) -> bool:
    return messages.role_of(tx, message.chat_jid, message.message_id) is SenderRole.OPERATOR


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
    if not _is_operator(tx, message):
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
    if _is_operator(tx, message):
        return True
    at_work = messages.triggers_at_work(tx, message.chat_jid)
    return all(each.sender_jid == message.sender_jid for each in at_work)


def _tell(tx: Transaction, services: Services, message: InboundMessage, what: Say, at: datetime) -> None:
    queue_notice(tx, services, chat=message.chat_jid, what=what, incident=_incident(message), at=at)


def _incident(message: InboundMessage) -> str:
    return f"word:{message.chat_jid}:{message.message_id}"
