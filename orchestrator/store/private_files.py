"""Files that are nobody else's to read: written whole or not at all."""

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o600
_NEW: Final = ".new"
_RANDOM_BYTES: Final = 8


def replace_private(path: Path, content: bytes) -> None:
    """Put `content` at `path`, in one step, in the place of what was there; durable then. Blocks.

    Raises OSError.
    """
    _replace(path, content, mode=PRIVATE, uid=None, sync=os.fsync)


def create_private(path: Path, content: bytes) -> None:
    """The same, unless something is there: the first of several stays. Blocks. Raises OSError."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(_RANDOM_BYTES)}")
    replace_private(new, content)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink()
    sync_directory(path.parent)


def replace_fleeting(path: Path, content: bytes, *, mode: int, uid: int | None) -> None:
    """The same for what is of no use after this machine has gone down. uid: its owner; None: our own user."""
    _replace(path, content, mode=mode, uid=uid, sync=lambda _: None)


def sync_directory(path: Path) -> None:
    """Which names stand in it is durable when this returns. Blocks. Raises OSError."""
    held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(held)
    finally:
        os.close(held)


def _replace(path: Path, content: bytes, *, mode: int, uid: int | None, sync: Callable[[int], None]) -> None:
    new = path.with_name(path.name + _NEW)
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        if uid is not None and uid != os.geteuid():
            os.fchown(file.fileno(), uid, -1)
        os.fchmod(file.fileno(), mode)
        sync(file.fileno())
    new.replace(path)
    held = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync(held)
    finally:
        os.close(held)
