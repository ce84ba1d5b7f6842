"""The schema's way forward: numbered steps, each in one transaction, a copy first, never back."""

import contextlib
import os
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import DovecoteError, ErrorCode

_FILE_NAME: Final = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step: it leads from version `number` - 1 to `number`."""

    number: int
    name: str
    sql: str


def shipped_migrations() -> list[Migration]:
    """The steps that came with this version, in order: `migrations/NNNN_name.sql`, without a gap."""
    steps = [
        Migration(number=int(match[1]), name=match[2], sql=entry.read_text("utf-8"))
        for entry in (files("orchestrator.store") / "migrations").iterdir()
        if (match := _FILE_NAME.fullmatch(entry.name))
    ]
    steps.sort(key=lambda step: step.number)
    assert [step.number for step in steps] == list(range(1, len(steps) + 1)), "a migration is missing"
    return steps


def schema_version(connection: sqlite3.Connection) -> int:
    """How many steps the store has taken; 0 for an empty file."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(
    connection: sqlite3.Connection, *, path: Path, backups: Path, migrations: Sequence[Migration]
) -> None:
    """Take the steps that the store has not taken yet, after a copy if it holds something.

    connection: in autocommit mode. The copy is `backups/dovecote-v{version}.db`. A step that fails
    leaves the version before it. Raises DovecoteError.
    """
    version, newest = schema_version(connection), len(migrations)
    if version > newest:
        raise _refused(
            f"The store {path} has schema version {version}; this Dovecote knows versions up to {newest}.",
            f"Start the newer Dovecote again, or put back a copy from {backups}.",
        )
    if version == newest:
        return
    if version > 0:
        _back_up(connection, backups / f"dovecote-v{version}.db", path)
    # A step may build a table anew, which a foreign key would forbid half-way; all are checked after it.
    connection.execute("PRAGMA foreign_keys = OFF")
    try:
        for step in migrations[version:]:
            _take(connection, step, path)
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def _take(connection: sqlite3.Connection, step: Migration, path: Path) -> None:
    try:
        connection.executescript(f"BEGIN IMMEDIATE;\n{step.sql}\n;")
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            raise sqlite3.IntegrityError(f"{len(broken)} rows point at rows that are not there")
        connection.execute(f"PRAGMA user_version = {step.number}")
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise _refused(
            f"The store {path} could not be brought to schema version {step.number} "
            f"({step.name}): {error}. It is unchanged at version {step.number - 1}.",
            "Check the free space; if there is enough, report this with the sentence above.",
        ) from error


def _back_up(connection: sqlite3.Connection, target: Path, path: Path) -> None:
    """Copy the whole store to `target`, which appears only when the copy is complete."""
    unfinished = target.with_name(f".{target.name}.tmp")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _discard(unfinished)
        os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        copy = sqlite3.connect(unfinished, isolation_level=None)
        try:
            connection.backup(copy)
            # One file that can be put back as it is, without a -wal beside it.
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            copy.close()
        unfinished.replace(target)
    except (sqlite3.Error, OSError) as error:
        _discard(unfinished)
        raise _refused(
            f"The store {path} has to be migrated, and the copy that is made before could not be "
            f"written to {target}: {error}. Nothing was changed.",
            f"Make room on the disk of {target.parent}, or set right who may write there.",
        ) from error


def _discard(copy: Path) -> None:
    """Remove a copy that was not finished, with the journal that SQLite left beside it."""
    with contextlib.suppress(OSError):
        copy.with_name(f"{copy.name}-journal").unlink(missing_ok=True)
        copy.unlink(missing_ok=True)


def _refused(message: str, suggestion: str) -> DovecoteError:
    return DovecoteError(message, code=ErrorCode.STORE_UNAVAILABLE, suggestion=suggestion)
