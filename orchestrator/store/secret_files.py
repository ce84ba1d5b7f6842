"""Secrets as files: 0600 in directories of 0700, one file a secret, replaced in one step."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.os_errors import unusable
from orchestrator.store.private_files import replace_private

_MAX_BYTES: Final = 64 * 1024


class Keeping(StrEnum):
    """Where a secret's value is: in our file, or in the system's keyring, of which a file reminds us.

    The word is the ending of the file.
    """

    FILE = "secret"
    KEYRING = "keyring"


_ENDINGS: Final = frozenset(each.value for each in Keeping)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSecret:
    """A secret without its value."""

    name: str
    keeping: Keeping
    set_at: datetime


class SecretFiles:
    """The files below one directory. Names are checked by who calls. Blocks."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, name: str) -> tuple[Keeping, str] | None:
        """How the secret is kept, and what its file holds; None if there is none. Raises Unavailable."""
        for keeping in Keeping:
            path = self._path(name, keeping)
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise _unreadable(name, error) from None
            with open(descriptor, "rb") as file:
                try:
                    return keeping, file.read(_MAX_BYTES).decode()
                except (OSError, UnicodeDecodeError) as error:
                    raise _unreadable(name, error) from None
        return None

    def is_in_keyring(self, name: str) -> bool:
        """Whether a file reminds us that the keyring has it."""
        return os.path.lexists(self._path(name, Keeping.KEYRING))

    def write(self, name: str, keeping: Keeping, text: str) -> None:
        """Keep it, whole or not at all, in the place of what was there. Raises DovecoteError."""
        path = self._path(name, keeping)
        try:
            self._make_directories(path.parent)
            replace_private(path, text.encode())
        except OSError as error:
            raise unusable(path, error) from None
        for other in Keeping:
            if other is not keeping:
                self._unlink(self._path(name, other))

    def remove(self, name: str) -> Keeping | None:
        """Forget it; how it was kept, None if there was none. Raises DovecoteError."""
        found = [each for each in Keeping if self._unlink(self._path(name, each))]
        return found[0] if found else None

    def known(self) -> list[KnownSecret]:
        """All secrets, by name. Raises DovecoteError."""
        try:
            return sorted(self._found(), key=lambda each: each.name)
        except OSError as error:
            raise unusable(self._directory, error) from None

    def _found(self) -> Iterator[KnownSecret]:
        for path in self._directory.glob("*/*/*"):
            ending = path.suffix.removeprefix(".")
            if ending in _ENDINGS and path.is_file() and not path.is_symlink():
                name = str(path.relative_to(self._directory).with_suffix(""))
                set_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                yield KnownSecret(name=name, keeping=Keeping(ending), set_at=set_at)

    def _path(self, name: str, keeping: Keeping) -> Path:
        return self._directory / f"{name}.{keeping}"

    def _make_directories(self, directory: Path) -> None:
        if directory != self._directory:
            self._make_directories(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)
        directory.chmod(0o700)

    def _unlink(self, path: Path) -> bool:
        try:
            path.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise unusable(path, error) from None
        return True


def _unreadable(name: str, error: Exception) -> Unavailable:
    why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
    return Unavailable(
        f"The secret {name} can't be read: {why}.", suggestion=f"Set it again: dovecote secret set {name}"
    )
