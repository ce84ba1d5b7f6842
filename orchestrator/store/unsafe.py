"""What is refused on ground that a container can write, and how the system's errors become that."""

import errno
from types import TracebackType
from typing import Final, Self

from orchestrator.contracts.errors import DovecoteError, ErrorCode


class UnsafeEntry(DovecoteError):
    """An entry is not what it has to be. `name` may hold surrogates; the message does not."""

    code = ErrorCode.INVALID_REQUEST

    def __init__(self, name: str, what: str) -> None:
        self.name = name
        self.what = what
        super().__init__(f"{printable(name)!r} {what}.")


class NotRegular(UnsafeEntry):
    """A link, pipe, socket, device or directory where a file is wanted."""


class NotADir(UnsafeEntry):
    """A link, a file or anything else where a directory is wanted."""


class HasLinks(UnsafeEntry):
    """A file with more than one name: it may be somebody else's."""


class TooLarge(UnsafeEntry):
    """More bytes than the caller wants to read."""


class Unreadable(UnsafeEntry):
    """Its owner took away the right to read it."""


class Busy(UnsafeEntry):
    """It is being written, or held by a lease: later it may be right."""

    retryable = True


class Vanished(UnsafeEntry):
    """It is not there, or not any more."""

    code = ErrorCode.NOT_FOUND

    def __init__(self, name: str) -> None:
        super().__init__(name, "is not there")


def printable(name: str) -> str:
    """`name` with what is not UTF-8 in it shown as `\\xNN`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


HOST_TROUBLE: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO})
"""What says nothing of the entry: we are short of something, or the disk fails. Later it may be right."""
_NOT_A_FILE: Final = frozenset({errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR, errno.EMLINK})
_GONE: Final = frozenset({errno.ENOENT, errno.ESTALE})


class refusing:
    """Turns an OSError of the block into the kind of refusal that it means; others pass."""

    __slots__ = ("_is_dir", "_name")

    def __init__(self, name: str, *, is_dir: bool = False) -> None:
        self._name = name
        self._is_dir = is_dir

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, OSError):
            return
        number = error.errno
        if number in _GONE:
            raise Vanished(self._name) from error
        if number in (errno.EAGAIN, errno.ETXTBSY):
            raise Busy(self._name, "is held by a lease or a running program") from error
        if number in (errno.EACCES, errno.EPERM) and not self._is_dir:
            raise Unreadable(self._name, "is kept from us by its modes or owner") from error
        if number == errno.ENOTDIR or (self._is_dir and number in _NOT_A_FILE):
            raise NotADir(self._name, "is not a directory") from error
        if number in _NOT_A_FILE:
            raise NotRegular(self._name, "is not a file") from error
