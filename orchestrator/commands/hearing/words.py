"""What people say to Dovecote itself rather than to the agent. Source: contracts.md section 6."""

import re
from datetime import datetime
from typing import Final

from orchestrator.commands.decisions import confirm_proposal, decline_proposal
from orchestrator.commands.hearing.chat_texts import status_text, tasks_text
from orchestrator.commands.saying.questions import answer_question
from orchestrator.commands.saying.word_answers import answer_word, answer_word_at_length, refuse_word
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import InvalidRequest, NotFound
from orchestrator.contracts.ids import AT_TERMINAL
from orchestrator.contracts.records.agents import StopReach
from orchestrator.contracts.records.messages import SenderRole, StoredMessage
from orchestrator.contracts.records.words import SpokenWord
from orchestrator.contracts.seams import Topic
from orchestrator.core.chat.senders import is_same_person
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.core.wording import say
from orchestrator.store import contacts, groups, messages, proposals, sessions, waiting_words
from orchestrator.store.transaction import Transaction

WORDS_WITHOUT_BOUND: Final = frozenset({"stop", "answer"})
"""What nobody is too noisy to say: it ends work or lets it go on."""
_WORDS_OF_ALL: Final = frozenset({"stop", "retry", "help"})
"""What everybody may say who may trigger; the rest is the operators'."""
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_MOST_NUMBERS: Final = 20
_SAID_OF_A_STOP: Final = {
    StopReach.NOTHING_RAN: Say.NOTHING_TO_STOP,
    StopReach.STOPPED: Say.STOPPED,
    StopReach.SLOW: Say.STOPPING,
}


async def run_word(services: Services, word: SpokenWord) -> None:
    """Do what the word says and tell the chat; it waits no longer in the same step of the store."""
    if word.name == "retry":
        await _retry(services, word)
    elif word.name == "stop":
        await _stop(services, word)
    elif word.name == "new":
        await _new(services, word)
    elif word.name == "answer":
        await _answer(services, word)
    elif word.name in ("yes", "no"):
        await _decide(services, word)
    else:
        at = services.clock.now()
        await services.db.run(lambda tx: _show(tx, services, word, at))


async def _answer(services: Services, word: SpokenWord) -> None:
    """The answer is in the store before the agent hears it."""
    at = services.clock.now()
    agent_id = await services.db.run(lambda tx: answer_question(tx, services, word, at=at))
    services.checkpoints.reached("answer.committed")
    if agent_id is not None:
        await services.control.hand_over_answers(agent_id)


async def _decide(services: Services, word: SpokenWord) -> None:
    """Yes or no to the wish of an agent. What comes of it is told with the deed."""
    at = services.clock.now()
    if not await services.db.run(lambda tx: _may_decide(tx, services, word, at)):
        return
    decide = confirm_proposal if word.name == "yes" else decline_proposal
    number = int(word.argument)
    try:
        await decide(services, OperatorCaller(), number, then=lambda tx: waiting_words.remove(tx, word))
    except (NotFound, InvalidRequest):  # it was decided before, or there never was one
        what = Say.PROPOSAL_NOT_OPEN
        await services.db.run(lambda tx: answer_word(tx, services, word, what, at, number=number))


def _may_decide(tx: Transaction, services: Services, word: SpokenWord, at: datetime) -> bool:
    """Only an operator in the main chat, where the question stands, and only by a number; else say so."""
    group = groups.by_jid(tx, word.chat_jid)
    if group is None or not is_by_operator(tx, word):
        _refuse_to_others(tx, services, word, at)
        return False
    if not group.is_main:
        refuse_word(tx, services, word, Say.ONLY_IN_MAIN_CHAT, at, word=word.name)
        return False
    if _NUMBER.fullmatch(word.argument):
        return True
    waiting = [each.number for each in proposals.all_open(tx)]
    if not waiting:
        answer_word(tx, services, word, Say.PROPOSALS_NONE, at)
        return False
    numbers = ", ".join(str(number) for number in waiting[:_MOST_NUMBERS])
    facts: dict[str, object] = {"word": word.name, "number": waiting[0], "numbers": numbers}
    answer_word(tx, services, word, Say.PROPOSAL_WHICH, at, **facts)
    return False


