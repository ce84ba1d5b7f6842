"""What a start needs of a group's folder: the operator's text, and a workspace that is the agent's own."""

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

from orchestrator.contracts.ids import GroupFolder
from orchestrator.store.group_folders import AGENT_FILE, WORKSPACE, give_dir, group_workspace
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry, Vanished

SENDERS_FILE: Final = "senders.toml"
_MAX_AGENT_FILE_BYTES: Final = 256 * 1024
_MAX_SENDERS_FILE_BYTES: Final = 256 * 1024


def read_instructions(groups: Path, folder: str) -> str:
    """The operator's `AGENT.md` of a group; empty when there is none. It is never mounted.

    Raises OSError when it is there and can't be read, UnicodeDecodeError when it is not UTF-8.
    """
    try:
        with SafeDir.open(groups / folder) as group:
            return group.read(AGENT_FILE, _MAX_AGENT_FILE_BYTES).raw.decode("utf-8")
    except FileNotFoundError:
        return ""
    except Vanished:
        return ""
    except UnsafeEntry as error:
        raise _failed(groups / folder / AGENT_FILE, error) from error


def read_senders_file(groups: Path, folder: str) -> bytes | None:
    """The operator's `senders.toml` of a group; None when there is none. It is never mounted.

    Raises FileNotFoundError when the group's folder is not there, UnsafeEntry for what is no plain
    file, and OSError when it can't be read.
    """
    try:
        group = SafeDir.open(groups / folder)
    except Vanished:
        raise FileNotFoundError(groups / folder) from None
    with group:
        try:
            return group.read(SENDERS_FILE, _MAX_SENDERS_FILE_BYTES).raw
        except Vanished:
            return None


def give_workspace(groups: Path, folder: GroupFolder, *, uid: int | None, gid: int | None) -> Path:
    """The workspace of a group, there and owned by its agent. A folder that is gone is made again.

    Raises OSError, also when a link or a file is in the way.
    """
    mode = 0o700 if uid is None else 0o711
    try:
        with SafeDir.open(groups) as parent:
            if parent.entry(folder) is None:
                parent.make_child(folder, mode=mode).close()
            with parent.own_child(folder) as group:
                group.give(mode=mode)
                _keep_private(group)
                if group.entry(WORKSPACE) is None:
                    group.make_child(WORKSPACE, mode=0o700, uid=uid, gid=gid).close()
                with group.own_child(WORKSPACE) as workspace:
                    _hand_over(workspace, uid=uid, gid=gid)
    except UnsafeEntry as error:
        raise _failed(groups / folder, error) from error
    return group_workspace(groups, folder)


def give_home(home: Path, *, uid: int | None, gid: int | None) -> None:
    """The session home of an agent, there, owned by it and open to it, whatever it did to its modes.

    Raises OSError, also when a link or a file is in the way.
    """
    home.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    if uid is not None:
        # Our umask lets nobody through what we make.
        home.parent.chmod(0o711)
    try:
        with SafeDir.open(home.parent) as parent:
            # A child of an agent that starts may need its parent's place at the same moment.
            with contextlib.suppress(FileExistsError):
                parent.make_child(home.name, mode=0o700, uid=uid, gid=gid).close()
            with parent.own_child(home.name) as itself:
                itself.give(mode=0o700, uid=uid, gid=gid)
    except UnsafeEntry as error:
        raise _failed(home, error) from error


def _failed(path: Path, error: UnsafeEntry) -> OSError:
    return OSError(f"{path}: {error.message.removesuffix('.')}")


def _keep_private(group: SafeDir) -> None:
    """The operator's texts are nobody else's to read, whatever modes a checkout gave them."""
    for name in (AGENT_FILE, SENDERS_FILE):
        entry = group.entry(name)
        if entry is None or not stat.S_ISREG(entry.mode) or entry.uid != os.geteuid():
            continue
        if entry.mode & 0o077:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=group.fileno())
            try:
                os.fchmod(descriptor, 0o600)
            finally:
                os.close(descriptor)


def _hand_over(workspace: SafeDir, *, uid: int | None, gid: int | None) -> None:
    if uid is None or gid is None:
        return
    entry = workspace.itself()
    if entry.uid != uid:
        give_dir(workspace, uid=uid, gid=gid)
        workspace.give(mode=stat.S_IMODE(entry.mode), uid=uid, gid=gid)
