"""The doctor's checks of the place: directories, disk, lock, log."""

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

from orchestrator.cli.findings import Finding, Patient, broken, doubtful, well
from orchestrator.contracts.errors import DovecoteError
from orchestrator.core.text_cleaning import clean_text
from orchestrator.paths import open_mode

_LOG_TAIL_BYTES: Final = 256 * 1024
_GIB: Final = 1024**3


def check_directories(patient: Patient) -> Finding:
    """What Dovecote writes is its own, and nobody else reads it."""
    what, paths = "permissions", patient.paths
    if not paths.home.is_dir():
        return broken(what, f"{paths.home} is not a directory.", f"mkdir -p {paths.home}")
    if not os.access(paths.home, os.W_OK | os.X_OK):
        return broken(what, f"{paths.home} is not writable for this user.", f"sudo chown $USER {paths.home}")
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
    try:
        left = lock.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        left = ""
    if left:
        why = f"None runs. The last one (process {clean_text(left)[:20]}) ended without shutting down."
        return doubtful("orchestrator", why, "dovecote serve   (it settles what the last one left)")
    return doubtful("orchestrator", "None runs here.", "dovecote serve")


def check_socket(patient: Patient) -> Finding:
    """The running orchestrator answers, and how much it has to do."""
    if patient.pid is None:
        return well("api", "Closed, since no orchestrator runs.")
    try:
        status = asyncio.run(_status(patient))
    except DovecoteError as error:
        return broken("api", error.message, error.suggestion)
    if status is None:
        return doubtful("api", "The orchestrator ended just now.", "dovecote serve")
    return well(
        "api",
        f"Answers. {len(status['live_agents'])} agents live, {status['messages_waiting']} messages and "
        f"{status['texts_waiting']} texts wait.",
    )


async def _status(patient: Patient) -> Any:
    from orchestrator.cli.client import running_client

    client = await running_client(patient.paths)
    if client is None:
        return None
    async with client:
        return await client.call("GET", "/api/v1/status", timeout_s=10)


def check_log(patient: Patient) -> Finding:
    """The newest error that was logged."""
    line = _last_error(patient.paths.log_file)
    if line is None:
        return well("log", f"No error in {patient.paths.log_file.name}.")
    said = f"{line.get('event')} at {line.get('timestamp')}: {line.get('error', '')}"
    mend = line.get("suggestion") or f"Look into {patient.paths.log_file}."
    return doubtful("log", clean_text(said).strip(" :")[:300], clean_text(str(mend))[:300])


def _last_error(path: Path) -> dict[str, object] | None:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOG_TAIL_BYTES))
            lines = file.read(_LOG_TAIL_BYTES).splitlines()
    except OSError:
        return None
    for raw in reversed(lines):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict) and line.get("level") in ("error", "critical"):
            return line
    return None
