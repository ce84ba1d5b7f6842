"""Writing a backup: each file as it is at that moment, databases by SQLite's own copying. Blocking.

Agents can write in much of what is copied: it is opened as hostile ground, and what is not one plain file
with one name is left out and named. Source: contracts.md sections 3 and 8.
"""

import contextlib
import io
import os
import sqlite3
import stat
import tarfile
import tempfile
from pathlib import Path
from typing import IO, Final

from orchestrator.store.backup_manifest import (
    DATABASE,
    DATABASES,
    MANIFEST,
    NAMED_LEFT_OUT,
    LeftOut,
    Manifest,
    Member,
    copy_member,
    to_bytes,
)
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry, Vanished
from orchestrator.store.views import read_only_uri

_IN_MEMORY_BYTES: Final = 8 << 20
_BUSY_S: Final = 30.0
_MAX_DEPTH: Final = 100
"""Each level holds a descriptor; what lies deeper is left out."""
_MAX_NAMES: Final = 10_000_000
_MAX_FILE_BYTES: Final = 1 << 62


class BackupWriter:
    """Adds pieces of a home to a tar. beside: where copies of databases lie meanwhile."""

    def __init__(self, tar: tarfile.TarFile, *, home: Path, beside: Path) -> None:
        self._tar = tar
        self._home = home
        self._beside = beside
        self._members: dict[str, Member] = {}
        self._left_out: list[str] = []
        self._left_out_count = 0
        self._schema: int | None = None

    @property
    def schema(self) -> int | None:
        """How many steps of its schema the copied store has taken; None if none was added."""
        return self._schema

    @property
    def members(self) -> dict[str, Member]:
        """The files that were added."""
        return self._members

    @property
    def left_out(self) -> LeftOut:
        """What was met and not added."""
        return LeftOut(paths=tuple(self._left_out), count=self._left_out_count)

    def add(self, piece: str) -> None:
        """Add what stands under a path of the home, if anything does. Raises OSError, sqlite3.Error."""
        path = self._home / piece
        if not os.path.lexists(path):
            return
        if piece in DATABASES:
            self._add_database(piece, path)
            return
        with SafeDir.open(path.parent) as parent:
            self._add_entry(parent, path.name, piece, depth=0)

    def finish(self, manifest: Manifest) -> None:
        """Add the manifest, which ends it."""
        raw = to_bytes(manifest)
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(raw), 0o600
        self._tar.addfile(info, io.BytesIO(raw))

    def _add_entry(self, parent: SafeDir, name: str, path: str, *, depth: int) -> None:
        entry = parent.entry(name)
        if entry is None:
            return
        try:
            if not entry.is_dir:
                self._add_file(parent, name, path)
            elif depth > _MAX_DEPTH:
                self._leave_out(path)
            else:
                with parent.own_child(name) as below:
                    self._add_directory(below, path, depth=depth)
        except Vanished:
            return
        except UnsafeEntry:
            self._leave_out(path)

    def _add_directory(self, directory: SafeDir, path: str, *, depth: int) -> None:
        itself = directory.itself()
        info = tarfile.TarInfo(path)
        info.type, info.mode = tarfile.DIRTYPE, stat.S_IMODE(itself.mode)
        info.uid, info.gid = itself.uid, itself.gid
        self._tar.addfile(info)
        for name in directory.names(_MAX_NAMES)[0]:
            self._add_entry(directory, name, f"{path}/{name}", depth=depth + 1)

    def _add_file(self, parent: SafeDir, name: str, path: str) -> None:
        fd = parent.open_regular(name, _MAX_FILE_BYTES)
        with os.fdopen(fd, "rb") as read:
            status = os.fstat(read.fileno())
            # Looked at again: another file may have come under the name since it was looked at first.
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                self._leave_out(path)
                return
            self._store(read, path, status)

    def _add_database(self, piece: str, path: Path) -> None:
        copy = self._beside / "database"
        with _reading(path) as source, contextlib.closing(sqlite3.connect(copy)) as target:
            source.backup(target)
            # One file that can be put back as it is, without a -wal beside it.
            target.execute("PRAGMA journal_mode = DELETE").fetchall()
            if piece == DATABASE:
                (self._schema,) = target.execute("PRAGMA user_version").fetchone()
        copy.chmod(0o600)
        try:
            with copy.open("rb") as read:
                self._store(read, piece, os.fstat(read.fileno()))
        finally:
            copy.unlink()

    def _store(self, read: IO[bytes], path: str, status: os.stat_result) -> None:
        """A tar needs the size first, and a file may grow while it is read: it is copied once before."""
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=str(self._beside)) as copy:
            member = copy_member(read, copy)
            copy.seek(0)
            info = tarfile.TarInfo(path)
            info.size, info.mode = member.size_bytes, stat.S_IMODE(status.st_mode)
            info.mtime = int(status.st_mtime)
            info.uid, info.gid = status.st_uid, status.st_gid
            self._tar.addfile(info, copy)
        self._members[path] = member

    def _leave_out(self, path: str) -> None:
        self._left_out_count += 1
        if len(self._left_out) < NAMED_LEFT_OUT:
            self._left_out.append(path)


def _reading(path: Path) -> "contextlib.closing[sqlite3.Connection]":
    return contextlib.closing(sqlite3.connect(read_only_uri(path), uri=True, timeout=_BUSY_S))
