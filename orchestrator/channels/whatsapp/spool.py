"""What the network handed over, on disk until the orchestrator has stored it. Used by the child only.

One file an event, named by a growing number, with the bytes as the library gave them: what can't be read
today is there to be read by a better reader. A file that came with an event lies beside it until its end.
What somebody else put there is left alone.
"""

import os
import re
import zlib
from pathlib import Path
from typing import Final

# No row of ours comes near the end of its digits: behind one that did no name would sort any more.
_ROW: Final = re.compile(r"0[0-9]{15}\.row")
_UNFINISHED: Final = re.compile(r"\.(0[0-9]{15}\.row)\.tmp")
_TAKEN: Final = re.compile(r"\.?(0[0-9]{15})\.row(?:\.tmp)?")
_SUM_BYTES: Final = 4
_BAD: Final = "bad"
_KEEP_BAD: Final = 200
_FILES: Final = "files"


class SpoolRows:
    """The rows of one directory, which one process writes."""

    def __init__(self, directory: Path) -> None:
        """Make the directory, and take over what an earlier process had written. Raises OSError."""
        self._directory = directory
        for part in (_BAD, _FILES):
            (directory / part).mkdir(mode=0o700, parents=True, exist_ok=True)
        self._finish_begun()
        self._drop_lone_files()
        names = [*os.listdir(directory), *os.listdir(directory / _BAD)]
        taken = (match for name in names if (match := _TAKEN.fullmatch(name)) is not None)
        self._next = 1 + max((int(match[1]) for match in taken), default=0)

    def add(self, raw: bytes) -> str:
        """A new row; it survives a power cut when this returns its name. Called from one thread at a time.

        Raises OSError: it is not there then, or not for certain.
        """
        name = f"{self._next:016d}.row"
        self._next += 1
        unfinished = self._directory / f".{name}.tmp"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb", buffering=0) as file:
                left = memoryview(_summed(raw))
                while left:
                    left = left[file.write(left) :]
                os.fsync(descriptor)
            unfinished.rename(self._directory / name)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
        _sync(self._directory)
        return name

    def names(self) -> list[str]:
        """All rows, oldest first."""
        return _rows_in(self._directory)

    def read(self, name: str) -> bytes:
        """The bytes of a row. Raises OSError, or ValueError if they are not those that were written."""
        return _checked((self._directory / name).read_bytes())

    def remove(self, name: str) -> None:
        """The row and its file have come to their end. No error if it is gone.

        What is no row's name is passed over.
        """
        if _ROW.fullmatch(name):
            (self._directory / name).unlink(missing_ok=True)
            (self._directory / _FILES / name).unlink(missing_ok=True)

    def keep_file(self, name: str, content: bytes) -> Path:
        """Keep the file that came with the event of a row; where it lies. May be called on any thread.

        It need not outlive a power cut: it can be fetched again. Raises OSError, also if the row is gone.
        """
        path = self._directory / _FILES / name
        unfinished = path.with_suffix(".tmp")
        try:
            unfinished.write_bytes(content)
            unfinished.rename(path)
            (self._directory / name).stat()  # a row that ended meanwhile takes nothing with it any more
        except OSError:
            unfinished.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            raise
        return path

    def quarantine(self, name: str) -> None:
        """Set a row aside that cannot be read; the oldest beyond 200 go. Raises OSError."""
        bad = self._directory / _BAD
        (self._directory / name).rename(bad / name)
        for old in _rows_in(bad)[:-_KEEP_BAD]:
            (bad / old).unlink(missing_ok=True)

    def _finish_begun(self) -> None:
        """A process that dies while the disk is still at work has written the row all the same."""
        for name in _files_in(self._directory):
            if (found := _UNFINISHED.fullmatch(name)) is None:
                continue
            begun = self._directory / name
            try:
                _checked(begun.read_bytes())
            except ValueError:
                begun.unlink()
            except OSError:  # it may be readable in the next life, and is in nobody's way
                continue
            else:
                begun.rename(self._directory / found[1])

    def _drop_lone_files(self) -> None:
        rows = set(self.names())
        for name in _files_in(self._directory / _FILES):
            if name not in rows:
                (self._directory / _FILES / name).unlink(missing_ok=True)


def _rows_in(directory: Path) -> list[str]:
    return sorted(name for name in _files_in(directory) if _ROW.fullmatch(name))


def _files_in(directory: Path) -> list[str]:
    """Plain files: a pipe of that name would hold its reader up for ever."""
    with os.scandir(directory) as entries:
        return [each.name for each in entries if each.is_file(follow_symlinks=False)]


def _summed(raw: bytes) -> bytes:
    return zlib.crc32(raw).to_bytes(_SUM_BYTES, "big") + raw


def _checked(summed: bytes) -> bytes:
    raw = summed[_SUM_BYTES:]
    if len(summed) < _SUM_BYTES or zlib.crc32(raw) != int.from_bytes(summed[:_SUM_BYTES], "big"):
        raise ValueError("the row is not whole")
    return raw


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
