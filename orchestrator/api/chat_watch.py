"""Waiting for news of a chat: what the long poll over HTTP and the in-process terminal both do."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.commands.chat_views import ChatView, chat_position, chat_view, group_of_chat
from orchestrator.commands.hearing.judging import is_operator_in, may_set_off
from orchestrator.commands.hearing.sender_rules import look_at_rules
from orchestrator.commands.saying.word_answers import REFUSED
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.groups import TriggerPosition
from orchestrator.contracts.records.messages import SenderRole, SpooledFile, TextSource
from orchestrator.contracts.seams import ConsoleDoor, Topic
from orchestrator.core.chat.bounds import Bound
from orchestrator.paths import Paths

# Waking is fast, polling is certain: should a wake-up get lost, news are this late.
_POLL_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SentFile:
    """A file that the assistant sent. path: where it lies on the orchestrator's machine."""

    name: str
    media_type: str
    size_bytes: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentText:
    """One text of the assistant, or one file, whose caption the text is.

    is_notice: Dovecote's own sentence, not the agent's. is_refusal: it says why a word was not done.
    reply_to: id of the message that it quotes.
    """

    id: int
    text: str
    created_at: datetime
    is_notice: bool
    is_refusal: bool = False
    reply_to: MessageId | None = None
    file: SentFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardText:
    """What a person wrote in the chat, here or at another terminal.

    is_context: it sets nothing off, as what is not for the assistant, or is over a bound.
    """

    message_id: MessageId
    sender_name: str
    text: str
    is_context: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundNow:
    """A bound that was met in the chat. setting: where it is set. until: nobody whom it binds is answered."""

    setting: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A message that ended badly. status: `partial` or `failed`."""

    message_id: MessageId
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatStart:
    """Where a chat stands, and how the assistant is addressed in it.

    requires_trigger: what does not match the trigger is not for the assistant. is_heard: whether who writes
    at the terminal may set it off, by the rules of the group. is_operator: whether all words are his to say.
    rules_trouble: what is wrong with the file of the rules.
    """

    last_id: int
    last_seq: int
    assistant_name: str
    trigger: str
    trigger_position: TriggerPosition
    requires_trigger: bool
    is_heard: bool = True
    is_operator: bool = True
    rules_trouble: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPlace:
    """What somebody has seen of a chat: what comes behind it is news.

    last_id: of the texts. heard_seq: of what people wrote. last_seq: what went wrong before is no
    news, ever. version: of the state that was seen; None if none was.
    """

    last_id: int
    last_seq: int
    heard_seq: int
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatNews:
    """What a chat looks like behind a place in it.

    last_id, last_seq, heard_seq, version: the place to go on from. unsettled: messages without an
    outcome yet. outbox: texts not sent yet. undelivered: texts that could not be sent. held_by:
    incidents that the chat was told of and that its messages wait for. is_quiet: all is answered,
    sent and shown. bounds: those for which people are not answered now.
    """

    texts: tuple[SentText, ...] = ()
    heard: tuple[HeardText, ...] = ()
    last_id: int
    last_seq: int
    heard_seq: int
    version: str
    typing: bool
    unsettled: int
    outbox: int
    undelivered: int
    unfinished: tuple[Unfinished, ...] = ()
    held_by: tuple[str, ...] = ()
    bounds: tuple[BoundNow, ...] = ()
    is_quiet: bool

    @property
    def place(self) -> ChatPlace:
        """What somebody has seen who has seen this."""
        return ChatPlace(
            last_id=self.last_id, last_seq=self.last_seq, heard_seq=self.heard_seq, version=self.version
        )


async def chat_start(services: Services, door: ConsoleDoor, chat: Jid) -> ChatStart:
    """The place where the chat stands: from there on everything is news. Raises NotFound."""
    position = await chat_position(services, chat)
    group = await group_of_chat(services, chat)
    return ChatStart(
        last_id=position.last_id,
        last_seq=position.last_seq,
        assistant_name=group.assistant_name,
        trigger=group.trigger,
        trigger_position=group.trigger_position,
        requires_trigger=group.requires_trigger and not group.is_main,
        is_heard=await may_set_off(services, group, door.sender),
        is_operator=await is_operator_in(services, group, door.sender),
        rules_trouble=(await look_at_rules(services, chat)).trouble,
    )


def _always_open() -> None:
    """Nothing ends the waiting early."""


async def chat_news(
    services: Services,
    door: ConsoleDoor,
    chat: Jid,
    *,
    place: ChatPlace,
    wait_s: float = 0,
    check: Callable[[], None] = _always_open,
) -> ChatNews:
    """What is new in a chat, as soon as it differs from what was seen, or after `wait_s`.

    check: called before each look; what it raises ends the waiting.
    """
    deadline_s = services.clock.monotonic() + wait_s
    ear = services.wakeups.listen(Topic.CHAT_VIEW, Topic.OUTBOX, Topic.WORK)
    while True:
        check()
        view = await chat_view(
            services, chat, after=place.last_id, after_seq=place.last_seq, heard_seq=place.heard_seq
        )
        news = _news(services.paths, view, place, is_typing=door.is_typing(chat))
        left_s = deadline_s - services.clock.monotonic()
        if news.texts or news.heard or news.version != place.version or left_s <= 0:
            return news
        await ear.wait(at_most_s=min(left_s, _POLL_S))


def _news(paths: Paths, view: ChatView, place: ChatPlace, *, is_typing: bool) -> ChatNews:
    state = (
        view.last_id,
        view.unsettled,
        view.outbox_waiting,
        len(view.unfinished),
        view.undelivered,
        int(is_typing),
        *view.held_by,
    )
    return ChatNews(
        texts=tuple(
            SentText(
                id=item.id,
                text=item.text,
                created_at=item.created_at,
                is_notice=item.source is TextSource.NOTICE,
                is_refusal=item.source is TextSource.NOTICE and item.source_key.startswith(REFUSED),
                reply_to=item.reply_to,
                file=None if item.file is None else _sent_file(paths, item.id, item.file),
            )
            for item in view.texts
        ),
        heard=tuple(
            HeardText(
                message_id=each.message_id,
                sender_name=each.sender_name,
                text=each.text,
                is_context=not each.is_trigger and each.sender_role is not SenderRole.OPERATOR,
            )
            for each in view.heard
        ),
        last_id=view.last_id,
        last_seq=place.last_seq,
        heard_seq=view.heard[-1].seq if view.heard else place.heard_seq,
        version=".".join(map(str, state)),
        typing=is_typing,
        unsettled=view.unsettled,
        outbox=view.outbox_waiting,
        undelivered=view.undelivered,
        unfinished=tuple(Unfinished(message_id=each, status=status) for each, status in view.unfinished),
        held_by=view.held_by,
        bounds=tuple(
            BoundNow(setting=each.setting, until=each.until)
            for each in view.bounds
            if each.bound is not Bound.BOTS
        ),
        is_quiet=view.is_quiet,
    )


def _sent_file(paths: Paths, outbox_id: int, file: SpooledFile) -> SentFile:
    return SentFile(
        name=file.name,
        media_type=file.media_type,
        size_bytes=file.size_bytes,
        path=str(paths.console_file(outbox_id, file.name)),
    )
