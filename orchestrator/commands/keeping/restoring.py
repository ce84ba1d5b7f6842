"""Putting a backup in the place of a home that nobody uses. Blocking. Source: contracts.md section 8."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final

from orchestrator.commands.keeping.backups import moment
from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest, NotFound
from orchestrator.contracts.os_errors import unusable
from orchestrator.paths import Paths
from orchestrator.store.backup_list import STAGING, note_copy
from orchestrator.store.backup_manifest import (
    DATABASE,
    DATABASES,
    PIECES,
    SECRET_PIECES,
    Manifest,
    damaged,
)
from orchestrator.store.backup_reading import Staging, read_backup
from orchestrator.store.instance_lock import InstanceLock
from orchestrator.store.migrate import shipped_migrations
from orchestrator.store.opening import APPLICATION_ID
from orchestrator.store.private_files import sync_directory
from orchestrator.store.unfinished_restore import (
    ASIDE,
    UnfinishedRestore,
    note_finished,
    note_unfinished,
    unfinished_restore,
)

_ONLY_ASIDE: Final = ("data/ipc",)
"""What agents asked of the state that is replaced."""
_EARLIER: Final = ".earlier"
"""In the staging: what a restore that did not end had put in place."""
_JOURNALS: Final = ("-wal", "-shm", "-journal")
_EVERYTHING: Final = (
    *_ONLY_ASIDE,
    *PIECES,
    *SECRET_PIECES,
    *(f"{database}{journal}" for database in DATABASES for journal in _JOURNALS),
)
"""What a restore may move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What was put back. aside: where what was there lies now; None if nothing was."""

    manifest: Manifest
    aside: Path | None


def restore(paths: Paths, source: Path, *, at: datetime) -> Restored:
    """Put what `source` holds in the place of what the home holds, which is kept beside it.

    All of it is unpacked and compared before the first file is replaced. Secrets are replaced only by a
    backup that has them. After one that did not end, what was there is put back first, and set aside where
    that one began to. Raises DovecoteError: then the home is as it was before the call.
    """
    if not source.is_file():
        raise NotFound(
            f"There is no file {source}.", suggestion="Name a backup; those made lie in data/backups."
        )
    paths.ensure()
    try:
        with _nobody_in(paths), _staging(paths) as staging:
            manifest = read_backup(source, Staging(staging))
            _check_store(staging, manifest)
            aside = _exchange(paths, staging, manifest, source=source, at=at)
    except OSError as error:
        raise unusable(paths.home, error) from error
    paths.ensure()
    _tell_origin(paths, manifest)
    return Restored(manifest=manifest, aside=aside)


def _tell_origin(paths: Paths, manifest: Manifest) -> None:
    """So that who forgets somebody in the home that was copied hears of this one."""
    origin = Paths(home=Path(manifest.home))
    if manifest.home and origin.backups.is_dir() and origin.home.resolve() != paths.home.resolve():
        with contextlib.suppress(OSError):  # it may be another user's by now: what is restored stays so
            note_copy(origin.backups, paths.home.absolute())


def _nobody_in(paths: Paths) -> InstanceLock:
    """The home's lock. Raises DovecoteError that says, to who would restore, what to do about who has it."""
    try:
        return InstanceLock.acquire(paths.lock, pid=os.getpid())
    except DovecoteError as error:
        if error.code is not ErrorCode.ALREADY_RUNNING:
            raise
        pid = error.details.get("pid")
        stop = "Stop it" if pid is None else f"Stop it with `kill {pid}`"
        raise DovecoteError(
            error.message,
            code=error.code,
            suggestion=f"Nothing was changed. {stop} first, or restore into another home with --to.",
            details=error.details,
        ) from None


@contextlib.contextmanager
def _staging(paths: Paths) -> Iterator[Path]:
    """In the home, so that what is unpacked only has to be moved. One that a kill left goes first."""
    for left in paths.home.glob(f"{STAGING}*"):
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=STAGING, dir=paths.home) as made:
        yield Path(made)


def _check_store(staging: Path, manifest: Manifest) -> None:
    """The store in it is whole, ours, and of a schema that this version knows."""
    newest = len(shipped_migrations())
    if manifest.schema is None or not (staging / DATABASE).exists():
        raise damaged("it holds no store")
    if manifest.schema > newest:
        raise InvalidRequest(
            f"This backup has schema version {manifest.schema}, written by Dovecote {manifest.product}; "
            f"this Dovecote knows versions up to {newest}.",
            suggestion="Nothing was changed. Install the newer Dovecote and restore with that.",
        )
    try:
        with contextlib.closing(sqlite3.connect(staging / DATABASE)) as store:
            (schema,) = store.execute("PRAGMA user_version").fetchone()
            (application,) = store.execute("PRAGMA application_id").fetchone()
            (verdict,) = store.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        raise damaged(f"its store cannot be read ({error})") from error
    if (schema, application, verdict) != (manifest.schema, APPLICATION_ID, "ok"):
        raise damaged("its store is not the one that it says it is")


