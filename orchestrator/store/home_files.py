"""Directories and files that the host puts into the session home of an agent, which the agent can write.

Everything goes through descriptors, never by a link, and blocks.
"""

import hashlib
import secrets
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry

_READABLE: Final = 0o444
_MAX_BYTES: Final = 1024**2


def furnish_home(
    home: Path, *, directories: Iterable[str], files: Mapping[str, str], uid: int | None, gid: int | None
) -> None:
    """Make the directories and files of a home, by paths relative to it. What is right already stays.

    directories: parents first. What the agent put in the way is moved aside. Raises OSError.
    """
    try:
        with SafeDir.open(home) as top:
            for path in directories:
                _make_directory(top, path, uid=uid, gid=gid)
            for path, text in files.items():
                _write(top, path, text.encode(), uid=uid, gid=gid)
    except UnsafeEntry as error:
        raise OSError(f"{home}: {error.message.removesuffix('.')}") from error


def lay_file(laid: Path, text: str) -> Path:
    """A file outside of every home that holds `text`, for a read-only mount. Raises OSError."""
    raw = text.encode()
    name = hashlib.sha256(raw).hexdigest()[:32]
    with SafeDir.open(laid) as directory:
        if directory.entry(name) is None:
            directory.write_atomically(name, raw, mode=_READABLE)
    return laid / name


def clear_laid_files(laid: Path) -> None:
    """Remove what earlier runs were given; only while no agent runs. Raises OSError."""
    with SafeDir.open(laid) as directory:
        for entry in directory.scan():
            directory.remove(entry.name)


def _make_directory(top: SafeDir, path: str, *, uid: int | None, gid: int | None) -> None:
    *above, name = path.split("/")
    with top.descend(above) as parent:
        entry = parent.entry(name)
        if entry is not None and not entry.is_dir:
            _set_aside(parent, name)
            entry = None
        if entry is None:
            parent.make_child(name, mode=0o700, uid=uid, gid=gid).close()
            return
        with parent.own_child(name) as itself:
            itself.give(mode=0o700, uid=uid, gid=gid)


def _write(top: SafeDir, path: str, raw: bytes, *, uid: int | None, gid: int | None) -> None:
    *above, name = path.split("/")
    with top.descend(above) as parent:
        entry = parent.entry(name)
        if entry is not None and entry.is_dir:
            _set_aside(parent, name)
        elif entry is not None and stat.S_ISREG(entry.mode) and _holds(parent, name, raw):
            # A sandbox of this home may run, with a mount over this very file.
            return
        parent.write_atomically(name, raw, uid=uid, gid=gid)


def _holds(parent: SafeDir, name: str, raw: bytes) -> bool:
    try:
        return parent.read(name, _MAX_BYTES).raw == raw
    except UnsafeEntry:
        return False


def _set_aside(parent: SafeDir, name: str) -> None:
    parent.rename(name, f"{name}.aside-{secrets.token_hex(4)}")
