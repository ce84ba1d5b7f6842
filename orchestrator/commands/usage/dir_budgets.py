"""What people are told when files take too much room: of one group, or of the whole disk.

The incidents are rows, so that a restart forgets none of them. Source: contracts.md section 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, GroupFolder, Jid
from orchestrator.contracts.records.dir_sizes import MAX_DEPTH, DirBudget
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.seams import Topic
from orchestrator.core.dir_budgets import Excess
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.store import groups, notices
from orchestrator.store.transaction import Transaction

FULL: Final = "files"
"""Of a chat: its files take more than they may. The incident is `files:{chat}`."""
_DISK: Final = "disk"
_MIB: Final = 1024 * 1024
_WHY: Final[Mapping[Excess, Say]] = {
    Excess.BYTES: Say.FILES_BYTES,
    Excess.ENTRIES: Say.FILES_COUNT,
    Excess.DEPTH: Say.FILES_DEPTH,
    Excess.EXCHANGED: Say.FILES_EXCHANGED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overfull:
    """A directory that is over its budget. place: where it lies below the home, for people."""

    place: str
    budget: DirBudget
    excess: Excess


def note_overfull(
    tx: Transaction,
    services: Services,
    folder: GroupFolder,
    overfull: Overfull,
    *,
    was_stopped: bool,
    at: datetime,
) -> None:
    """The files of a group take too much: its chat and the operator are told once, until it is over.

    was_stopped: an agent was at work and had to be stopped.
    """
    group = groups.by_folder(tx, folder)
    if group is None:
        return
    name = f"{FULL}:{group.jid}"
    _, is_told = notices.count_one(tx, name, at=at)
    if is_told:
        return
    notices.mark_told(tx, name, at=at)
    key = f"{name}:{at.timestamp():.0f}"
    what = Say.FILES_FULL_STOPPED if was_stopped else Say.FILES_FULL
    queue_notice(tx, services, chat=group.jid, what=what, incident=key, at=at)
    _tell_operator(tx, services, Say.OPERATOR_FILES, group, key, at, why=why(overfull, group.locale))


def why(overfull: Overfull, locale: str) -> str:
    """In which way it is over its budget, as a sentence."""
    return say(
        _WHY[overfull.excess],
        locale,
        place=overfull.place,
        mib=f"{overfull.budget.max_bytes / _MIB:,.0f}",
        entries=f"{overfull.budget.max_entries:,}",
        depth=MAX_DEPTH,
    )


def note_fitting(tx: Transaction, services: Services, folder: GroupFolder, *, at: datetime) -> None:
    """They fit again: whoever was told is told so, and what waited goes on."""
    group = groups.by_folder(tx, folder)
    if group is None or not notices.close(tx, f"{FULL}:{group.jid}"):
        return
    key = f"{FULL}-over:{group.jid}:{at.timestamp():.0f}"
    queue_notice(tx, services, chat=group.jid, what=Say.WORKING_AGAIN, incident=key, at=at)
    tx.wake(Topic.WORK)


def known_overfull(tx: Transaction) -> list[GroupFolder]:
    """The groups whose files took too much when somebody last looked."""
    return [
        group.folder
        for name in notices.told_of(tx, FULL)
        if (group := groups.by_jid(tx, Jid(name.removeprefix(f"{FULL}:")))) is not None
    ]


def note_violation(
    tx: Transaction, services: Services, group: Group, agent_id: AgentId, sentence: str, *, at: datetime
) -> None:
    """An agent did with its box what it may not and was stopped. sentence: what it was, for the operator."""
    key = f"violation:{agent_id}"
    queue_notice(tx, services, chat=group.jid, what=Say.OVER_BUDGET_BOX, incident=key, at=at)
    _tell_operator(tx, services, Say.OPERATOR_BOX, group, key, at, why=sentence)


def note_stopped_for_room(
    tx: Transaction, services: Services, folder: GroupFolder, agent_id: AgentId, *, at: datetime
) -> None:
    """An agent was stopped because it was filling the disk."""
    group = groups.by_folder(tx, folder)
    if group is not None:
        key = f"stopped-for-room:{agent_id}"
        queue_notice(tx, services, chat=group.jid, what=Say.STOPPED_FOR_ROOM, incident=key, at=at)
        _tell_operator(tx, services, Say.OPERATOR_STOPPED_FOR_ROOM, group, key, at)


def note_disk_low(tx: Transaction, services: Services, *, free_bytes: int, at: datetime) -> None:
    """Less is free on the disk than has to be: the operator is told once, until it is over."""
    _, is_told = notices.count_one(tx, _DISK, at=at)
    if is_told:
        return
    notices.mark_told(tx, _DISK, at=at)
    tell_operators(
        tx,
        services,
        what=Say.OPERATOR_DISK_LOW,
        incident=f"{_DISK}-low:{at.timestamp():.0f}",
        at=at,
        free_mib=f"{free_bytes / _MIB:,.0f}",
        floor_mib=f"{services.settings.disk_floor_bytes / _MIB:,.0f}",
    )


def note_disk_well(tx: Transaction, services: Services, *, at: datetime) -> None:
    """There is room again: one all-clear to all who had been told, operators first; what waited goes on."""
    key = f"{_DISK}-well:{at.timestamp():.0f}"
    if notices.close(tx, _DISK):
        tell_operators(tx, services, what=Say.OPERATOR_DISK_WELL, incident=key, at=at)
    for name in notices.told_of(tx, _DISK):
        chat = Jid(name.removeprefix(f"{_DISK}:"))
        notices.close(tx, name)
        queue_notice(tx, services, chat=chat, what=Say.WORKING_AGAIN, incident=f"{key}:{chat}", at=at)
    tx.wake(Topic.WORK)


def _tell_operator(
    tx: Transaction, services: Services, what: Say, group: Group, key: str, at: datetime, *, why: str = ""
) -> None:
    incident = f"{key}:operator"
    tell_operators(tx, services, what=what, incident=incident, at=at, group=group.name, why=why)
