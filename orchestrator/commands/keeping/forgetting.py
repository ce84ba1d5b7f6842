"""Forgetting a person or a group: rows, files and conversations, for good. Source: contracts.md section 8.

What agents noted in the workspace of a group that stays is theirs: nobody knows whom it is about. The
answer names what is left, and the copies made before.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import TypeAdapter

from orchestrator.commands.running.stopping import stop_cascade
from orchestrator.commands.running.task_runs import pause_tasks_of_gone_group
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import Caller, HostCaller
from orchestrator.contracts.errors import InvalidRequest, Unavailable
from orchestrator.contracts.ids import AgentId, GroupFolder, Jid, is_chat_id, is_folder_name, own_box
from orchestrator.contracts.records.launch import WORKSPACE_TARGET
from orchestrator.contracts.seams import Topic
from orchestrator.core.authority import Target, allow
from orchestrator.core.sentences_about import sentences_about
from orchestrator.paths import Paths
from orchestrator.store import contacts, forgetting, groups, spool
from orchestrator.store.backup_list import copies_kept
from orchestrator.store.forgetting import Rows, Said
from orchestrator.store.forgotten_files import Files
from orchestrator.store.inbox import INBOX
from orchestrator.store.refusals import ERRORS
from orchestrator.store.transaction import Transaction
from orchestrator.store.unfinished_restore import ASIDE

T = TypeVar("T")
_TRIES: Final = 3
_INBOX: Final = f"{WORKSPACE_TARGET}/{INBOX}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What went and what did not. rows: how many, by what they were. files: paths that were removed.

    resisted: paths that could not be. copies: backups that were made before. stays: sentences.
    """

    rows: Mapping[str, int]
    files: tuple[str, ...]
    resisted: tuple[str, ...]
    copies: tuple[str, ...]
    stays: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    """Which files have to go once the rows are gone. received: in the inboxes of the groups."""

    folders: tuple[GroupFolder, ...] = ()
    agents: tuple[AgentId, ...] = ()
    spooled: tuple[str, ...] = ()
    sent: tuple[int, ...] = ()
    received: tuple[tuple[GroupFolder, str], ...] = ()

    def with_more(self, other: "_Left") -> "_Left":
        """Both."""
        return _Left(
            folders=(*self.folders, *other.folders),
            agents=(*self.agents, *other.agents),
            spooled=(*self.spooled, *other.spooled),
            sent=(*self.sent, *other.sent),
            received=(*self.received, *other.received),
        )


_LEFT: Final = TypeAdapter(_Left)


def folder_named(folder: str) -> GroupFolder:
    """The folder of a group that is, or was, called so. Raises InvalidRequest for what can be none."""
    if not is_folder_name(folder):
        raise InvalidRequest(
            f"{folder[:200]!r} can't be the folder of a group.", suggestion="See them: dovecote group list"
        )
    return GroupFolder(folder)


def person_named(jid: str) -> Jid:
    """The id of a person. Raises InvalidRequest for what is none."""
    if not is_chat_id(jid):
        raise InvalidRequest(
            f"{jid[:200]!r} is not the id of a person.",
            suggestion="Give one such as 491701234567@s.whatsapp.net.",
        )
    return Jid(jid)


async def forget_group(services: Services, caller: Caller, folder: str) -> Forgotten:
    """Forget a group with its chat, folder, tasks, conversations and all that its agents did.

    Its agents are stopped first. A group that is not known any more may be named again: what is left goes.
    Raises InvalidRequest for the main group, Unavailable while an agent of it still ends.
    """
    allow(caller, "manage_groups", Target(chat_jid=None, group=GroupFolder(folder), is_registered=True))
    named, rows = folder_named(folder), Rows()
    words = await services.db.run(lambda tx: _begin(tx, services, named))

    def body(tx: Transaction) -> _Left:
        everybody, _ = forgetting.agents_of(tx, named)
        begun = forgetting.begun(tx, named)
        chats = frozenset() if begun is None else contacts.ids_of(tx, begun[0])
        spooled, sent = forgetting.files_sent(tx, chats)
        left = _Left(folders=(named,), agents=tuple(everybody), spooled=tuple(spooled), sent=tuple(sent))
        left = _noted(tx, named, left)
        sentences = sentences_about(named, is_a_name=groups.is_a_name(tx, named))
        forgetting.remove_group(
            tx, rows, named, chats=chats, agents=everybody, words=words, sentences=sentences
        )
        return left

    left = await _once_nobody_lives(services, lambda _: [named], body)
    services.checkpoints.reached("group.rows_gone")
    files = await asyncio.to_thread(_remove_files, services.paths, left)
    await asyncio.to_thread(files.remove, services.paths.groups, [named])
    await services.db.run(lambda tx: forgetting.nothing_left(tx, named))
    return await _done(services, rows, files, stays=())


async def forget_person(services: Services, caller: Caller, jid: str) -> Forgotten:
    """Forget what a person wrote, the answers to it, the conversations it was part of, and who he is.

    Agents of the groups in which he wrote are stopped first; they begin anew with the next message.
    Raises InvalidRequest for what is no id of a person, Unavailable while such an agent still ends.
    """
    allow(caller, "manage_groups", Target(chat_jid=None, group=None, is_registered=True))
    rows, person = Rows(), person_named(jid)

    def body(tx: Transaction) -> tuple[_Left, list[GroupFolder]]:
        ids = contacts.ids_of(tx, person)
        said = forgetting.said_by(tx, ids)
        told = forgetting.in_trees_of(tx, {agent for agent, _ in said.turns})
        own = [group.folder for each in ids if (group := groups.by_jid(tx, each)) is not None]
        left = _noted(tx, person, _left_of_person(tx, ids, said, told))
        forgetting.remove_person(tx, rows, ids, said, agents=told)
        return left, own

    def met(tx: Transaction) -> Sequence[GroupFolder]:
        return forgetting.said_by(tx, contacts.ids_of(tx, person)).folders

    left, own = await _once_nobody_lives(services, met, body)
    services.checkpoints.reached("person.rows_gone")
    files = await asyncio.to_thread(_remove_files, services.paths, left)
    await services.db.run(lambda tx: forgetting.nothing_left(tx, person))
    return await _done(services, rows, files, stays=_what_stays(left.folders, own))


