"""Copies one file onto or off ground that a container can write, piece by piece. Blocking.

Source: contracts.md section 3.
"""

import contextlib
import os
import stat
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from orchestrator.store.entry import check_regular
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import Busy, NotRegular, TooLarge

_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose a file is on the host, where we may give it away."""

    uid: int
    gid: int


def copy_file(source: SafeDir, name: str, target: SafeDir, new_name: str, *, max_bytes: int) -> int:
    """Copy the regular file `name`, that has one link, to the new file `new_name`; its size in bytes.

    The copy is on the disk, and not only in its cache, when this returns; of a failure nothing is left.
    Raises FileExistsError when `new_name` is taken, what `SafeDir.read` raises for `name`, Busy when it
    changed meanwhile, and OSError for a failing or full disk.
    """
    with _new_file(target, new_name, owner=None) as written, _regular(source, name, max_bytes) as read:
        return _pump(read, written, name, max_bytes)


def copy_trusted(source: Path, target: SafeDir, new_name: str, *, max_bytes: int, owner: Owner | None) -> int:
    """As `copy_file`, of a file that no container can write; it may have many names.

    owner: whose the copy is; None: ours. Raises NotRegular, TooLarge, FileExistsError, OSError.
    """
    with _new_file(target, new_name, owner=owner) as written:
        read = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        try:
            if not stat.S_ISREG(os.fstat(read).st_mode):
                raise NotRegular(source.name, "is not a file")
            return _pump(read, written, source.name, max_bytes)
        finally:
            os.close(read)


@contextlib.contextmanager
def _new_file(target: SafeDir, name: str, *, owner: Owner | None) -> Generator[int]:
    """A descriptor to write it; on the disk when this is left, and gone when it is left by an error."""
    written = target.create(name)
    try:
        yield written
        if owner is not None:
            os.fchown(written, owner.uid, owner.gid)
        os.fsync(written)
        os.fsync(target.fileno())
    except BaseException:
        target.remove(name)
        raise
    finally:
        os.close(written)


@contextlib.contextmanager
def _regular(source: SafeDir, name: str, max_bytes: int) -> Generator[int]:
    """A descriptor of the file; it must be the same, and unchanged, when this is left."""
    fd = source.open_regular(name, max_bytes)
    try:
        before = os.fstat(fd)
        check_regular(name, before, max_bytes)
        yield fd
        after = os.fstat(fd)
        if _moment(before) != _moment(after):
            raise Busy(name, "changed while it was read")
    finally:
        os.close(fd)


def _moment(status: os.stat_result) -> tuple[int, ...]:
    # A disk's clock may be so coarse that two changes share their instant: the rest shows more of them.
    return status.st_size, status.st_ctime_ns, status.st_nlink, status.st_mode


def _pump(read: int, written: int, name: str, max_bytes: int) -> int:
    size = 0
    while piece := os.read(read, _PIECE_BYTES):
        size += len(piece)
        if size > max_bytes:
            raise TooLarge(name, f"has more than {max_bytes} bytes")
        left = memoryview(piece)
        while left:
            left = left[os.write(written, left) :]
    return size
