"""One Dovecote a home: a lock held for life, which the kernel gives back when its holder dies."""

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.contracts.os_errors import advice_for

_TRIES: Final = 200
_LOOK_S: Final = 0.002
"""Longer than `holder_pid` holds what it looks at, unless its process is not scheduled."""
_PID_BYTES: Final = 32


class InstanceLock:
    """The lock, once it is ours; `release` or the end of the process gives it back."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, path: Path, *, pid: int) -> Self:
        """Take the lock at `path` and write `pid` into it. A dead holder's lock is free at once.

        Raises DovecoteError: ALREADY_RUNNING, naming the holder, or STORE_UNAVAILABLE.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise _cannot_lock(path, error) from error
        try:
            if not _lock(descriptor):
                raise _already_running(_read_pid(descriptor))
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{pid}\n".encode(), 0)
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, OSError):
                raise _cannot_lock(path, error) from error
            raise
        return cls(descriptor)

    def release(self) -> None:
        """Give the lock back. The file stays, empty: removing it would let two processes hold two files."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            with contextlib.suppress(OSError):  # a full or broken disk must not keep the lock
                os.ftruncate(descriptor, 0)
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def holder_pid(path: Path) -> int | None:
    """The pid of the process that holds the lock; None when none does. Takes nothing away from anybody."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read_pid(descriptor)
    else:
        return None
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Take the exclusive lock; False when another process lives with it.

    `holder_pid` shares the lock for microseconds to look at it. Such a look is told from a holder by
    sharing it ourselves, and waited out.
    """
    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
        else:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        time.sleep(_LOOK_S)
    return False


def _read_pid(descriptor: int) -> int | None:
    word = os.pread(descriptor, _PID_BYTES, 0).strip()
    return int(word) if word.isdigit() else None


def _already_running(pid: int | None) -> DovecoteError:
    named = f"process {pid}" if pid is not None else "another process"
    stop = f" or stop it with `kill {pid}`" if pid is not None else ""
    return DovecoteError(
        f"Dovecote already runs in this home, as {named}.",
        code=ErrorCode.ALREADY_RUNNING,
        suggestion=f"Use the running one{stop}, or name another home with --home.",
        details={} if pid is None else {"pid": pid},
    )


def _cannot_lock(path: Path, error: OSError) -> DovecoteError:
    return DovecoteError(
        f"The lock {path} cannot be taken: {error.strerror}.",
        code=ErrorCode.STORE_UNAVAILABLE,
        suggestion=advice_for(error),
    )
