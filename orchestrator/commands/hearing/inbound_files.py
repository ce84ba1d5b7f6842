"""Files that come with messages: put into the group's workspace before the message is stored.

Source: contracts.md sections 1 and 3.
"""

import asyncio
import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import structlog

from orchestrator.commands.services import Services
from orchestrator.contracts.errors import ErrorCode, InvalidRequest, LimitExceeded, Unavailable
from orchestrator.contracts.ids import GroupFolder, MessageId
from orchestrator.contracts.records.launch import WORKSPACE_TARGET
from orchestrator.contracts.records.messages import Attachment, ChangeKind, InboundMessage, ReceivedFile
from orchestrator.core.chat.attachments import clean_file_name, clean_file_text, numbered_name
from orchestrator.core.chat.late_files import late_file_id
from orchestrator.store import groups, inbox
from orchestrator.store.spool import DISK_TROUBLE, media_type
from orchestrator.store.transaction import Transaction
from orchestrator.store.unsafe import UnsafeEntry

_log = structlog.get_logger(__name__)
_INBOX_TARGET: Final = f"{WORKSPACE_TARGET}/{inbox.INBOX}/"
_MAX_TYPE_CHARS: Final = 100
_NUMBERED_NAMES: Final = 100
"""After so many files of one name the next gets a random one."""


async def with_attachments(services: Services, message: InboundMessage) -> InboundMessage:
    """The message with its files in the workspace of its group, if it has one.

    A file over a limit, or one that the agent's own workspace does not take, is named without a path.
    Raises Unavailable when the disk takes nothing now: the network is to keep the message.
    """
    if not message.files:
        return message

    def folder_of(tx: Transaction) -> GroupFolder | None:
        group = groups.by_jid(tx, message.chat_jid)
        is_new = not inbox.stored_paths(tx, message.chat_jid, _ids(message))
        return group.folder if group is not None and is_new else None

    folder = await services.db.run(folder_of)
    if folder is None:
        return message
    attachments = await asyncio.to_thread(_keep_all, services, folder, message.files)
    return replace(message, attachments=attachments)


async def take_back_unstored(services: Services, message: InboundMessage) -> None:
    """Remove the files again that no stored message names: it was stored before, or is not wanted."""
    kept = [each.path for each in message.attachments if each.path is not None]
    if not kept:
        return

    def unstored(tx: Transaction) -> tuple[GroupFolder, list[str]] | None:
        group = groups.by_jid(tx, message.chat_jid)
        stored = inbox.stored_paths(tx, message.chat_jid, _ids(message))
        names = [path.removeprefix(_INBOX_TARGET) for path in kept if path not in stored]
        return None if group is None else (group.folder, names)

    found = await services.db.run(unstored)
    if found is not None:
        await asyncio.to_thread(inbox.remove_files, services.paths.groups, *found)


def _ids(message: InboundMessage) -> tuple[MessageId, ...]:
    """Under which ids its files may be stored: its own or that of what it edits, and as late ones."""
    own, change = message.message_id, message.change
    if change is not None and change.kind is not ChangeKind.REPETITION:
        own = change.message_id
    return own, late_file_id(own)


async def operator_files(services: Services, paths: Sequence[str]) -> tuple[ReceivedFile, ...]:
    """The operator's own files, to go with a message. paths: absolute.

    Raises InvalidRequest for what is no file, LimitExceeded for too many or too large ones.
    """
    limits = services.settings.attachments
    if len(paths) > limits.max_count:
        raise LimitExceeded(
            f"The message has {len(paths)} files; {limits.max_count} is the limit.",
            suggestion="Send them in several messages, or set attachments.max_count.",
        )
    files = tuple([await asyncio.to_thread(_operator_file, Path(path)) for path in paths])
    for file in files:
        if file.size_bytes > limits.max_file_bytes:
            raise LimitExceeded(
                f"{file.name} has {file.size_bytes} bytes; {limits.max_file_bytes} is the limit.",
                suggestion="Send a smaller file, or set attachments.max_file_bytes.",
            )
    return files


def _operator_file(path: Path) -> ReceivedFile:
    try:
        found = os.stat(path) if path.is_absolute() else None
    except (OSError, ValueError):
        found = None
    if found is None or not stat.S_ISREG(found.st_mode):
        raise InvalidRequest(
            f"There is no file {clean_file_text(str(path))!r}.", suggestion="Give the full path of a file."
        )
    name = clean_file_name(path.name)
    return ReceivedFile(name=name, media_type=media_type(name), size_bytes=found.st_size, source=path)


def _keep_all(
    services: Services, folder: GroupFolder, files: Sequence[ReceivedFile]
) -> tuple[Attachment, ...]:
    kept: list[Attachment] = []
    try:
        for number, file in enumerate(files):
            is_over = number >= services.settings.attachments.max_count
            kept.append(_named(file) if is_over else _keep(services, folder, file))
    except OSError as error:
        names = [each.path.removeprefix(_INBOX_TARGET) for each in kept if each.path is not None]
        inbox.remove_files(services.paths.groups, folder, names)
        raise Unavailable(
            f"A file that came with a message could not be kept: {error.strerror}.",
            code=ErrorCode.STORE_UNAVAILABLE,
            suggestion="Make room on the disk: dovecote doctor",
        ) from error
    return tuple(kept)


def _keep(services: Services, folder: GroupFolder, file: ReceivedFile) -> Attachment:
    """Raises OSError when it can be kept later, and not now."""
    named = _named(file)
    if file.source is None:
        return named
    limit = services.settings.attachments.max_file_bytes
    try:
        name, size = inbox.keep_file(
            services.paths.groups, folder, file.source, _candidates(named.name), max_bytes=limit
        )
    except UnsafeEntry as error:
        why = error.message
    except OSError as error:
        if error.errno in DISK_TROUBLE:
            raise
        why = str(error.strerror or error)
    else:
        return replace(named, size_bytes=size, path=f"{_INBOX_TARGET}{name}")
    _log.warning("attachment.not_kept", group=folder, size_bytes=file.size_bytes, why=why)
    return named


def _candidates(name: str) -> list[str]:
    numbered = [numbered_name(name, number) for number in range(2, _NUMBERED_NAMES)]
    return [name, *numbered, f"{secrets.token_hex(8)}-{name}"]


def _named(file: ReceivedFile) -> Attachment:
    name = clean_file_name(file.name)
    kind = clean_file_text(file.media_type)[:_MAX_TYPE_CHARS] or media_type(name)
    return Attachment(name=name, media_type=kind, size_bytes=file.size_bytes)
