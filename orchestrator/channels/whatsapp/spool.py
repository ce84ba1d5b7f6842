"""What the network handed over, on disk until the orchestrator has stored it. Used by the child only.

One file an event, named by a growing number, with the bytes as the library gave them: what can't be read
today is there to be read by a better reader.
"""

import os
import re
import zlib
from pathlib import Path
from typing import Final

_ROW: Final = re.compile(r"[0-9]{16}\.row")
_UNFINISHED: Final = re.compile(r"\.([0-9]{16}\.row)\.tmp")
_SUM_BYTES: Final = 4
_BAD: Final = "bad"
_KEEP_BAD: Final = 200


class SpoolRows:
    """The rows of one directory, which one process writes."""

    def __init__(self, directory: Path) -> None:
        """Make the directory, and take over what an earlier process had written. Raises OSError."""
        self._directory = directory
        (directory / _BAD).mkdir(mode=0o700, parents=True, exist_ok=True)
        self._finish_begun()
        taken = [*self.names(), *self._names_in(directory / _BAD)]
        self._next = 1 + max((int(name[:16]) for name in taken), default=0)

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
        return self._names_in(self._directory)

    def read(self, name: str) -> bytes:
        """The bytes of a row. Raises OSError, or ValueError if they are not those that were written."""
        return _checked((self._directory / name).read_bytes())

    def remove(self, name: str) -> None:
        """The row has come to its end. No error if it is gone; what is no row's name is passed over."""
        if _ROW.fullmatch(name):
            (self._directory / name).unlink(missing_ok=True)

    def quarantine(self, name: str) -> None:
        """Set a row aside that cannot be read; the oldest beyond 200 go. Raises OSError."""
        bad = self._directory / _BAD
        (self._directory / name).rename(bad / name)
        for old in self._names_in(bad)[:-_KEEP_BAD]:
            (bad / old).unlink(missing_ok=True)

    def _finish_begun(self) -> None:
        """A process that dies while the disk is still at work has written the row all the same."""
        for name in os.listdir(self._directory):
            if (found := _UNFINISHED.fullmatch(name)) is None:
                continue
            begun = self._directory / name
            try:
                _checked(begun.read_bytes())
            except ValueError:
                begun.unlink()
            else:
                begun.rename(self._directory / found[1])

    @staticmethod
    def _names_in(directory: Path) -> list[str]:
        return sorted(name for name in os.listdir(directory) if _ROW.fullmatch(name))


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
