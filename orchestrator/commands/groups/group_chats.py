"""What is known of the group chats that we are in: their names, their people, and whether we still are.

Source: contracts.md section 4.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from orchestrator.commands.groups.group_requests import make_missing_folders
from orchestrator.commands.groups.new_chats import meet_chats, note_left
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.groups import Chat, Group, GroupChange
from orchestrator.contracts.seams import Topic
from orchestrator.core.text_cleaning import clean_name
from orchestrator.store import chats, facts, members
from orchestrator.store.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatChanges:
    """How what a channel says differs from what was known. met: we are in them now. left: no more."""

    met: tuple[Chat, ...]
    left: tuple[Jid, ...]


async def take_chats(services: Services, channel: str, found: Sequence[Chat]) -> None:
    """These are the group chats of a channel that we are in. Raises Unavailable."""
    taken, at = await asyncio.to_thread(_names_in, services.paths.groups), services.clock.now()

    def body(tx: Transaction) -> list[Group]:
        news = note_chats(tx, channel, found, at=at)
        for jid in news.left:
            note_left(tx, services, jid, at=at)
        return meet_chats(tx, services, news.met, taken=taken, at=at)

    if await services.db.run(body):
        await make_missing_folders(services)


def note_chats(tx: Transaction, channel: str, found: Sequence[Chat], *, at: datetime) -> ChatChanges:
    """Remember them. The first time that a channel says it nothing is new."""
    before, is_first = chats.we_are_in(tx, channel), not facts.was_synced(tx, channel)
    for chat in found:
        chats.note_found(tx, chat.jid, channel=channel, name=clean_name(chat.name or "") or None)
        if chat.members is not None:
            members.set_all(tx, chat.jid, chat.members)
    here = {chat.jid for chat in found}
    # That we were thrown out of all of them at once is less likely than that a network said nothing.
    left = sorted(before - here) if here else []
    for jid in left:
        _leave(tx, jid)
    facts.note_sync(tx, channel, at=at)
    tx.wake(Topic.SNAPSHOTS)
    met = () if is_first else tuple(chat for chat in found if chat.jid not in before)
    return ChatChanges(met=met, left=tuple(left))


async def note_group_change(services: Services, channel: str, change: GroupChange) -> None:
    """Something happened to a group chat; who is in it is asked for again if we came or went.

    Raises Unavailable.
    """
    taken, at = await asyncio.to_thread(_names_in, services.paths.groups), services.clock.now()

    def body(tx: Transaction) -> list[Group]:
        tx.wake(Topic.SNAPSHOTS)
        if change.has_us is not None:
            tx.wake(Topic.CHATS)
        if change.has_us is False:
            if _leave(tx, change.chat_jid):
                note_left(tx, services, change.chat_jid, at=at)
            return []
        met = _note_change(tx, channel, change)
        return meet_chats(tx, services, met, taken=taken, at=at)

    if await services.db.run(body):
        await make_missing_folders(services)


def _note_change(tx: Transaction, channel: str, change: GroupChange) -> list[Chat]:
    """The chat, if we are in it only now."""
    jid, name = change.chat_jid, clean_name(change.name or "") or None
    met: list[Chat] = []
    if change.has_us:
        was_in = jid in chats.we_are_in(tx, channel)
        chats.note_found(tx, jid, channel=channel, name=name)
        if not was_in:
            known = name or chats.name_of(tx, jid)
            met.append(Chat(jid=jid, channel=channel, name=known, is_group=True))
    elif name is not None:
        chats.call(tx, jid, name)
    members.add(tx, jid, change.joined)
    members.remove(tx, jid, change.left)
    return met


def _leave(tx: Transaction, jid: Jid) -> bool:
    members.clear(tx, jid)
    return chats.leave(tx, jid)


def _names_in(groups: Path) -> frozenset[str]:
    """What lies where the groups' folders are: of groups that were removed too."""
    try:
        return frozenset(name.lower() for name in os.listdir(groups))
    except FileNotFoundError:
        return frozenset()
