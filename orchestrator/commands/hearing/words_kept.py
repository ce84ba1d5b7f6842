"""Words to Dovecote that are stored are done, whatever happens in between. Source: contracts.md section 6."""

from dataclasses import replace
from datetime import datetime
from typing import Final

import structlog

from orchestrator.commands.hearing.words import is_by_operator, may_stop, run_word
from orchestrator.commands.running.burial import bury
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.saying.word_answers import answer_word, refuse_word
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.records.agents import Agent, DeathCause, EndReason
from orchestrator.contracts.records.words import SpokenWord
from orchestrator.core.sentence_keys import Say
from orchestrator.store import waiting_words
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
_STOP: Final = "stop"


async def do_word(services: Services, word: SpokenWord) -> None:
    """Do it, unless it is done or being done. What the store cannot take now is done when it can."""
    if word.seq in services.words_in_hand:
        return
    services.words_in_hand.add(word.seq)
    try:
        if await services.db.run(lambda tx: waiting_words.is_waiting(tx, word)):
            await run_word(services, word)
    except Unavailable as error:
        _log.warning("word.waits", seq=word.seq, chat=word.chat_jid, word=word.name, error=error.message)
    except Exception:  # whatever it is, it would meet every start again
        _log.exception("word.failed", seq=word.seq, chat=word.chat_jid, word=word.name)
        at = services.clock.now()
        await services.db.run(lambda tx: refuse_word(tx, services, word, Say.WORD_FAILED, at))
    finally:
        services.words_in_hand.discard(word.seq)


async def do_left_words(services: Services) -> None:
    """Do the words that wait: after a start those of an earlier process. Raises Unavailable."""
    for word in await services.db.run(waiting_words.waiting):
        await do_word(services, word)


def bury_left(tx: Transaction, services: Services, agent: Agent, remains: Remains, *, at: datetime) -> None:
    """Settle what an agent of an earlier process left; what people had told to stop does not run again."""
    stops = [word for word in waiting_words.waiting(tx) if _stops(tx, word, agent)]
    if stops:
        remains = replace(remains, cause=DeathCause.STOPPED, reason=EndReason.STOPPED)
    bury(tx, services, agent.agent_id, remains, at=at)
    for word in stops:
        answer_word(tx, services, word, Say.STOPPED, at)


def is_to_be_stopped(tx: Transaction, agent: Agent) -> bool:
    """Whether people told it to stop, and nobody has done that yet."""
    return any(_stops(tx, word, agent) for word in waiting_words.waiting(tx))


def _stops(tx: Transaction, word: SpokenWord, agent: Agent) -> bool:
    """Whether it would have stopped the agent: a member's stops no task."""
    if word.name != _STOP or word.chat_jid != agent.chat_jid:
        return False
    return is_by_operator(tx, word) or (agent.task_run_id is None and may_stop(tx, word))
