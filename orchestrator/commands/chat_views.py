"""What the client of a chat looks at: its texts, and what became of its messages."""

from dataclasses import dataclass
from datetime import datetime

from orchestrator.commands.running.holds import HOLDING
from orchestrator.commands.services import Services
from orchestrator.commands.usage.dir_budgets import FULL
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import OutboxItem, StoredMessage
from orchestrator.core.authority import not_registered
from orchestrator.core.chat.bounds import BOUND_INCIDENTS, WINDOW, MetBound, met_bound
from orchestrator.store import groups, message_views, notices, outbox
from orchestrator.store.database import Reader

_TEXTS_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatPosition:
    """A place in a chat: what comes behind it is new to the one who holds it."""

    last_id: int
    last_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatView:
    """What a client of a chat sees. last_id: where to go on. unsettled: messages without an outcome.

    heard: what people wrote. unfinished: messages that ended half-way or failed, with their status.
    undelivered: texts that could not be sent. held_by: incidents that the chat was told of and that
    its messages wait for: start, provider, disk, files. bounds: those that are silent in it now.
    """

    texts: tuple[OutboxItem, ...]
    last_id: int
    unsettled: int
    outbox_waiting: int
    undelivered: int
    unfinished: tuple[tuple[MessageId, str], ...]
    held_by: tuple[str, ...] = ()
    heard: tuple[StoredMessage, ...] = ()
    bounds: tuple[MetBound, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether every message has its outcome, every text has left, and all of them are in this view."""
        is_cut = _TEXTS_AT_ONCE in (len(self.texts), len(self.heard))
        return self.unsettled == 0 and self.outbox_waiting == 0 and not is_cut


async def chat_position(services: Services, chat: Jid) -> ChatPosition:
    """Where a chat stands now."""
    async with services.db.reader() as reader:
        last_id = await outbox.last_id(reader, chat)
        return ChatPosition(last_id=last_id, last_seq=await message_views.last_seq(reader, chat))


async def group_of_chat(services: Services, chat: Jid) -> Group:
    """The group that is this chat. Raises NotFound."""
    group = await services.db.run(lambda tx: groups.by_jid(tx, chat))
    if group is None:
        raise not_registered(chat)
    return group


async def chat_view(
    services: Services, chat: Jid, *, after: int, after_seq: int = 0, heard_seq: int = 0
) -> ChatView:
    """What was sent behind outbox id `after`, went wrong behind `after_seq`, was heard behind `heard_seq`.

    Incidents are read before the counts, and these before the texts: what the chat is told of an incident,
    as any text that was waiting then, is counted or shown, never neither.
    """
    async with services.db.reader() as reader:
        held_by = await _held_by(reader, chat)
        unsettled = await message_views.count_unsettled(reader, chat)
        waiting = await outbox.count_waiting(reader, chat)
        texts = await outbox.texts_after(reader, chat, after_id=after, count=_TEXTS_AT_ONCE)
        return ChatView(
            texts=tuple(texts),
            last_id=texts[-1].id if texts else after,
            unsettled=unsettled,
            outbox_waiting=waiting,
            undelivered=await outbox.count_failed(reader, chat, after_id=after),
            bounds=await _bounds(reader, chat, services.clock.now()),
            held_by=held_by,
            heard=tuple(
                await message_views.heard_after(reader, chat, after_seq=heard_seq, count=_TEXTS_AT_ONCE)
            ),
            unfinished=tuple(await message_views.list_unfinished(reader, chat, after_seq=after_seq)),
        )


async def _bounds(reader: Reader, chat: Jid, at: datetime) -> tuple[MetBound, ...]:
    found = await notices.opened_after(reader, prefix=BOUND_INCIDENTS, after=at - WINDOW, now=at)
    met = [met_bound(each.name, each.opened_at, chats=[chat]) for each in found]
    return tuple([each for each in met if each is not None])


async def _held_by(reader: Reader, chat: Jid) -> tuple[str, ...]:
    """One that gave a message back counts only while one waits: with an agent at work, it may be over."""
    is_held = await message_views.holds_any(reader, chat)
    kinds = [*(each.name for each in HOLDING if is_held or not each.gives_back), FULL]
    told = await notices.told(reader, [f"{kind}:{chat}" for kind in kinds])
    return tuple(kind for kind in kinds if f"{kind}:{chat}" in told)
