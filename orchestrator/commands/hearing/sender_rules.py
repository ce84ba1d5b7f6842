"""The rules of each group's `senders.toml`, as they hold now. Source: contracts.md section 6."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import NotFound
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.senders import SenderLook
from orchestrator.core.sentence_keys import Say
from orchestrator.store import groups, notices
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
_NONE_HOLDS: Final = "senders:"
"""A file that can't be read, where nobody knows what it last said: only operators are heard."""
_LAST_HOLDS: Final = "senders-kept:"
_NO_GROUP: Final = SenderLook(rules=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderRulesView:
    """Who may set the assistant off in a group, for people. trouble: what is wrong with the file.

    mode: None when only operators count, since no rules could be read.
    """

    folder: str
    mode: str | None
    senders: tuple[str, ...]
    trouble: str | None


async def look_at_rules(services: Services, chat: Jid) -> SenderLook:
    """The rules for a chat, from its file as it is at this moment; none for a chat that is no group."""
    async with services.db.reader() as reader:
        group = await groups.find_by_jid(reader, chat)
    if group is None:
        return _NO_GROUP
    return await asyncio.to_thread(services.senders.look, services.paths.groups, group.folder)


async def show_sender_rules(services: Services, folder: str) -> SenderRulesView:
    """The rules of one group. Raises NotFound."""
    async with services.db.reader() as reader:
        group = await groups.find(reader, folder)
    if group is None:
        raise NotFound(f"There is no group {folder!r}.", suggestion="See them all: dovecote group list")
    look = await asyncio.to_thread(services.senders.look, services.paths.groups, group.folder)
    return _view(group, look)


async def review_sender_rules(services: Services) -> None:
    """Look at the files of all groups: operators hear of a broken or mended one though nobody writes."""
    async with services.db.reader() as reader:
        known = await groups.list_all(reader)

    def look_at_all() -> list[tuple[Group, SenderLook]]:
        return [(group, services.senders.look(services.paths.groups, group.folder)) for group in known]

    looks = await asyncio.to_thread(look_at_all)
    at = services.clock.now()
    await services.db.run(lambda tx: _note_looks(tx, services, looks, at))


def note_look(tx: Transaction, services: Services, group: Group, look: SenderLook, *, at: datetime) -> None:
    """Tell operators once that a group's file is broken, and once that it is mended."""
    kind, name = _kind(look), group.name
    is_other_over = any(
        [notices.close(tx, f"{each}{group.folder}") for each in (_NONE_HOLDS, _LAST_HOLDS) if each != kind]
    )
    if look.trouble is None:
        if is_other_over:
            mended = f"{_NONE_HOLDS}{group.folder}:{at.timestamp():.0f}:over"
            tell_operators(tx, services, what=Say.SENDERS_MENDED, incident=mended, at=at, group=name)
        return
    incident = f"{kind}{group.folder}"
    key = f"{incident}:{at.timestamp():.0f}"
    _, is_told = notices.count_one(tx, incident, at=at)
    if is_told:
        return
    what = Say.SENDERS_UNREADABLE if look.rules is None else Say.SENDERS_BROKEN
    _log.error("senders.broken", group=group.folder, why=look.trouble)
    tell_operators(tx, services, what=what, incident=key, at=at, group=name, why=look.trouble)
    notices.mark_told(tx, incident, at=at)


def _note_looks(
    tx: Transaction, services: Services, looks: Sequence[tuple[Group, SenderLook]], at: datetime
) -> None:
    open_now = notices.names(tx, prefix=_NONE_HOLDS) | notices.names(tx, prefix=_LAST_HOLDS)
    for group, look in looks:
        names = {f"{_NONE_HOLDS}{group.folder}", f"{_LAST_HOLDS}{group.folder}"}
        if look.trouble is not None or names & open_now:
            note_look(tx, services, group, look, at=at)


def _kind(look: SenderLook) -> str | None:
    if look.trouble is None:
        return None
    return _NONE_HOLDS if look.rules is None else _LAST_HOLDS


def _view(group: Group, look: SenderLook) -> SenderRulesView:
    rules = look.rules
    return SenderRulesView(
        folder=group.folder,
        mode=None if rules is None else rules.mode.value,
        senders=() if rules is None else rules.senders,
        trouble=look.trouble,
    )
