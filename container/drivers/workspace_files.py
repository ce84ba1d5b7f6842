"""Files of a workspace, opened for a program that asks us to: component by component, without links.

Source: contracts.md section 3, the one opener.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import ErrorCode, Forbidden, LimitExceeded, NotFound, Unavailable
from orchestrator.contracts.wire.boxes import temporary_name

MAX_FILE_BYTES: Final = 10 * 1024**2
_NO_PLAIN_WAY: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.ENXIO})
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkspaceFiles:
    """Reads and writes below one directory. Methods block: call them in a thread.

    A path is absolute or relative to the root. Raises Forbidden for one that is outside or no plain file,
    NotFound, LimitExceeded for a file of more than 10 MiB, Unavailable when the disk refuses.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, path: str, *, line: int | None = None, limit: int | None = None) -> str:
        """The file's text. line: the first one wanted, from 1. limit: at most so many lines."""
        directories, name = self._parts(path)
        with self._directory(directories, path) as directory:
            content = _read(directory, name, path)
        text = content.decode("utf-8", "replace")
        if line is None and limit is None:
            return text
        first = max((line or 1) - 1, 0)
        lines = text.splitlines(keepends=True)
        return "".join(lines[first:] if limit is None else lines[first : first + limit])

    def write(self, path: str, text: str) -> None:
        """Put the text in the file's place in one step; missing directories are made."""
        content = text.encode("utf-8", "replace")
        if len(content) > MAX_FILE_BYTES:
            raise _too_large(path)
        directories, name = self._parts(path)
        with self._directory(directories, path, makes=True) as directory:
            _write(directory, name, content, path)

    def directory(self, path: str) -> str:
        """The path of a directory below the root, as a child process may be started in it."""
        directories, name = self._parts(path, may_be_root=True)
        with self._directory([*directories, name] if name else directories, path):
            return str(self._root.joinpath(*directories, name))

    def _parts(self, path: str, *, may_be_root: bool = False) -> tuple[list[str], str]:
        """The names on the way to a path, and the last one."""
        if not path.strip() or "\0" in path:
            raise _outside(path)
        below = os.path.normpath(path)
        if os.path.isabs(below):
            roots = {str(self._root), os.path.realpath(self._root)}
            root = next((root for root in roots if below == root or below.startswith(f"{root}/")), None)
            if root is None:
                raise _outside(path)
            below = os.path.relpath(below, root)
        parts = [part for part in below.split("/") if part != "."]
        if ".." in parts or (not parts and not may_be_root):
            raise _outside(path)
        return parts[:-1], parts[-1] if parts else ""

    @contextmanager
    def _directory(self, names: list[str], path: str, *, makes: bool = False) -> Iterator[int]:
        """The directory at the end of `names`, open."""
        directory = -1
        try:
            directory = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            for name in names:
                if makes:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=directory)
                below = os.open(name, _DIRECTORY, dir_fd=directory)
                os.close(directory)
                directory = below
            yield directory
        except OSError as error:
            raise _refused(error, path) from error
        finally:
            if directory >= 0:
                os.close(directory)


def _read(directory: int, name: str, path: str) -> bytes:
    with open(os.open(name, _READ, dir_fd=directory), "rb") as file:
        _check_plain(os.fstat(file.fileno()), path)
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise _too_large(path)
    return content


def _write(directory: int, name: str, content: bytes, path: str) -> None:
    mode = 0o644
    with suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        _check_plain(status, path)
        mode = stat.S_IMODE(status.st_mode) & 0o777
    # A long name has no room for the temporary one's signs.
    temporary = temporary_name(name[:60])
    with suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=directory)
    with open(os.open(temporary, _MAKE, mode, dir_fd=directory), "wb") as file:
        file.write(content)
    os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def _check_plain(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        raise Forbidden(
            f"{path!r} is not a plain file with one name.", suggestion="Use a plain file of the workspace."
        )


def _outside(path: str) -> Forbidden:
    return Forbidden(f"{path!r} is outside of the workspace.", suggestion="Use a path of the workspace.")


def _too_large(path: str) -> LimitExceeded:
    return LimitExceeded(
        f"{path!r} has more than {MAX_FILE_BYTES} bytes.", suggestion="Use a command for so large a file."
    )


def _refused(error: OSError, path: str) -> Forbidden | NotFound | Unavailable:
    if isinstance(error, FileNotFoundError):
        return NotFound(f"There is no {path!r}.", suggestion="Look at what the directory holds.")
    if error.errno in _NO_PLAIN_WAY:
        return Forbidden(
            f"{path!r} leads through a link or something else than directories.",
            suggestion="Use a path without links.",
        )
    return Unavailable(
        f"{path!r} can't be used: {error.strerror}.",
        code=ErrorCode.STORE_UNAVAILABLE,
        suggestion="Look at the disk, then try again.",
    )
