"""The one way onto ground that a container can write: opened once, relative to that, never by a link.

A name is always one component below a descriptor, so nothing that is put in the place of a directory
or a file later can lead anywhere else. Everything here blocks: callers use a thread.
Source: contracts.md section 3.
"""

import contextlib
import errno
import itertools
import os
import secrets
import stat
from collections.abc import Generator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from orchestrator.store.entry import Entry, FileMark, ReadFile, check_regular, entry_of, mark_of
from orchestrator.store.unsafe import Busy, TooLarge, UnsafeEntry, refusing

_DIR_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_REWRITE_FLAGS: Final = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class SafeDir:
    """A directory held by its descriptor. Names may hold bytes that are not UTF-8, as surrogates.

    Methods may run in any thread, but not while another one calls `close`. All raise `UnsafeEntry`
    kinds for what they refuse, Vanished for what is not there, and OSError for a failing disk.
    """

    def __init__(self, descriptor: int) -> None:
        self._fd = descriptor

    @classmethod
    def open(cls, path: Path) -> Self:
        """The directory at `path`, whose parents are trusted; the last component must not be a link."""
        with refusing(str(path), is_dir=True):
            return cls(os.open(path, _DIR_FLAGS))

    def child(self, name: str) -> "SafeDir":
        """The directory `name` in this one."""
        with refusing(name, is_dir=True):
            return SafeDir(os.open(_one(name), _DIR_FLAGS, dir_fd=self._fd))

    def own_child(self, name: str) -> "SafeDir":
        """As `child`, of a directory whose rights our own user may have taken away: they are given back."""
        self.mend_child(name)
        return self.child(name)

    def descend(self, names: Sequence[str]) -> "SafeDir":
        """The directory that lies below this one by `names`, each opened in the one before."""
        here = SafeDir(os.open(".", _DIR_FLAGS, dir_fd=self._fd))
        for name in names:
            try:
                below = here.child(name)
            finally:
                here.close()
            here = below
        return here

    def make_child(
        self, name: str, *, mode: int, uid: int | None = None, gid: int | None = None
    ) -> "SafeDir":
        """Make the directory `name` with exactly that mode and owner, and open it.

        Raises FileExistsError when something stands there.
        """
        os.mkdir(_one(name), 0o700, dir_fd=self._fd)
        made = self.child(name)
        try:
            made.give(mode=mode, uid=uid, gid=gid)
        except BaseException:
            made.close()
            raise
        return made

    def give(self, *, mode: int, uid: int | None = None, gid: int | None = None) -> None:
        """Set owner and mode of this directory itself. None: that owner or group stays."""
        if uid is not None or gid is not None:
            os.fchown(self._fd, -1 if uid is None else uid, -1 if gid is None else gid)
        os.fchmod(self._fd, mode)

    def mend(self) -> None:
        """Give ourselves back the rights on this directory, if our own user took them away."""
        mode = stat.S_IMODE(os.fstat(self._fd).st_mode)
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            with contextlib.suppress(OSError):  # another's: what follows fails and says so
                os.fchmod(self._fd, mode | stat.S_IRWXU)

    def mend_child(self, name: str) -> None:
        """As `mend`, of the directory `name`, which need not let itself be opened. A link stays as it is."""
        entry = self.entry(name)
        closed = entry is not None and entry.is_dir and entry.mode & stat.S_IRWXU != stat.S_IRWXU
        if entry is None or not closed or not hasattr(os, "O_PATH"):
            return
        # Opened as a mere place, which needs no right on it.
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        with contextlib.suppress(OSError):  # what follows fails and says so
            fd = os.open(_one(name), flags, dir_fd=self._fd)
            try:
                os.chmod(f"/proc/self/fd/{fd}", stat.S_IMODE(entry.mode) | stat.S_IRWXU)
            finally:
                os.close(fd)

    def names(self, limit: int) -> tuple[list[str], bool]:
        """Up to `limit` names in order, and whether there are more. Which ones, if so, is not said."""
        names = [entry.name for entry in itertools.islice(self.scan(), limit + 1)]
        more = len(names) > limit
        return sorted(names[:limit]), more

    def entries(self, limit: int) -> list[Entry]:
        """What stands under up to `limit` names, in no order; what vanished meanwhile is left out."""
        found = (self.entry(name) for name in self.names(limit)[0])
        return [entry for entry in found if entry is not None]

    def entry(self, name: str) -> Entry | None:
        """What stands under `name`; None if nothing does."""
        try:
            status = os.stat(_one(name), dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return entry_of(name, status)

    def stamp(self, name: str) -> tuple[int, int, int] | None:
        """Device, inode and time of the last change in nanoseconds of `name`; None if nothing is there."""
        try:
            status = os.stat(_one(name), dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino, status.st_mtime_ns

    def mark(self, name: str) -> FileMark | None:
        """What the file under `name` is known by; None if nothing is there. A link is not followed."""
        try:
            status = os.stat(_one(name), dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return mark_of(status)

    def itself(self) -> Entry:
        """This directory's own entry, without a name."""
        return entry_of("", os.fstat(self._fd))

    def mtime_ns(self) -> int:
        """When an entry was last added, renamed or removed."""
        return os.fstat(self._fd).st_mtime_ns

    def open_regular(self, name: str, max_bytes: int) -> int:
        """A descriptor to read the file `name`, for the caller to check once more and to close.

        Raises as `read` does.
        """
        with refusing(name):
            # Looked at before it is opened: opening a device may already do something.
            check_regular(name, os.stat(_one(name), dir_fd=self._fd, follow_symlinks=False), max_bytes)
            return os.open(name, _READ_FLAGS, dir_fd=self._fd)

    def create(self, name: str) -> int:
        """A descriptor to write the new file `name`, ours alone, for the caller to close.

        Raises FileExistsError when anything stands there, a link too.
        """
        with refusing(name):
            return os.open(_one(name), _WRITE_FLAGS, 0o600, dir_fd=self._fd)

    def read(self, name: str, max_bytes: int) -> ReadFile:
        """The content of the regular file `name` that has one link and at most `max_bytes`.

        Raises NotRegular, HasLinks, TooLarge, Vanished, Unreadable; Busy when it changed while it was
        read, or is held by a lease: try again later.
        """
        fd = self.open_regular(name, max_bytes)
        try:
            before = os.fstat(fd)
            check_regular(name, before, max_bytes)
            raw = _read_up_to(fd, max_bytes + 1, expected=before.st_size)
            after = os.fstat(fd)
        finally:
            os.close(fd)
        if len(raw) > max_bytes:
            raise TooLarge(name, f"has more than {max_bytes} bytes")
        if len(raw) != after.st_size or _moment(before) != _moment(after):
            raise Busy(name, "changed while it was read")
        return ReadFile(
            raw=raw, inode=before.st_ino, ctime_ns=before.st_ctime_ns, mtime_ns=before.st_mtime_ns
        )

    def write_new(
        self,
        name: str,
        raw: bytes,
        *,
        mode: int = 0o600,
        uid: int | None = None,
        gid: int | None = None,
        is_durable: bool = False,
    ) -> None:
        """Make the file `name`. Raises FileExistsError when anything stands there, a link too.

        is_durable: on the disk, and not only in its cache, when this returns.
        """
        fd = self.create(name)
        try:
            if uid is not None or gid is not None:
                os.fchown(fd, -1 if uid is None else uid, -1 if gid is None else gid)
            os.fchmod(fd, mode)
            _write_all(fd, raw)
            if is_durable:
                os.fsync(fd)
        except BaseException:
            self.remove(name)
            raise
        finally:
            os.close(fd)

    def write_atomically(
        self,
        name: str,
        raw: bytes,
        *,
        mode: int = 0o600,
        uid: int | None = None,
        gid: int | None = None,
        is_durable: bool = False,
    ) -> None:
        """Make `name` hold `raw`, in one step for whoever looks. What stood there, a link too, is replaced.

        Raises NotRegular when a directory stands there.
        """
        unfinished = f".{secrets.token_hex(8)}.tmp"
        self.write_new(unfinished, raw, mode=mode, uid=uid, gid=gid, is_durable=is_durable)
        try:
            self.rename(unfinished, name)
        except BaseException:
            self.remove(unfinished)
            raise
        if is_durable:
            os.fsync(self._fd)

    def rewrite(
        self, name: str, raw: bytes, *, seen: FileMark, mode: int, uid: int, gid: int | None = None
    ) -> bool:
        """Make the file `name` hold `raw`, as `write_new` would, if it still is the one known by `seen`.

        False, with the file as it was, if it is another one, has more names, is held by a lease or is
        not ours to change. Whoever has it open goes on reading and writing it.
        """
        try:
            with refusing(name):
                fd = os.open(_one(name), _REWRITE_FLAGS, dir_fd=self._fd)
        except UnsafeEntry:
            return False
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or mark_of(status) != seen:
                return False
            with contextlib.suppress(PermissionError):
                os.fchown(fd, uid, -1 if gid is None else gid)
                os.fchmod(fd, mode)
                _write_all(fd, raw)
                if len(raw) != status.st_size:
                    os.ftruncate(fd, len(raw))
                return True
            return False
        finally:
            os.close(fd)

    def rename(self, old: str, new: str, *, to: "SafeDir | None" = None) -> None:
        """Move the entry `old`, whatever it is, to `new` here or in `to`; a file there is replaced."""
        target = self if to is None else to
        with refusing(old):
            os.rename(_one(old), _one(new), src_dir_fd=self._fd, dst_dir_fd=target._fd)

    def remove(self, name: str) -> bool:
        """Remove the entry `name`, itself and not what it links to; False if it was gone.

        Raises NotRegular for a directory.
        """
        with refusing(name):
            try:
                os.unlink(_one(name), dir_fd=self._fd)
            except FileNotFoundError:
                return False
        return True

    def remove_empty(self, name: str) -> None:
        """Remove the empty directory `name`. Raises OSError if it is not empty."""
        with refusing(name, is_dir=True):
            os.rmdir(_one(name), dir_fd=self._fd)

    def close(self) -> None:
        """Give the descriptor back. May be called again."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def fileno(self) -> int:
        """The descriptor, for what has to be done relative to it."""
        return self._fd

    def scan(self) -> Generator[os.DirEntry[str]]:
        """Every entry, in no order; the kinds are those at the time of the reading."""
        # A descriptor of its own: two scans of the same one would share their place.
        with refusing(".", is_dir=True):
            fd = os.open(".", _DIR_FLAGS, dir_fd=self._fd)
        try:
            with os.scandir(fd) as entries:
                yield from entries
        finally:
            os.close(fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _one(name: str) -> str:
    """`name`, which must be one component: an error of ours if it is not."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise ValueError(f"not a name of one component: {name!r}")
    return name


def _moment(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_ctime_ns


def _read_up_to(fd: int, count: int, *, expected: int) -> bytes:
    raw = os.read(fd, min(count, expected + 1))
    if len(raw) != expected and raw:
        parts, size = [raw], len(raw)
        while size < count and (part := os.read(fd, min(count - size, 1 << 20))):
            parts.append(part)
            size += len(part)
        raw = b"".join(parts)
    return raw


def _write_all(fd: int, raw: bytes) -> None:
    view = memoryview(raw)
    while view:
        written = os.write(fd, view)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]
