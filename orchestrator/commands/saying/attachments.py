"""Files that agents send: copied out of the workspace before the outbox row, removed after its end.

Source: contracts.md sections 3 and 4.
"""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, Caller
from orchestrator.contracts.errors import ErrorCode, LimitExceeded, Unavailable
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.messages import OutboundFile, SpooledFile
from orchestrator.core.chat.attachments import (
    AttachmentRefused,
    clean_file_name,
    shown_path,
    workspace_parts,
)
from orchestrator.store import outbox_files, spool
from orchestrator.store.group_folders import group_workspace
from orchestrator.store.transaction import Transaction
from orchestrator.store.unsafe import Busy, HasLinks, NotADir, NotRegular, TooLarge, UnsafeEntry

_log = structlog.get_logger(__name__)

_LOOK: Final = "List your files to see what is there."
_SUGGESTIONS: Final[Mapping[type[UnsafeEntry], str]] = {
    Busy: "Finish writing the file, then send it.",
    NotRegular: "Send a regular file; pack a directory into one, and copy what a link leads to.",
    NotADir: "Give the real path of the file, with no link in it.",
    HasLinks: "Make a copy of the file and send the copy.",
    TooLarge: "Send a smaller file, or send it in parts.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledFiles:
    """The copies of what a request wants to send, or why they were not made."""

    files: tuple[SpooledFile, ...] = ()
    refusal: AttachmentRefused | None = None


async def spool_attachments(services: Services, caller: Caller, paths: Sequence[str]) -> SpooledFiles:
    """Copy the named files out of the caller's workspace; a refusal is a value, and leaves no copy.

    Raises Unavailable when the disk takes nothing now.
    """
    if not paths:
        return SpooledFiles()
    if not isinstance(caller, AgentCaller):
        return SpooledFiles(refusal=AttachmentRefused("Only an agent has files to send."))
    limit = services.settings.attachments.max_count
    if len(paths) > limit:
        refusal = AttachmentRefused(
            f"The message has {len(paths)} attachments; {limit} is the limit.",
            suggestion="Send them in several messages.",
        )
        return SpooledFiles(refusal=refusal)
    return await asyncio.to_thread(_spool_all, services, caller.group, tuple(paths))


def _spool_all(services: Services, folder: GroupFolder, paths: Sequence[str]) -> SpooledFiles:
    workspace = group_workspace(services.paths.groups, folder)
    files: list[SpooledFile] = []
    try:
        wanted = [workspace_parts(path) for path in paths]
        for parts in wanted:
            file = _spool_one(services, workspace, parts)
            files.append(file)
    except AttachmentRefused as refusal:
        _discard(services, files)
        return SpooledFiles(refusal=refusal)
    except BaseException:
        _discard(services, files)
        raise
    return SpooledFiles(files=tuple(files))


def _spool_one(services: Services, workspace: Path, parts: Sequence[str]) -> SpooledFile:
    """Raises AttachmentRefused with the reason, Unavailable when the disk takes nothing now."""
    limit = services.settings.attachments.max_file_bytes
    shown = shown_path("/".join(parts))
    try:
        copy = spool.copy_in(workspace, parts, services.paths.spool, max_bytes=limit)
    except UnsafeEntry as error:
        # Of the file itself the name stands there already; a directory on the way is named.
        why = f"it {error.what}." if error.name == parts[-1] else error.message
        raise AttachmentRefused(
            f"The attachment '{shown}' was not sent: {why}",
            suggestion=_SUGGESTIONS.get(type(error), _LOOK),
        ) from error
    except OSError as error:
        if error.errno in spool.DISK_TROUBLE:
            raise Unavailable(
                f"The attachment '{shown}' could not be copied: {error.strerror}.",
                code=ErrorCode.STORE_UNAVAILABLE,
                suggestion="It is tried again; the operator has to make room on the disk.",
            ) from error
        raise AttachmentRefused(
            f"The attachment '{shown}' was not sent: {error.strerror}.", suggestion=_LOOK
        ) from error
    name = clean_file_name(parts[-1])
    return SpooledFile(
        name=name,
        media_type=spool.media_type(name),
        size_bytes=copy.size_bytes,
        spool_name=copy.spool_name,
    )


def _discard(services: Services, files: Sequence[SpooledFile]) -> None:
    spool.discard(services.paths.spool, [file.spool_name for file in files])


def check_room(tx: Transaction, services: Services, chat: Jid, files: Sequence[SpooledFile]) -> None:
    """Return if so many bytes may wait for a chat. Raises LimitExceeded."""
    if not files:
        return
    limit = services.settings.attachments.max_waiting_bytes
    waiting, more = outbox_files.waiting_bytes(tx, chat), sum(file.size_bytes for file in files)
    if waiting + more > limit:
        raise LimitExceeded(
            f"Files of {waiting} bytes wait to be sent to this chat; with {more} more it would be over the "
            f"limit of {limit}.",
            suggestion="Wait until they are sent, or send a smaller file.",
        )


async def discard_copies(services: Services, files: Sequence[SpooledFile]) -> None:
    """Remove copies that no row of the outbox holds."""
    if files:
        await asyncio.to_thread(_discard, services, files)


def outbound_file(services: Services, file: SpooledFile) -> OutboundFile:
    """The copy as a channel is given it."""
    return OutboundFile(
        name=file.name,
        media_type=file.media_type,
        size_bytes=file.size_bytes,
        path=services.paths.spool / file.spool_name,
    )


async def remove_ended(services: Services) -> None:
    """Remove the copies whose rows are sent or failed. Raises Unavailable."""
    names = await services.db.run(outbox_files.ended)
    if not names:
        return
    gone = await asyncio.to_thread(spool.discard, services.paths.spool, names)
    await services.db.run(lambda tx: outbox_files.forget(tx, gone))


async def sweep_spool(services: Services) -> None:
    """At a start, before any request is taken: remove what earlier processes left in the spool.

    Raises Unavailable.
    """
    await remove_ended(services)
    names = await asyncio.to_thread(spool.names, services.paths.spool)

    def without_row(tx: Transaction) -> list[str]:
        return [name for name in names if not outbox_files.is_spooled(tx, name)]

    left = await services.db.run(without_row)
    gone = await asyncio.to_thread(spool.discard, services.paths.spool, left)
    if gone:
        _log.info("spool.swept", files=len(gone))


async def prune_console_files(services: Services) -> None:
    """Remove the files whose rows are gone from the outbox. Raises Unavailable."""
    kept = await asyncio.to_thread(_console_ids, services.paths.console_files)

    def without_row(tx: Transaction) -> list[int]:
        return [outbox_id for outbox_id in kept if not outbox_files.is_known(tx, outbox_id)]

    for outbox_id in await services.db.run(without_row):
        await asyncio.to_thread(
            shutil.rmtree, services.paths.console_files / str(outbox_id), ignore_errors=True
        )


def _console_ids(directory: Path) -> list[int]:
    try:
        return [int(name) for name in os.listdir(directory) if name.isdecimal()]
    except FileNotFoundError:
        return []  # somebody tidied up
