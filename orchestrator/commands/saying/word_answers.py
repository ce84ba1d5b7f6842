"""What the chat is told of a word to Dovecote: with that it is done. Source: contracts.md section 6."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from orchestrator.commands.saying.outgoing import queue_notice, queue_text
from orchestrator.commands.services import Services
from orchestrator.contracts.records.messages import TextSource
from orchestrator.contracts.records.words import SpokenWord
from orchestrator.core.chat.splitting import split_text
from orchestrator.core.sentence_keys import Say
from orchestrator.store import waiting_words
from orchestrator.store.transaction import Transaction

_ANSWERED: Final = "word:"
REFUSED: Final = "refused-word:"
"""Begins the key of what a chat is told of a word that was not done."""


def answer_word(
    tx: Transaction, services: Services, spoken: SpokenWord, what: Say, at: datetime, **facts: object
) -> None:
    """Tell the chat a sentence, once a word; it waits no longer."""
    _tell(tx, services, spoken, what, at, kind=_ANSWERED, facts=facts)


def refuse_word(
    tx: Transaction, services: Services, spoken: SpokenWord, what: Say, at: datetime, **facts: object
) -> None:
    """As `answer_word`, of a word that is not done: a chat without a terminal ends with an error then."""
    _tell(tx, services, spoken, what, at, kind=REFUSED, facts=facts)


def answer_word_at_length(
    tx: Transaction, services: Services, spoken: SpokenWord, text: str, at: datetime
) -> None:
    """As `answer_word`, with a text of our own."""
    queue_text(
        tx,
        chat=spoken.chat_jid,
        parts=split_text(text, services.text_limit(spoken.chat_jid)),
        source=TextSource.NOTICE,
        source_key=_incident(spoken, _ANSWERED),
        at=at,
    )
    waiting_words.remove(tx, spoken)


def _tell(
    tx: Transaction,
    services: Services,
    spoken: SpokenWord,
    what: Say,
    at: datetime,
    *,
    kind: str,
    facts: Mapping[str, object],
) -> None:
    chat, incident = spoken.chat_jid, _incident(spoken, kind)
    queue_notice(tx, services, chat=chat, what=what, incident=incident, at=at, words_of=None, **facts)
    waiting_words.remove(tx, spoken)


def _incident(spoken: SpokenWord, kind: str) -> str:
    return f"{kind}{spoken.chat_jid}:{spoken.message_id}"
