"""What was refused of boxes, as it lies in `data/ipc/errors`: the reasons, newest first. Blocking."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.times import to_ms
from orchestrator.store.unsafe import UnsafeEntry

ERRORS: Final = "errors"
"""The folder of all refusals, among the boxes."""
REASON_SUFFIX: Final = ".reason.json"
BOX_SUFFIX: Final = "-box"
"""The end of the name of a whole box that was set aside."""
_MAX_REASON_BYTES: Final = 64 * 1024
_MAX_FOLDERS: Final = 100_000
_MAX_NAMES: Final = 100_000


def list_refusals(ipc: Path, *, box: str | None, count: int) -> list[dict[str, object]]:
    """The newest refusals, of one box or of all. Each holds what its reason file says, and `file`.

    file: where the copy lies below `errors`, or would lie if it could have been kept.
    """
    try:
        with SafeDir.open(ipc / ERRORS) as errors:
            found = [
                (name, folder)
                for folder in errors.names(_MAX_FOLDERS)[0]
                if box is None or folder == box
                for name in _names(errors, folder)
            ]
            # Names begin with the milliseconds of their refusal.
            newest = sorted(found, reverse=True)[:count]
            return [_refusal(errors, folder, name) for name, folder in newest]
    except (FileNotFoundError, UnsafeEntry):
        return []  # nothing was ever refused here


def count_refusals(ipc: Path, *, since: datetime | None = None) -> dict[str, int]:
    """How many refusals are kept of each box, of those that came at `since` or later. Reads no file."""
    first = 0 if since is None else to_ms(since)
    try:
        with SafeDir.open(ipc / ERRORS) as errors:
            kept = {folder: _names(errors, folder) for folder in errors.names(_MAX_FOLDERS)[0]}
            counts = {folder: sum(_ms(name) >= first for name in names) for folder, names in kept.items()}
    except (FileNotFoundError, UnsafeEntry):
        return {}
    return {folder: count for folder, count in counts.items() if count}


def _names(errors: SafeDir, folder: str) -> Iterator[str]:
    try:
        with errors.child(folder) as opened:
            names = opened.names(_MAX_NAMES)[0]
    except UnsafeEntry:
        return
    yield from (name for name in names if name.endswith((REASON_SUFFIX, BOX_SUFFIX)))


def _refusal(errors: SafeDir, folder: str, name: str) -> dict[str, object]:
    place = f"{folder}/{name.removesuffix(REASON_SUFFIX)}"
    if not name.endswith(REASON_SUFFIX):
        return {
            "box": folder,
            "message": "The whole box was set aside: no agent was known for it.",
            "refusedAt": _moment(name),
            "file": place,
        }
    return {"box": folder, "refusedAt": _moment(name), **_reason(errors, folder, name), "file": place}


def _reason(errors: SafeDir, folder: str, name: str) -> Mapping[str, object]:
    try:
        with errors.child(folder) as opened:
            plain = json.loads(opened.read(name, _MAX_REASON_BYTES).raw)
    except (UnsafeEntry, ValueError) as error:
        return {"message": f"Its reason can't be read: {error}"}
    return plain if isinstance(plain, dict) else {"message": "Its reason can't be read: it is no object."}


def _moment(name: str) -> str | None:
    ms = _ms(name)
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds") if ms else None


def _ms(name: str) -> int:
    """When it was refused; 0 for a name that does not say so."""
    ms = name.partition("-")[0]
    return int(ms) if ms.isdecimal() and len(ms) <= 14 else 0