async def _new(services: Services, word: SpokenWord) -> None:
    """The agent that lives may finish its turn; what it says of its session counts no longer."""
    at = services.clock.now()

    def body(tx: Transaction) -> bool:
        group = groups.by_jid(tx, word.chat_jid)
        if group is None or not is_by_operator(tx, word):
            _refuse_to_others(tx, services, word, at)
            return False
        sessions.drop(tx, group.folder, at=at)
        answer_word(tx, services, word, Say.NEW_CONVERSATION, at)
        return True

    if await services.db.run(body):
        await services.control.close_chat(word.chat_jid)


def _show(tx: Transaction, services: Services, word: SpokenWord, at: datetime) -> None:
    """Answer a word that changes nothing."""
    group = groups.by_jid(tx, word.chat_jid)
    is_operator = is_by_operator(tx, word)
    if group is None or not (is_operator or word.name in _WORDS_OF_ALL):
        _refuse_to_others(tx, services, word, at)
        return
    if word.name == "help":
        text = say(Say.HELP if is_operator else Say.HELP_FOR_MEMBERS, group.locale)
    elif word.name == "tasks":
        text = tasks_text(tx, group)
    else:
        text = status_text(tx, services, group)
    answer_word_at_length(tx, services, word, text, at)


def _refuse_to_others(tx: Transaction, services: Services, word: SpokenWord, at: datetime) -> None:
    """Say that the word is the operators', and, to who can make himself one, how."""
    what = Say.ONLY_OPERATORS
    if groups.by_jid(tx, word.chat_jid) is None:
        what = Say.NO_GROUP_HERE
    elif word.sender_jid == AT_TERMINAL:
        what = Say.ONLY_OPERATORS_AT_TERMINAL
    facts = {} if what is Say.NO_GROUP_HERE else {"word": word.name}
    refuse_word(tx, services, word, what, at, **facts)


def is_by_operator(tx: Transaction, word: SpokenWord) -> bool:
    """Whether its sender was an operator when he said it."""
    return messages.role_of(tx, word.chat_jid, word.message_id) is SenderRole.OPERATOR


async def _retry(services: Services, word: SpokenWord) -> None:
    at = services.clock.now()

    def body(tx: Transaction) -> None:
        again = _latest_unfinished(tx, word)
        context = messages.broken_with(tx, again[0]) if again else []
        for each in (*again, *context):
            MESSAGE.check(each.status, MessageEvent.RETRIED)
            messages.give_back(tx, each, tries=0, deaths=0)
        messages.move_cursor(tx, word.chat_jid)
        tx.wake(Topic.WORK)
        what = Say.RETRYING if again else Say.NOTHING_TO_RETRY
        answer_word(tx, services, word, what, at)

    await services.db.run(body)


def _latest_unfinished(tx: Transaction, word: SpokenWord) -> list[StoredMessage]:
    """What broke off together last; of a member only what he wrote himself."""
    found = messages.unfinished(tx, word.chat_jid)
    if not is_by_operator(tx, word):
        sender = contacts.ids_of(tx, word.sender_jid)
        found = [each for each in found if is_same_person(sender, each.sender_jid)]
    return [each for each in found if each.turn_id == found[0].turn_id]


async def _stop(services: Services, word: SpokenWord) -> None:
    """An operator stops all that works in the chat; a member what answers him, and no task."""
    is_operator, is_allowed = await services.db.run(lambda tx: (is_by_operator(tx, word), may_stop(tx, word)))
    if not is_allowed:
        at = services.clock.now()
        await services.db.run(lambda tx: refuse_word(tx, services, word, Say.NOT_YOURS_TO_STOP, at))
        return
    if is_operator:
        what = _SAID_OF_A_STOP[await services.control.stop_chat(word.chat_jid)]
    else:
        what = _SAID_OF_A_STOP[await services.control.stop_answer(word.chat_jid)]
    at = services.clock.now()
    await services.db.run(lambda tx: answer_word(tx, services, word, what, at))


def may_stop(tx: Transaction, word: SpokenWord) -> bool:
    """An operator stops anything; another person what he set off himself."""
    if is_by_operator(tx, word):
        return True
    sender = contacts.ids_of(tx, word.sender_jid)
    at_work = messages.triggers_at_work(tx, word.chat_jid)
    return all(is_same_person(sender, each.sender_jid) for each in at_work)