def _exchange(paths: Paths, staging: Path, manifest: Manifest, *, source: Path, at: datetime) -> Path | None:
    """Move what is there aside and what is new in its place; back again if one of the moves fails."""
    earlier = unfinished_restore(paths.store)
    pieces = [*_ONLY_ASIDE, *PIECES, *(SECRET_PIECES if manifest.has_secrets else ())]
    moved = list(_with_journals(pieces))
    with contextlib.ExitStack() as undo:
        if earlier is not None:
            _put_back(paths, earlier, staging, undo)
        _make_ready(paths, pieces)
        begun = earlier or _begin(paths, moved, source=source, at=at, undo=undo)
        aside = paths.home / begun.aside
        for piece in moved:
            _move(paths.home / piece, aside / piece, undo)
            _move(staging / piece, paths.home / piece, undo)
        _settle(paths.home, aside, pieces)
        undo.pop_all()
    note_finished(paths.store)
    with contextlib.suppress(OSError):
        aside.rmdir()  # nothing was there
    return aside if aside.exists() else None


def _make_ready(paths: Paths, pieces: Sequence[str]) -> None:
    """Of an empty directory there is nothing to keep, and of a database one whole file is kept."""
    for piece in pieces:
        with contextlib.suppress(OSError):
            (paths.home / piece).rmdir()
        if piece in DATABASES:
            _fold_journal(paths.home / piece)


def _begin(
    paths: Paths, moved: Sequence[str], *, source: Path, at: datetime, undo: contextlib.ExitStack
) -> UnfinishedRestore:
    """Note what is begun, before anything is moved; the note goes once all that was moved is back."""
    aside = _new_aside(paths, at)
    absent = [piece for piece in moved if not os.path.lexists(paths.home / piece)]
    begun = UnfinishedRestore(source=str(source.absolute()), aside=aside.name, absent=absent)
    note_unfinished(paths.store, begun)

    def end() -> None:
        is_old_aside = any(os.path.lexists(aside / piece) for piece in moved)
        is_new_there = any(os.path.lexists(paths.home / piece) for piece in absent)
        if not is_old_aside and not is_new_there:
            note_finished(paths.store)

    undo.callback(end)
    return begun


def _put_back(paths: Paths, earlier: UnfinishedRestore, staging: Path, undo: contextlib.ExitStack) -> None:
    """Undo what an earlier restore came to: what it had put in the place of something goes with `staging`."""
    for piece in _EVERYTHING:
        place, kept = paths.home / piece, paths.home / earlier.aside / piece
        with contextlib.suppress(OSError):
            place.rmdir()
        if os.path.lexists(kept) or piece in earlier.absent:
            _move(place, staging / _EARLIER / piece, undo)
        _move(kept, place, undo)


def _settle(home: Path, aside: Path, pieces: Sequence[str]) -> None:
    """The store and the names of all that was moved are on the disk when this returns."""
    for piece in pieces:
        if piece in DATABASES and (home / piece).exists():
            with (home / piece).open("rb") as database:
                os.fsync(database.fileno())
    for parent in sorted({(root / piece).parent for root in (home, aside) for piece in pieces}):
        if parent.is_dir():
            sync_directory(parent)


def _new_aside(paths: Paths, at: datetime) -> Path:
    """A new folder in the home: a second restore within a second gets one of its own."""
    for number in count(1):
        path = paths.home / f"{ASIDE}{moment(at)}{'' if number == 1 else f'-{number}'}"
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path
    raise AssertionError("unreachable")


def _with_journals(pieces: Sequence[str]) -> Iterator[str]:
    """Each piece, and with a database what SQLite may have left beside it, which would spoil the new one."""
    for piece in pieces:
        yield piece
        if piece in DATABASES:
            yield from (f"{piece}{journal}" for journal in _JOURNALS)


def _fold_journal(database: Path) -> None:
    """So that what is set aside is one whole file. A damaged one goes aside as it is, with its journals."""
    if database.exists():
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(database)) as store:
            store.execute("PRAGMA journal_mode = DELETE").fetchall()


def _move(old: Path, new: Path, undo: contextlib.ExitStack) -> None:
    """Move it, if it is there."""
    if os.path.lexists(old):
        new.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.rename(old, new)
        undo.callback(os.rename, new, old)
