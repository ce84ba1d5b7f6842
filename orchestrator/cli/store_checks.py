"""The doctor's checks of the store. They only read, so they work beside a running orchestrator."""

import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.commands.keeping.backups import SUFFIX
from orchestrator.commands.sender_book import SenderBook
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.senders import SenderMode
from orchestrator.core.text_cleaning import clean_text
from orchestrator.store.groups import ALL, of_row
from orchestrator.store.migrate import schema_version, shipped_migrations
from orchestrator.store.unfinished_restore import check_restored

_MOVE_ASIDE: Final = "Stop Dovecote and move data/store/dovecote.db* aside"
OVERFULL: Final = """
SELECT folder FROM groups JOIN notices ON incident = 'files:' || jid
 WHERE told_ms IS NOT NULL ORDER BY number
"""
BROKEN_SENDERS: Final = "SELECT incident FROM notices WHERE incident >= 'senders' AND incident < 'sendert'"
FOLDERS: Final = "SELECT folder, jid, is_main FROM groups ORDER BY number"


def check_store(patient: Patient) -> Finding:
    """The database can be read, is whole, of a schema that this version knows, and not half restored."""
    path = patient.paths.database
    try:
        check_restored(patient.paths.store)
    except DovecoteError as error:
        return broken("store", error.message, error.suggestion)
    if not is_made(path):
        return well("store", "Not made yet; the first start makes it.")
    try:
        with closing(open_store(patient)) as connection:
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
    if not is_made(patient.paths.database):
        return well("groups", "None yet; the first start registers console:main.")
    try:
        with closing(open_store(patient)) as connection:
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
            "groups",
            f"{'1 group' if len(rows) == 1 else f'{len(rows)} groups'}, none is main.",
            "dovecote group set FOLDER is_main=true",
        )
    return well("groups", f"{len(rows)} registered; {mains[0]} is main.")


def groups_there(patient: Patient) -> list[Group]:
    """Every registered group; none of a store that can't be read, which is told by its own check."""
    if not is_made(patient.paths.database):
        return []
    try:
        with closing(open_store(patient)) as connection:
            connection.row_factory = sqlite3.Row
            return [of_row(row) for row in connection.execute(ALL)]
    except (sqlite3.Error, KeyError, IndexError):
        return []


def check_files(patient: Patient) -> Finding:
    """No group's files take more than they may; then none of its agents would be started."""
    if not is_made(patient.paths.database):
        return well("files", "No agent has any yet.")
    try:
        with closing(open_store(patient)) as connection:
            full = [folder for (folder,) in connection.execute(OVERFULL)]
    except sqlite3.Error as error:
        return broken("files", f"It cannot be read whose files take too much: {error}.", _restore(patient))
    if not full:
        return well("files", "No group's files take more than they may.")
    others = f" (and those of {len(full) - 1} more)" if len(full) > 1 else ""
    why = f"Those of {full[0]}{others} take more than they may: no agent of it is started."
    mend = (
        f"Remove files in groups/{full[0]}/workspace or data/sessions/{full[0]}, or set "
        "agent.workspace_bytes, agent.home_bytes or agent.max_files higher."
    )
    return broken("files", why, mend)


def sender_findings(patient: Patient) -> list[Finding]:
    """Every group's list of who may set the assistant off can be read; one finding a thing that is wrong."""
    if not is_made(patient.paths.database):
        return [well("senders", "No groups yet.")]
    try:
        with closing(open_store(patient)) as connection:
            rows = connection.execute(FOLDERS).fetchall()
            noted = {name for (name,) in connection.execute(BROKEN_SENDERS)}
    except sqlite3.Error as error:
        return [broken("senders", f"The groups cannot be read: {error}.", _restore(patient))]
    book = SenderBook()
    looks = [book.look(patient.paths.groups, folder) for folder, _, _ in rows]
    troubles = [
        f"{clean_text(line)[:300]}{_what_holds(patient, folder, noted)}"
        for (folder, _, _), look in zip(rows, looks, strict=True)
        for line in (look.trouble or "").splitlines()
    ]
    if troubles:
        mend = "Mend it: it holds from the next message on, without a restart."
        return [broken("senders", why, mend) for why in troubles]
    limited = sum(look.rules is not None and look.rules.mode is not SenderMode.ANYONE for look in looks)
    return [well("senders", f"{limited} of {len(rows)} groups limit who may set the assistant off.")]


def _what_holds(patient: Patient, folder: str, noted: Collection[str]) -> str:
    """Who is heard meanwhile, as whoever runs has noted it; nothing where it has not looked yet."""
    if patient.pid is not None and f"senders-kept:{folder}" in noted:
        return " What it said before still holds."
    if patient.pid is None or f"senders:{folder}" in noted:
        return " Only operators are heard there."
    return ""


def is_made(path: Path) -> bool:
    """An empty file is what a start leaves that was interrupted before its first write."""
    return path.exists() and (not path.is_file() or path.stat().st_size > 0)


def _restore(patient: Patient) -> str:
    try:
        found = [*patient.paths.backups.glob("*.db"), *patient.paths.backups.glob(f"*{SUFFIX}")]
        backups = sorted(found, key=lambda path: path.stat().st_mtime)
    except OSError:
        backups = []
    if backups and backups[-1].name.endswith(SUFFIX):
        return f"Stop Dovecote, then: dovecote restore data/backups/{backups[-1].name}"
    if not backups:
        return f"{_MOVE_ASIDE}; the next start makes a new one. There is no backup in data/backups."
    return f"{_MOVE_ASIDE}, and put data/backups/{backups[-1].name} there as dovecote.db."


def open_store(patient: Patient) -> sqlite3.Connection:
    """The database, to be read beside whoever writes it. Raises sqlite3.Error."""
    place = quote(str(patient.paths.database))
    return sqlite3.connect(f"file:{place}?mode=ro", uri=True, timeout=5)
