"""The doctor's checks of the store. They only read, so they work beside a running orchestrator."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.core.text_cleaning import clean_text
from orchestrator.store.migrate import schema_version, shipped_migrations

_MOVE_ASIDE: Final = "Stop Dovecote and move data/store/dovecote.db* aside"
FOLDERS: Final = "SELECT folder, jid, is_main FROM groups ORDER BY number"


def check_store(patient: Patient) -> Finding:
    """The database can be read, is whole, and of a schema that this version knows."""
    path = patient.paths.database
    if not _is_made(path):
        return well("store", "Not made yet; the first start makes it.")
    try:
        with closing(_open(patient)) as connection:
            found = schema_version(connection)
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return broken("store", f"{path} cannot be read: {error}.", _restore(patient))
    newest = len(shipped_migrations())
    if verdict != "ok":
        return broken("store", f"{path} is damaged: {clean_text(str(verdict))[:200]}.", _restore(patient))
    if found > newest:
        why = f"{path} has schema {found}; this version knows {newest}."
        return broken("store", why, "Install the newer Dovecote that wrote it.")
    if found < newest:
        return well("store", f"Readable, schema {found}; the next start brings it to {newest}.")
    return well("store", f"Readable, schema {found}.")


def check_groups(patient: Patient) -> Finding:
    """Exactly one group is main, and every group has its folder."""
    if not _is_made(patient.paths.database):
        return well("groups", "None yet; the first start registers console:main.")
    try:
        with closing(_open(patient)) as connection:
            rows = connection.execute(FOLDERS).fetchall()
    except sqlite3.Error as error:
        return broken("groups", f"The groups cannot be read: {error}.", _restore(patient))
    mains = [folder for folder, _, is_main in rows if is_main]
    missing = [folder for folder, _, _ in rows if not (patient.paths.groups / folder).is_dir()]
    if missing:
        why = f"The folder groups/{missing[0]} is gone ({len(missing)} in all)."
        mend = f"mkdir -p groups/{missing[0]}/workspace, or dovecote group remove {missing[0]}"
        return broken("groups", why, mend)
    if len(mains) != 1:
        return doubtful(
            "groups", f"{len(rows)} groups, none is main.", "dovecote group set FOLDER is_main=true"
        )
    return well("groups", f"{len(rows)} registered; {mains[0]} is main.")


def _is_made(path: Path) -> bool:
    """An empty file is what a start leaves that was interrupted before its first write."""
    return path.exists() and (not path.is_file() or path.stat().st_size > 0)


def _restore(patient: Patient) -> str:
    try:
        backups = sorted(patient.paths.backups.glob("*.db"), key=lambda path: path.stat().st_mtime)
    except OSError:
        backups = []
    if not backups:
        return f"{_MOVE_ASIDE}; the next start makes a new one. There is no backup in data/backups."
    return f"{_MOVE_ASIDE}, and put data/backups/{backups[-1].name} there as dovecote.db."


def _open(patient: Patient) -> sqlite3.Connection:
    place = quote(str(patient.paths.database))
    return sqlite3.connect(f"file:{place}?mode=ro", uri=True, timeout=5)
