"""What lately came, went and was refused, as the operator sees it."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_wishes import agent_key
from orchestrator.contracts.ids import BoxName, Jid, agent_of_box, is_own_box
from orchestrator.contracts.records.messages import OutboxItem, StoredMessage, TextSource
from orchestrator.store import message_views, outbox, refused_spawns
from orchestrator.store.refusals import list_refusals
from orchestrator.store.refused_spawns import RefusedSpawns
from orchestrator.store.times import shown_at

MAX_ROWS: Final = 1_000
"""No list that is asked for shows more at once."""


async def recent_messages(services: Services, chat: Jid | None, *, count: int) -> list[Mapping[str, object]]:
    """The newest messages of one chat or of all, oldest first, with what became of them."""
    async with services.db.reader() as reader:
        return [_message_view(each) for each in await message_views.newest(reader, chat, count=count)]


async def recent_texts(services: Services, chat: Jid | None, *, count: int) -> list[Mapping[str, object]]:
    """The newest texts that were sent to one chat or to all, oldest first."""
    async with services.db.reader() as reader:
        return [_text_view(each) for each in await outbox.newest(reader, chat, count=count)]


async def refused_requests(services: Services, box: str | None, *, count: int) -> list[Mapping[str, object]]:
    """The newest requests that were refused of boxes, with their reasons, newest first.

    Among them the spawns of which no file is kept, such as those by HTTP: those of an hour as one.
    """
    kept = await asyncio.to_thread(partial(list_refusals, services.paths.ipc, box=box, count=count))
    if box is not None and not is_own_box(BoxName(box)):
        return list(kept)
    caller_key = None if box is None else agent_key(agent_of_box(BoxName(box)))
    async with services.db.reader() as reader:
        spawns = await refused_spawns.unkept(reader, caller_key=caller_key, count=count)
    found: list[Mapping[str, object]] = [*kept, *map(_refused_spawn_view, spawns)]
    return sorted(found, key=lambda each: str(each["refusedAt"]), reverse=True)[:count]


def _refused_spawn_view(refused: RefusedSpawns) -> dict[str, object]:
    """In the form of a refusal of a box; box: who asked."""
    return {
        "box": refused.caller_key,
        "refusedAt": refused.last_at.isoformat(timespec="milliseconds"),
        "directory": "spawn",
        "code": refused.code,
        "message": refused.message,
        "count": refused.count,
    }


def _message_view(message: StoredMessage) -> Mapping[str, object]:
    return {
        "seq": message.seq,
        "chatJid": message.chat_jid,
        "messageId": message.message_id,
        "sender": message.sender_name,
        "senderJid": message.sender_jid,
        "senderRole": message.sender_role.value,
        "sentAt": shown_at(message.sent_at),
        "status": message.status.value,
        "isTrigger": message.is_trigger,
        "text": message.text,
    }


def _text_view(item: OutboxItem) -> Mapping[str, object]:
    return {
        "id": item.id,
        "chatJid": item.chat_jid,
        "isNotice": item.source is TextSource.NOTICE,
        "createdAt": shown_at(item.created_at),
        "text": item.text,
        "file": None if item.file is None else item.file.name,
    }