def _begin(tx: Transaction, services: Services, folder: GroupFolder) -> Collection[str]:
    """Take the registration away, so that nothing new begins; what alerts may call the group."""
    group = groups.by_folder(tx, folder)
    if group is None:
        begun = forgetting.begun(tx, folder)
        return () if begun is None or begun[1] is None else (begun[1],)
    if group.is_main:
        raise InvalidRequest(
            f"Group {folder!r} is main and can't be forgotten.",
            suggestion="Make another group main first: dovecote group set FOLDER is_main=true",
        )
    forgetting.note_begun(tx, folder, group.jid, group.name)
    groups.remove(tx, folder)
    pause_tasks_of_gone_group(tx, folder, at=services.clock.now())
    tx.wake(Topic.SNAPSHOTS)
    return (group.name,)


async def _once_nobody_lives(
    services: Services,
    folders_of: Callable[[Transaction], Sequence[GroupFolder]],
    body: Callable[[Transaction], T],
) -> T:
    """What `body` returns, run when no agent of these groups lives: they are stopped before."""

    def attempt(tx: Transaction) -> tuple[list[AgentId], T | None]:
        live = [each for folder in folders_of(tx) for each in forgetting.agents_of(tx, folder)[1]]
        return live, None if live else body(tx)

    live: list[AgentId] = []
    for _ in range(_TRIES):
        live, result = await services.db.run(attempt)
        if result is not None:
            return result
        for agent_id in live:
            await stop_cascade(services, HostCaller(), agent_id)
    raise Unavailable(
        f"Not forgotten yet: {len(live)} agents that know of it have not ended.",
        suggestion="Ask again in a minute. If no orchestrator runs, start one once: it ends what was left.",
    )


def _left_of_person(tx: Transaction, ids: Collection[Jid], said: Said, told: Sequence[AgentId]) -> _Left:
    own_spooled, own_sent = forgetting.files_sent(tx, ids)
    spooled, sent = forgetting.files_answered(tx, said)
    return _Left(
        folders=said.folders,
        agents=tuple(told),
        spooled=tuple(dict.fromkeys([*own_spooled, *spooled])),
        sent=tuple(dict.fromkeys([*own_sent, *sent])),
        received=tuple(_received(tx, said)),
    )


def _noted(tx: Transaction, whose: Jid | GroupFolder, left: _Left) -> _Left:
    """With what an earlier attempt did not come to; noted, so that a crash loses none of it."""
    before = forgetting.left_of(tx, whose)
    everything = left if before is None else _LEFT.validate_json(before).with_more(left)
    forgetting.note_left(tx, whose, _LEFT.dump_json(everything).decode())
    return everything


def _received(tx: Transaction, said: Said) -> Iterator[tuple[GroupFolder, str]]:
    """The files that came with the messages: groups, and names in their inboxes."""
    for chat, paths in said.attachments.items():
        if (group := groups.by_jid(tx, chat)) is not None:
            yield from (
                (group.folder, each.removeprefix(_INBOX)) for each in paths if each.startswith(_INBOX)
            )


def _remove_files(paths: Paths, left: _Left) -> Files:
    """Conversations, scratch, boxes, logs, files that were sent and that came. Blocks."""
    files = Files()
    own = [own_box(each) for each in left.agents]
    boxes = [*dict.fromkeys(left.folders), *own]
    spool.discard(paths.spool, left.spooled)
    files.remove(paths.console_files, [str(each) for each in left.sent])
    files.remove(paths.sessions, boxes)
    files.remove(paths.workspaces, [*left.agents, *own])
    files.remove(paths.ipc, boxes)
    if (paths.ipc / ERRORS).is_dir():
        files.remove(paths.ipc / ERRORS, boxes)
    files.remove_logs(paths.logs / "agents", [*left.folders, *left.agents])
    for folder, name in left.received:
        files.remove_received(paths.groups, folder, [name])
    return files


async def _done(services: Services, rows: Rows, files: Files, *, stays: Sequence[str]) -> Forgotten:
    await services.db.compact()
    paths = services.paths
    copies = await asyncio.to_thread(copies_kept, paths.home, paths.backups, aside=ASIDE)
    return Forgotten(
        rows=rows.counts,
        files=tuple(files.removed),
        resisted=tuple(files.resisted),
        copies=tuple(copies),
        stays=tuple(stays),
    )


def _what_stays(folders: Sequence[GroupFolder], own: Sequence[GroupFolder]) -> list[str]:
    """What nobody can tell to be about this person, or what is the operator's to remove."""
    sentences = [
        "Lists that name them stay: operators in dovecote.toml, and senders.toml in groups.",
        "Other people's messages stay, also where they speak of them.",
    ]
    if folders:
        where = ", ".join(f"groups/{folder}/workspace" for folder in folders)
        sentences.append(f"What agents noted stays: search {where}, and the tasks of these groups.")
    sentences += [f"Their own chat is group {each}: dovecote forget group {each}" for each in own]
    return sentences
