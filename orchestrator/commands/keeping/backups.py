"""Copying a whole home into one file, also while it is in use. Blocking. Source: contracts.md section 8."""

import contextlib
import errno
import os
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest, NotFound
from orchestrator.contracts.os_errors import unusable
from orchestrator.contracts.version import VERSION
from orchestrator.paths import Paths
from orchestrator.store.backup_list import note_copy
from orchestrator.store.backup_manifest import PIECES, SECRET_PIECES, Manifest
from orchestrator.store.backup_reading import Nowhere, read_backup
from orchestrator.store.backup_writing import BackupWriter
from orchestrator.store.private_files import sync_directory
from orchestrator.store.unfinished_restore import check_restored

SUFFIX: Final = ".tar.gz"
_MOMENT: Final = "%Y%m%dT%H%M%SZ"
_LEVEL: Final = 6
_NO_LINKS: Final = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What file systems say that know no second name of a file. Source: link(2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """One that was written and read back. size_bytes: of the file itself."""

    path: Path
    size_bytes: int
    manifest: Manifest


def moment(at: datetime) -> str:
    """An instant as it stands in the names of files."""
    return at.strftime(_MOMENT)


def back_up(paths: Paths, target: Path | None, *, with_secrets: bool, at: datetime) -> Backup:
    """Copy the home to the new file `target`, readable by its owner only; None: one in `data/backups`.

    It has its name only when all of it is on the disk and was read back. The store is copied as it is at
    one instant. Raises DovecoteError; then there is no new file.
    """
    check_restored(paths.store)
    if not paths.database.exists():
        raise NotFound(
            f"There is nothing to back up in {paths.home} yet.",
            suggestion="Name the home with --home: the folder that holds groups and data.",
        )
    path = (target or paths.backups / f"dovecote-{moment(at)}{SUFFIX}").absolute()
    _check_target(paths, path)
    try:
        note_copy(paths.backups.absolute(), path)
        with _unfinished(paths, path) as (file, beside):
            manifest = _write(paths, file, beside, with_secrets=with_secrets, at=at)
            if read_backup(file, Nowhere()) != manifest:
                raise _not_written(path, "what was read back is not what was written")
            _give_name(file, path)
            sync_directory(path.parent)
    except sqlite3.Error as error:
        raise _not_written(path, str(error)) from error
    except OSError as error:
        raise unusable(path, error) from error
    return Backup(path=path, size_bytes=path.stat().st_size, manifest=manifest)


def _write(paths: Paths, file: Path, beside: Path, *, with_secrets: bool, at: datetime) -> Manifest:
    pieces = (*PIECES, *SECRET_PIECES) if with_secrets else PIECES
    with file.open("xb") as raw:
        os.fchmod(raw.fileno(), 0o600)
        with tarfile.open(fileobj=raw, mode="w:gz", compresslevel=_LEVEL) as tar:
            writer = BackupWriter(tar, home=paths.home, beside=beside)
            for piece in pieces:
                writer.add(piece)
            manifest = Manifest(
                product=VERSION,
                schema=writer.schema,
                made_at=at.isoformat(timespec="seconds"),
                has_secrets=with_secrets,
                members=writer.members,
                left_out=writer.left_out,
                home=str(paths.home.absolute()),
            )
            writer.finish(manifest)
        raw.flush()
        os.fsync(raw.fileno())
    return manifest


@contextlib.contextmanager
def _unfinished(paths: Paths, path: Path) -> Iterator[tuple[Path, Path]]:
    """The file to write and a directory for what is needed meanwhile; both go at the end."""
    if path.parent == paths.backups.absolute():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as beside:
        yield Path(beside) / "backup", Path(beside)


def _check_target(paths: Paths, path: Path) -> None:
    if os.path.lexists(path):
        raise _taken(path)
    resolved = path.parent.resolve()
    for piece in (*PIECES, *SECRET_PIECES):
        if resolved.is_relative_to((paths.home / piece).resolve()):
            raise InvalidRequest(
                f"{path} would lie in {piece}, which is backed up itself.",
                suggestion="Name a file outside, or none: then it goes to data/backups.",
            )
    if not path.parent.is_dir() and path.parent != paths.backups.absolute():
        # A disk that is not plugged in has no folder: one made in its place would take the backup instead.
        raise NotFound(
            f"There is no folder {path.parent}.",
            suggestion=f"Make it, or name another place; with no name it goes to {paths.backups}.",
        )


def _give_name(file: Path, path: Path) -> None:
    """Also of what came there meanwhile nothing is replaced."""
    try:
        os.link(file, path)
    except FileExistsError:
        raise _taken(path) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _take_name(file, path)


def _take_name(file: Path, path: Path) -> None:
    """Where a file has one name only: an empty one that is surely ours holds the place."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        raise _taken(path) from None
    try:
        os.replace(file, path)
    except BaseException:  # whatever it is, the name that we took is given back
        path.unlink()
        raise


def _taken(path: Path) -> InvalidRequest:
    return InvalidRequest(
        f"{path} is there already.", suggestion="Name a new file; what is there is never replaced."
    )


def _not_written(path: Path, why: str) -> DovecoteError:
    return DovecoteError(
        f"The backup {path} could not be written: {why}.",
        code=ErrorCode.STORE_UNAVAILABLE,
        suggestion="There is no new file. See what is wrong with this home: dovecote doctor",
    )
