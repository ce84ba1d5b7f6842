"""Opening the store's file: made private, checked to be ours, set to keep what it acknowledges."""

import os
import sqlite3
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.contracts.os_errors import advice_for
from orchestrator.store.unfinished_restore import check_restored

APPLICATION_ID: Final = 0x446F7665
"""Marks a SQLite file as Dovecote's; the bytes read `Dove`."""
BUSY_TIMEOUT_S: Final = 5.0
LONGEST_PATH_BYTES: Final = 500
"""SQLite takes 512, with what it adds for its journal."""


def open_store(path: Path, *, cached_statements: int) -> sqlite3.Connection:
    """A connection to the store at `path`, in autocommit mode and usable from any one thread at a time.

    A missing file is made, readable by its owner only. Raises DovecoteError when the file cannot be
    used, with what to do, or when a restore beside it did not end.
    """
    check_restored(path.parent)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise _refused(f"The store {path} cannot be opened: {error.strerror}.", advice_for(error)) from error
    connection = _connect(path, cached_statements=cached_statements)
    try:
        connection.row_factory = sqlite3.Row
        _check_is_ours(connection, path)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except sqlite3.Error as error:
        connection.close()
        raise _refused(
            f"The store {path} cannot be read: {error}.",
            "Check the disk. If the file is damaged, stop Dovecote and move it aside with its -wal and -shm "
            "files; if there is a copy in data/backups, put that in its place.",
        ) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, *, cached_statements: int) -> sqlite3.Connection:
    try:
        return sqlite3.connect(
            path,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=cached_statements,
        )
    except sqlite3.Error as error:
        size = len(os.fsencode(path))
        raise _refused(
            f"The store {path} cannot be opened: {error}.",
            f"Its path has {size} bytes: name a home with a shorter one with --home."
            if size > LONGEST_PATH_BYTES
            else "Check that its folder belongs to the user who runs Dovecote.",
        ) from error


def _check_is_ours(connection: sqlite3.Connection, path: Path) -> None:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if tables and application != APPLICATION_ID:
        raise _refused(
            f"The file {path} is another program's database.",
            "Move it away, or start Dovecote with another home.",
        )
    if not tables:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _refused(message: str, suggestion: str) -> DovecoteError:
    return DovecoteError(message, code=ErrorCode.STORE_UNAVAILABLE, suggestion=suggestion)
