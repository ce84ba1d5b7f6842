"""Waiting for news of a chat: what the long poll over HTTP and the in-process terminal both do."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.commands.views import ChatView, chat_position, chat_view
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import TextSource
from orchestrator.contracts.seams import ConsoleDoor, Topic

# Waking is fast, polling is certain: should a wake-up get lost, news are this late.
_POLL_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SentText:
    """One text of the assistant. is_notice: Dovecote's own sentence, not the agent's."""

    id: int
    text: str
    created_at: datetime
    is_notice: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatNews:
    """What a chat looks like behind a place in it.

    last_id, last_seq: the place to go on from. unsettled: messages without an outcome yet.
    outbox: texts not sent yet. failed: what ended badly, one sentence each. is_quiet: all is
    answered, sent and shown. version: pass it as `seen` to wait for a change.
    """

    texts: tuple[SentText, ...] = ()
    last_id: int
    last_seq: int
    typing: bool = False
    unsettled: int = 0
    outbox: int = 0
    failed: tuple[str, ...] = ()
    is_quiet: bool = False
    version: str = ""


async def chat_now(services: Services, chat: Jid) -> ChatNews:
    """The place where the chat stands: from there on everything is news."""
    position = await chat_position(services, chat)
    return ChatNews(last_id=position.last_id, last_seq=position.last_seq)


async def chat_news(
    services: Services,
    door: ConsoleDoor,
    chat: Jid,
    *,
    after: int,
    after_seq: int = 0,
    seen: str | None = None,
    wait_s: float = 0,
) -> ChatNews:
    """What is new in a chat, as soon as it differs from what was `seen`, or after `wait_s`."""
    deadline_s = services.clock.monotonic() + wait_s
    ear = services.wakeups.listen(Topic.CHAT_VIEW, Topic.OUTBOX, Topic.MESSAGES)
    while True:
        view = await chat_view(services, chat, after=after, after_seq=after_seq)
        news = _news(view, after_seq=after_seq, is_typing=door.is_typing(chat))
        left_s = deadline_s - services.clock.monotonic()
        if news.texts or news.version != seen or left_s <= 0:
            return news
        await ear.wait(at_most_s=min(left_s, _POLL_S))


def _news(view: ChatView, *, after_seq: int, is_typing: bool) -> ChatNews:
    texts = tuple(
        SentText(
            id=item.id,
            text=item.text,
            created_at=item.created_at,
            is_notice=item.source is TextSource.NOTICE,
        )
        for item in view.texts
    )
    failed = _failures(view)
    state = (view.last_id, view.unsettled, view.outbox_waiting, len(failed), int(is_typing))
    return ChatNews(
        texts=texts,
        last_id=view.last_id,
        last_seq=after_seq,
        typing=is_typing,
        unsettled=view.unsettled,
        outbox=view.outbox_waiting,
        failed=failed,
        is_quiet=view.is_quiet,
        version=".".join(map(str, state)),
    )


def _failures(view: ChatView) -> tuple[str, ...]:
    sentences = [
        f"Message {message_id} was not finished: {status}." for message_id, status in view.unfinished
    ]
    if view.undelivered:
        sentences.append(f"{view.undelivered} texts could not be delivered.")
    return tuple(sentences)
