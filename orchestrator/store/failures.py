"""Telling failures of the disk from those of a statement."""

import sqlite3
from typing import Final

from orchestrator.contracts.errors import Unavailable

_STORAGE_FAILURES: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
    }
)


def is_storage_failure(error: BaseException) -> bool:
    """Whether `error` is the disk's or the file's doing, and not that of a statement."""
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, sqlite3.Error) and code is not None and (code & 0xFF) in _STORAGE_FAILURES


def unavailable(doing: str, error: BaseException) -> Unavailable:
    """What a caller is told. doing: what the store could not do."""
    return Unavailable(
        f"The store could not {doing}: {error}.",
        suggestion="Check the free space and the health of the disk that holds data/store.",
        retry_after_s=1,
    )
