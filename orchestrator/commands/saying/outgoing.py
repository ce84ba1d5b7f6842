"""How a text gets into the outbox: cleaned, split, keyed. Used by every command that says something."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NotRequired, TypedDict, Unpack

from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, Jid, MessageId, TurnId
from orchestrator.contracts.records.messages import TextSource
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.framing import MAX_TEXT_BYTES
from orchestrator.core.chat.attachments import OutboxPart
from orchestrator.core.chat.splitting import split_text
from orchestrator.core.chat.transcript import strip_internal
from orchestrator.core.sentence_keys import Say
from orchestrator.core.text_cleaning import cap_text, clean_text
from orchestrator.core.wording import say
from orchestrator.store import groups, outbox, outbox_files
from orchestrator.store.transaction import Transaction

_LONG_CHARS: Final = 4_096
"""From here on the work on a text is worth a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingText:
    """A text as people may see it. parts: as its chat's channel takes them; none of an empty one."""

    text: str
    parts: tuple[str, ...]


def presentable(text: str) -> str:
    """A text of an agent as people may see it: cleaned, without internal spans, capped; may be empty."""
    # Capped first: a request may hold a MiB. Cleaned before the stripping: a control character inside a
    # tag must not hide it. Capped once more: a replaced half of a surrogate pair is longer than it was.
    cleaned = clean_text(cap_text(text, MAX_TEXT_BYTES))
    return cap_text(strip_internal(cleaned), MAX_TEXT_BYTES).strip()


def outgoing_text(text: str, limit: int, *, prefix: str = "") -> OutgoingText:
    """An agent's text made presentable and cut. prefix: stands before a text that is not empty."""
    shown = presentable(text)
    shown = prefix + shown if shown else ""
    return OutgoingText(text=shown, parts=tuple(split_text(shown, limit)))


async def prepare_text(services: Services, chat: Jid, text: str, *, prefix: str = "") -> OutgoingText:
    """As `outgoing_text`, by the limit of the chat's channel.

    It is work of up to a tenth of a second, and an agent chooses how much: it is done before the store's
    thread is asked for anything, since all chats wait for that one, and not in the loop's.
    """
    limit = services.text_limit(chat)
    if len(text) < _LONG_CHARS:
        return outgoing_text(text, limit, prefix=prefix)
    return await asyncio.to_thread(outgoing_text, text, limit, prefix=prefix)


class Origin(TypedDict):
    """Where messages come from and where they go. source_key: met with it again they are put there once."""

    chat: Jid
    source: TextSource
    source_key: str
    at: datetime
    agent_id: NotRequired[AgentId | None]
    turn_id: NotRequired[TurnId | None]
    reply_to: NotRequired[MessageId | None]


def queue_text(tx: Transaction, parts: Sequence[str], **origin: Unpack[Origin]) -> bool:
    """Put a text into the outbox; False if it has no parts or was put there before."""
    return queue_parts(tx, [OutboxPart(text=text) for text in parts], **origin)


def queue_parts(tx: Transaction, parts: Sequence[OutboxPart], **origin: Unpack[Origin]) -> bool:
    """Put messages of one origin into the outbox; False if there are none or they were put there before."""
    if not parts:
        return False
    ids = outbox.add(tx, **_texts(parts, origin))
    if ids:
        for outbox_id, part in zip(ids, parts, strict=True):
            if part.file is not None:
                outbox_files.attach(tx, outbox_id, part.file)
    tx.wake(Topic.OUTBOX)
    return bool(ids)


def queue_parts_later(tx: Transaction, parts: Sequence[OutboxPart], **origin: Unpack[Origin]) -> None:
    """As `queue_parts`, where many are queued in one transaction and nobody asks whether it was new."""
    if any(part.file is not None for part in parts):
        queue_parts(tx, parts, **origin)
        return
    outbox.add_later(tx, **_texts(parts, origin))
    tx.wake(Topic.OUTBOX)


def _texts(parts: Sequence[OutboxPart], origin: Origin) -> outbox.NewTexts:
    return {
        "chat_jid": origin["chat"],
        "parts": [part.text for part in parts],
        "source": origin["source"],
        "source_key": origin["source_key"],
        "at": origin["at"],
        "agent_id": origin.get("agent_id"),
        "turn_id": origin.get("turn_id"),
        "reply_to": origin.get("reply_to"),
    }


def queue_notice(
    tx: Transaction,
    services: Services,
    *,
    chat: Jid,
    what: Say,
    incident: str,
    at: datetime,
    words_of: AgentId | None = None,
    **facts: object,
) -> bool:
    """Tell a chat a sentence of our own, once an incident. words_of: the agent whose words are in it."""
    group = groups.by_jid(tx, chat)
    locale = group.locale if group is not None else services.settings.assistant.locale
    return queue_text(
        tx,
        chat=chat,
        parts=split_text(say(what, locale, **facts), services.text_limit(chat)),
        source=TextSource.NOTICE,
        source_key=incident,
        at=at,
        agent_id=words_of,
    )
