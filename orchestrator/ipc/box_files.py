"""What ends a request in a box: its answer, and the removal of its file. Blocking.

It works on descriptors alone, so the clerk does the same with those that it was handed.
Source: contracts.md section 3.
"""

import os
import secrets
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from orchestrator.contracts.wire.boxes import REPLIES
from orchestrator.store.entry import FileMark, ReadFile
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import NotRegular, Unreadable, UnsafeEntry, Vanished

REQUEST_SUFFIX: Final = ".json"
TAKEN: Final = ".taken"
"""How the names begin under which request files wait in the host's own directory for their removal."""
ASIDE: Final = ".aside-"


class BoxFiles:
    """The directories of one box. readers_gid: whose group reads what we write; None: our own user does."""

    def __init__(self, root: SafeDir, directories: Mapping[str, SafeDir], *, readers_gid: int | None) -> None:
        self.root = root
        self.directories = directories
        self.readers_gid = readers_gid

    @cached_property
    def identity(self) -> tuple[int, int]:
        """What tells the box from every other: device and inode of its own directory."""
        itself = self.root.itself()
        return itself.device, itself.inode

    def directory(self, name: str) -> SafeDir:
        """One of the directories. An agent of our own user may have closed it: it is opened again."""
        self.root.mend()
        directory = self.directories[name]
        directory.mend()
        return directory

    def read(self, directory: str, name: str, max_bytes: int) -> ReadFile:
        """The content of a request file. Raises UnsafeEntry kinds."""
        try:
            return self.directories[directory].read(name, max_bytes)
        except Unreadable:  # perhaps only because the directory was closed
            return self.directory(directory).read(name, max_bytes)

    def write_reply(self, request_id: str, raw: bytes) -> None:
        """Put an answer into `replies`, in one step. `request_id` must keep the rule of names."""
        self.write_readable(self.directory(REPLIES), f"{request_id}{REQUEST_SUFFIX}", raw)

    def write_readable(self, directory: SafeDir, name: str, raw: bytes) -> None:
        """A file that the agent can read, by its group, and not write."""
        mode = 0o600 if self.readers_gid is None else 0o640
        directory.write_atomically(name, raw, mode=mode, gid=self.readers_gid)

    def take_out(self, directory: str, name: str, seen: FileMark) -> bool:
        """Move the file that was read as `seen` out of the agent's reach, to be removed from there.

        It is compared in the host's own directory, where nobody can exchange it: by inode, size and time
        of writing, since moving changes the inode's own time. False if it is another one: that goes back
        under a fresh name that sorts beside the old one, and is a request of its own.
        Raises Vanished when nothing has that name any more.
        """
        taken = taken_name(directory, seen)
        self._move_out(directory, name, taken)
        if self.root.mark(taken) in (seen, None):
            return True
        fresh = f"{name.removesuffix(REQUEST_SUFFIX)[:100]}-{secrets.token_hex(4)}{REQUEST_SUFFIX}"
        self.root.rename(taken, fresh, to=self.directories[directory])
        return False

    def remove_taken(self, directory: str, seen: FileMark) -> None:
        """Remove what `take_out` has moved. No error if it is gone."""
        self.root.remove(taken_name(directory, seen))

    def write_reply_into(self, directory: str, seen: FileMark, request_id: str, raw: bytes) -> bool:
        """As `write_reply`, in a file that `take_out` moved, and that is not removed any more then.

        A file system finds no place for a new file as quickly. Its agent may still have it open, and so
        spoil an answer of its own; nobody else reads it. False if the file cannot be used for that.
        """
        taken = taken_name(directory, seen)
        mode = 0o600 if self.readers_gid is None else 0o640
        replies = self.directory(REPLIES)
        if not self.root.rewrite(taken, raw, seen=seen, mode=mode, uid=os.geteuid(), gid=self.readers_gid):
            return False
        self.root.rename(taken, f"{request_id}{REQUEST_SUFFIX}", to=replies)
        return True

    def end_taken(self) -> None:
        """Remove what an earlier process had moved out: its effects were committed before that."""
        for taken in [entry.name for entry in self.root.scan() if entry.name.startswith(TAKEN)]:
            self._clear(taken)

    def close(self) -> None:
        """Give the descriptors back. May be called again."""
        for directory in self.directories.values():
            directory.close()
        self.root.close()

    def _move_out(self, directory: str, name: str, taken: str) -> None:
        """Raises UnsafeEntry or OSError where that cannot be; then it is still there."""
        try:
            self.directories[directory].rename(name, taken, to=self.root)
        except Vanished:
            raise
        except UnsafeEntry:
            self._clear(taken)
            self.directory(directory).rename(name, taken, to=self.root)

    def _clear(self, taken: str) -> None:
        """Nothing lies under that name after this, also where an agent without walls put a directory."""
        try:
            self.root.remove(taken)
        except NotRegular:
            self.root.mend_child(taken)
            self.root.rename(taken, aside(), to=self.root)


def taken_name(directory: str, seen: FileMark) -> str:
    """Under which name a request file waits for its removal; no other file that waits has it."""
    return f"{TAKEN}-{directory}-{seen.inode:x}-{seen.size:x}-{seen.mtime_ns:x}"


def aside() -> str:
    """A name in the host's own directory for what is in the way."""
    return f"{ASIDE}{secrets.token_hex(8)}"
