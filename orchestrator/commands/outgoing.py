"""How a text gets into the outbox: cleaned, split, keyed. Used by every command that says something."""

from datetime import datetime

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, Jid, MessageId, TurnId
from orchestrator.contracts.records.messages import TextSource
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.framing import MAX_TEXT_BYTES
from orchestrator.core.chat.splitting import split_text
from orchestrator.core.chat.transcript import strip_internal
from orchestrator.core.text_cleaning import cap_text, clean_text
from orchestrator.core.wording import Say, say
from orchestrator.store import groups, outbox
from orchestrator.store.database import Transaction


def presentable(text: str) -> str:
    """A text of an agent as people may see it: cleaned, without internal spans, capped; may be empty."""
    # Cleaned first: a control character inside a tag must not hide it from the stripping.
    return cap_text(strip_internal(clean_text(text)), MAX_TEXT_BYTES).strip()


def queue_text(
    tx: Transaction,
    services: Services,
    *,
    chat: Jid,
    text: str,
    source: TextSource,
    source_key: str,
    at: datetime,
    agent_id: AgentId | None = None,
    turn_id: TurnId | None = None,
    reply_to: MessageId | None = None,
) -> bool:
    """Put a presentable text into the outbox; False if it is empty or was put there before."""
    if not text:
        return False
    ids = outbox.add(
        tx,
        chat_jid=chat,
        parts=split_text(text, services.text_limit(chat)),
        source=source,
        source_key=source_key,
        at=at,
        agent_id=agent_id,
        turn_id=turn_id,
        reply_to=reply_to,
    )
    tx.wake(Topic.OUTBOX)
    return bool(ids)


def queue_notice(
    tx: Transaction, services: Services, *, chat: Jid, what: Say, incident: str, at: datetime, **facts: object
) -> bool:
    """Tell a chat a sentence of our own, once an incident."""
    group = groups.by_jid(tx, chat)
    locale = group.locale if group is not None else services.settings.assistant.locale
    return queue_text(
        tx,
        services,
        chat=chat,
        text=say(what, locale, **facts),
        source=TextSource.NOTICE,
        source_key=incident,
        at=at,
    )
