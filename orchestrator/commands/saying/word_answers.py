"""What the chat is told of a word to Dovecote: with that it is done. Source: contracts.md section 6."""

from datetime import datetime

from orchestrator.commands.saying.outgoing import queue_notice, queue_text
from orchestrator.commands.services import Services
from orchestrator.contracts.records.messages import TextSource
from orchestrator.contracts.records.words import SpokenWord
from orchestrator.core.chat.splitting import split_text
from orchestrator.core.sentence_keys import Say
from orchestrator.store import waiting_words
from orchestrator.store.transaction import Transaction


def answer_word(
    tx: Transaction, services: Services, spoken: SpokenWord, what: Say, at: datetime, **facts: object
) -> None:
    """Tell the chat a sentence, once a word; it waits no longer."""
    chat, incident = spoken.chat_jid, _incident(spoken)
    queue_notice(tx, services, chat=chat, what=what, incident=incident, at=at, words_of=None, **facts)
    waiting_words.remove(tx, spoken)


def answer_word_at_length(
    tx: Transaction, services: Services, spoken: SpokenWord, text: str, at: datetime
) -> None:
    """As `answer_word`, with a text of our own."""
    queue_text(
        tx,
        chat=spoken.chat_jid,
        parts=split_text(text, services.text_limit(spoken.chat_jid)),
        source=TextSource.NOTICE,
        source_key=_incident(spoken),
        at=at,
    )
    waiting_words.remove(tx, spoken)


def _incident(spoken: SpokenWord) -> str:
    return f"word:{spoken.chat_jid}:{spoken.message_id}"
