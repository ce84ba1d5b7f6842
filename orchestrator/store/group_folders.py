"""The folder of a group: the operator's `AGENT.md`, and the workspace that the agent may write."""

import os
import stat
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import Conflict, ErrorCode, InvalidRequest, Unavailable
from orchestrator.contracts.ids import GroupFolder, is_folder_name
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry

AGENT_FILE: Final = "AGENT.md"
WORKSPACE: Final = "workspace"
MEMORY_FILE: Final = "MEMORY.md"
_MAX_ENTRIES: Final = 100_000


def group_workspace(groups: Path, folder: GroupFolder) -> Path:
    """Where the agent's files of that group lie. groups: the directory that holds all groups' folders."""
    return groups / folder / WORKSPACE


def create_group_folder(
    groups: Path,
    folder: GroupFolder,
    *,
    template: str,
    uid: int | None = None,
    gid: int | None = None,
    adopt: bool = False,
) -> None:
    """Make the folder of a new group, with its `AGENT.md`, its workspace and an empty `MEMORY.md`.

    template: what `AGENT.md` says at first; one that is there is never touched. uid, gid: who the
    agent is on the host; None: we. adopt: a folder that is there is taken over and what it lacks is
    added. Blocks. Raises InvalidRequest, Conflict, Unavailable.
    """
    _check_name(groups, folder, adopt=adopt)
    try:
        with SafeDir.open(groups) as parent:
            if parent.entry(folder) is None:
                parent.make_child(folder, mode=0o700).close()
            with parent.child(folder) as group:
                # A container's user has to get through to the workspace, and sees nothing on the way.
                group.give(mode=0o700 if uid is None else 0o711)
                if group.entry(AGENT_FILE) is None:
                    group.write_atomically(AGENT_FILE, template.encode(), is_durable=True)
                _make_workspace(group, uid=uid, gid=gid)
    except UnsafeEntry as error:
        raise Conflict(
            f"The folder {groups / folder} cannot be used: {error.message}",
            suggestion="Put a real directory in the place of the link or file.",
        ) from error
    except OSError as error:
        raise Unavailable(
            f"The folder {groups / folder} could not be made: {error.strerror}.",
            suggestion="Check the free space and who may write there.",
        ) from error


def check_folder_is_free(groups: Path, folder: GroupFolder) -> None:
    """Return if a new group may have this folder. Blocks. Raises InvalidRequest, Conflict, Unavailable."""
    try:
        _check_name(groups, folder, adopt=False)
    except OSError as error:
        raise Unavailable(f"{groups} could not be read: {error.strerror}.") from error


def _check_name(groups: Path, folder: GroupFolder, *, adopt: bool) -> None:
    if not is_folder_name(folder):
        raise InvalidRequest(
            f"{folder!r} cannot be a folder's name.",
            suggestion="Use up to 64 of a-z, 0-9, - and _, starting with a letter or digit; "
            "not global, errors or a reserved device name.",
        )
    taken = [name for name in os.listdir(groups) if name.casefold() == folder]
    clash = next((name for name in taken if name != folder), None)
    if clash is not None:
        raise Conflict(
            f"The folder {folder!r} would differ from {clash!r} in {groups} by letter case only.",
            suggestion="Choose another folder name.",
        )
    if not taken:
        return
    if not stat.S_ISDIR(os.lstat(groups / folder).st_mode):
        raise Conflict(
            f"{groups / folder} is not a directory; a link is not followed.",
            suggestion="Move it away or choose another folder name.",
        )
    if not adopt:
        raise Conflict(
            f"The folder {groups / folder} already exists.",
            code=ErrorCode.ALREADY_REGISTERED,
            suggestion="Choose another folder name, or take it over with all that is in it by --adopt.",
        )


def _make_workspace(group: SafeDir, *, uid: int | None, gid: int | None) -> None:
    is_new = group.entry(WORKSPACE) is None
    if is_new:
        group.make_child(WORKSPACE, mode=0o700, uid=uid, gid=gid).close()
    with group.child(WORKSPACE) as workspace:
        if not is_new and uid is not None:
            give_dir(workspace, uid=uid, gid=-1 if gid is None else gid)
        workspace.give(mode=0o700, uid=uid, gid=gid)
        if workspace.entry(MEMORY_FILE) is None:
            workspace.write_atomically(MEMORY_FILE, b"", uid=uid, gid=gid)


def give_dir(top: SafeDir, *, uid: int, gid: int) -> None:
    """Make all that lies in an adopted workspace the agent's own; never through a link.

    A file with a second name somewhere else keeps its owner: it may be another's.
    """
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        below = waiting.pop()
        with top.descend(below) as here:
            for entry in here.entries(_MAX_ENTRIES):
                is_linked = stat.S_ISREG(entry.mode) and entry.links > 1
                if not is_linked:
                    os.chown(entry.name, uid, gid, dir_fd=here.fileno(), follow_symlinks=False)
                if entry.is_dir:
                    waiting.append((*below, entry.name))
