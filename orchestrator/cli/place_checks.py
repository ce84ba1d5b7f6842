"""The doctor's checks of the place: directories, disk, lock, log."""

import contextlib
import errno
import json
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from orchestrator.app.parts import SystemClock
from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.cli.labels import instant
from orchestrator.contracts.os_errors import advice_for
from orchestrator.contracts.records.agents import EndReason
from orchestrator.core.agents.endings import ended_in_words
from orchestrator.core.text_cleaning import clean_text
from orchestrator.paths import open_mode
from orchestrator.store.opening import LONGEST_PATH_BYTES

_LOG_TAIL_BYTES: Final = 256 * 1024
_GIB: Final = 1024**3
_FRESH_FOR: Final = timedelta(hours=24)
# Logged once by every start that got as far as its store.
_STARTED: Final = "runner.chosen"
_AGENT_ENDED: Final = "agent.ended"


def check_directories(patient: Patient) -> Finding:
    """What Dovecote writes is its own, and nobody else reads it."""
    what, paths = "permissions", patient.paths
    if (unwritable := _why_unwritable(paths.home)) is not None:
        return unwritable
    size = len(os.fsencode(paths.database))
    if size > LONGEST_PATH_BYTES:
        why = f"The database's path {paths.database} has {size} bytes; {LONGEST_PATH_BYTES} are possible."
        return broken(what, why, "Use a home with a shorter path.")
    for path in (paths.data, paths.store, paths.operator_token, paths.database, paths.logs, paths.groups):
        if not path.exists():
            continue
        if path.stat().st_uid != os.geteuid():
            return broken(what, f"{path} belongs to another user.", f"sudo chown -R $USER {path}")
        if open_mode(path):
            return doubtful(what, f"Other users can read {path}.", f"chmod go-rw {path}")
    if not paths.data.exists():
        return well(what, f"{paths.home} is writable; the first start makes data/.")
    return well(what, f"{paths.data} is private to this user.")


def _why_unwritable(home: Path) -> Finding | None:
    what = "permissions"
    try:
        is_directory = stat.S_ISDIR(home.stat().st_mode)
        is_read_only = bool(os.statvfs(home).f_flag & os.ST_RDONLY)
    except OSError as error:
        mend = f"mkdir -p {home}" if error.errno == errno.ENOENT else advice_for(error)
        return broken(what, f"{home} cannot be used: {error.strerror}.", mend)
    if not is_directory:
        return broken(what, f"{home} is not a directory.", "Name a directory with --home.")
    if is_read_only:
        refusal = OSError(errno.EROFS, os.strerror(errno.EROFS))
        return broken(what, f"{home} cannot be written: {refusal.strerror}.", advice_for(refusal))
    if not os.access(home, os.W_OK | os.X_OK):
        return broken(what, f"{home} is not writable for this user.", f"sudo chown $USER {home}")
    return None


def check_disk(patient: Patient) -> Finding:
    """There is room above the floor below which no agent starts."""
    home, floor = patient.paths.home, patient.settings.disk_floor_bytes
    try:
        free = shutil.disk_usage(home).free
    except OSError as error:
        return broken("disk", f"Free space of {home} cannot be read: {error.strerror}.", None)
    said = f"{free / _GIB:.1f} GiB free."
    if free < floor:
        mend = "Free some space, or set disk_floor_bytes lower."
        return broken("disk", f"{said} Below {floor / _GIB:.1f} GiB no agent starts.", mend)
    if free < 2 * floor:
        return doubtful("disk", f"{said} Below {floor / _GIB:.1f} GiB no agent starts.", "Free some space.")
    return well("disk", said)


def check_lock(patient: Patient) -> Finding:
    """Who runs in this home."""
    lock = patient.paths.lock
    if patient.pid is not None:
        return well("orchestrator", f"Process {patient.pid} runs here.")
    if lock.exists() and not lock.is_file():
        return broken("orchestrator", f"The lock {lock} is not a file.", f"mv {lock} {lock}.odd")
    try:
        left = lock.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        left = ""
    if left:
        why = f"None runs. The last one (process {clean_text(left)[:20]}) ended without shutting down."
        return doubtful("orchestrator", why, "dovecote serve   (it settles what the last one left)")
    return doubtful("orchestrator", "None runs here.", "dovecote serve")


def check_log(patient: Patient) -> Finding:
    """The errors that were logged since the last start, of the last day."""
    errors = _fresh_errors(_tail(patient.paths.log_file), now=SystemClock().now())
    if not errors:
        return well("log", f"No error in {patient.paths.log_file.name} since the last start, or for a day.")
    line = errors[-1]
    last, advice = _in_words(line)
    count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
    mend = line.get("suggestion") or advice or f"Look into {patient.paths.log_file}."
    said = clean_text(f"{count} since the last start. The last: {last}")
    return doubtful("log", said[:300], clean_text(str(mend))[:300])


def _in_words(line: Mapping[str, object]) -> tuple[str, str | None]:
    """What an error says, with where it happened; and what to do, where that is known."""
    agent, group, error = line.get("agent"), line.get("group"), line.get("error") or line.get("why")
    where = " of ".join([*([f"agent {agent}"] if agent else []), *([f"group {group}"] if group else [])])
    at = f" at {instant(str(line.get('timestamp')))}"
    if agent and line.get("event") == _AGENT_ENDED and line.get("reason") in list(EndReason):
        code = line.get("exit_code")
        how = "" if code is None else f" Its exit code was {code}."
        why = ended_in_words(EndReason(str(line["reason"])))
        return f"The {where} ended{at}. {why}{how}", f"See what it did: dovecote agent logs {agent}"
    return f"{line.get('event')}{f', {where}' if where else ''}{at}: {error or ''}".strip(" :"), None


def _fresh_errors(lines: Sequence[Mapping[str, object]], *, now: datetime) -> list[Mapping[str, object]]:
    starts = [place for place, line in enumerate(lines) if line.get("event") == _STARTED]
    since_start = lines[starts[-1] :] if starts else lines
    return [
        line
        for line in since_start
        if line.get("level") in ("error", "critical") and _age(line, now) < _FRESH_FOR
    ]


def _age(line: Mapping[str, object], now: datetime) -> timedelta:
    """How old it is; a line without a time counts as new."""
    try:
        return now - datetime.fromisoformat(str(line.get("timestamp")))
    except (ValueError, TypeError):
        return timedelta(0)


def _tail(path: Path) -> list[Mapping[str, object]]:
    """The last lines that are JSON objects."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOG_TAIL_BYTES))
            raw_lines = file.read(_LOG_TAIL_BYTES).splitlines()
    except OSError:
        return []
    lines: list[Mapping[str, object]] = []
    for raw in raw_lines:
        with contextlib.suppress(ValueError):
            line = json.loads(raw)
            if isinstance(line, dict):
                lines.append(line)
    return lines
