"""What stands under a name in a directory that a container can write, as values and rules."""

import os
import stat
from dataclasses import dataclass

from orchestrator.store.unsafe import HasLinks, NotRegular, TooLarge, Vanished


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMark:
    """What a file keeps when it is moved, and no other file has: inode, size and time of writing."""

    inode: int
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """A file's content with what tells it from another one of the same name."""

    raw: bytes
    inode: int
    ctime_ns: int
    mtime_ns: int

    @property
    def size(self) -> int:
        """Bytes that were read."""
        return len(self.raw)

    @property
    def mark(self) -> FileMark:
        """What it is known by under another name."""
        return FileMark(inode=self.inode, size=self.size, mtime_ns=self.mtime_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What stands under a name, links not followed. mode, device and inode as `stat` gives them.

    links: how many names it has.
    """

    name: str
    mode: int
    device: int
    inode: int
    links: int
    size: int
    mtime_ns: int
    uid: int
    gid: int

    @property
    def is_dir(self) -> bool:
        """Whether it is a real directory."""
        return stat.S_ISDIR(self.mode)


def entry_of(name: str, status: os.stat_result) -> Entry:
    """What `stat` said of `name`, as a value."""
    return Entry(
        name=name,
        mode=status.st_mode,
        device=status.st_dev,
        inode=status.st_ino,
        links=status.st_nlink,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        uid=status.st_uid,
        gid=status.st_gid,
    )


def mark_of(status: os.stat_result) -> FileMark:
    """What the file that `stat` spoke of is known by."""
    return FileMark(inode=status.st_ino, size=status.st_size, mtime_ns=status.st_mtime_ns)


def check_regular(name: str, status: os.stat_result, max_bytes: int) -> None:
    """Raise NotRegular, HasLinks, Vanished or TooLarge unless it is one file that may be read."""
    if not stat.S_ISREG(status.st_mode):
        raise NotRegular(name, f"is {_kind(status.st_mode)}, not a file")
    if status.st_nlink > 1:
        raise HasLinks(name, f"has {status.st_nlink} names")
    if status.st_nlink < 1:
        raise Vanished(name)
    if status.st_size > max_bytes:
        raise TooLarge(name, f"has {status.st_size} bytes; {max_bytes} is the limit")


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((word for is_kind, word in kinds if is_kind(mode)), "something else")
