"""`inbox/` of a workspace: files that people sent, beside whatever the agent does there. Blocking.

Source: contracts.md section 3.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from orchestrator.contracts.ids import GroupFolder, Jid, MessageId
from orchestrator.store.group_folders import WORKSPACE
from orchestrator.store.safe_copy import Owner, copy_trusted
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.transaction import Transaction
from orchestrator.store.unsafe import UnsafeEntry

INBOX: Final = "inbox"
ATTACHMENTS: Final = """
SELECT attachments FROM messages
 WHERE chat_jid = :chat AND message_id IN (SELECT value FROM json_each(:message_ids))
"""


def keep_file(
    groups: Path, folder: GroupFolder, source: Path, names: Sequence[str], *, max_bytes: int
) -> tuple[str, int]:
    """Copy a file into the group's inbox, under the first free one of `names`; that name, and its size.

    Raises UnsafeEntry when the agent put something else in the inbox's place or the file is too large,
    OSError for a failing or full disk.
    """
    with _open_workspace(groups, folder) as workspace:
        itself = workspace.itself()
        owner = Owner(uid=itself.uid, gid=itself.gid) if os.geteuid() == 0 else None
        with _open_inbox(workspace, owner) as inbox:
            for name in names:
                with contextlib.suppress(FileExistsError):
                    return name, copy_trusted(source, inbox, name, max_bytes=max_bytes, owner=owner)
    raise FileExistsError("none of the names is free")


def remove_files(groups: Path, folder: GroupFolder, names: Sequence[str]) -> None:
    """Take files out of the inbox again; what cannot be removed stays there."""
    with (
        contextlib.suppress(UnsafeEntry, OSError),
        _open_workspace(groups, folder) as workspace,
        workspace.child(INBOX) as inbox,
    ):
        for name in names:
            inbox.remove(name)


def stored_paths(tx: Transaction, chat: Jid, message_ids: Sequence[MessageId]) -> list[str]:
    """Where the attachments of stored messages lie, as their agent sees them."""
    rows = tx.all(ATTACHMENTS, {"chat": chat, "message_ids": json.dumps(list(message_ids))})
    kept = [json.loads(row["attachments"]) for row in rows if row["attachments"] is not None]
    return [path for files in kept for *_, path in files if path is not None]


def _open_workspace(groups: Path, folder: GroupFolder) -> SafeDir:
    with SafeDir.open(groups) as parent, parent.child(folder) as group:
        return group.own_child(WORKSPACE)


def _open_inbox(workspace: SafeDir, owner: Owner | None) -> SafeDir:
    if workspace.entry(INBOX) is None:
        uid, gid = (None, None) if owner is None else (owner.uid, owner.gid)
        with contextlib.suppress(FileExistsError):
            return workspace.make_child(INBOX, mode=0o700, uid=uid, gid=gid)
    return workspace.own_child(INBOX)
