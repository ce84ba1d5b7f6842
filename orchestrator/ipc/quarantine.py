"""Where requests go that were refused: a copy for the operator, with the reason beside it.

`errors/{box}/` is the host's alone. Blocking, like all of the file work here.
"""

import json
import re
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import structlog

from orchestrator.contracts.ids import BoxName
from orchestrator.contracts.wire.boxes import KEEP_REFUSED
from orchestrator.store.dir_removal import remove_dir
from orchestrator.store.refusals import BOX_SUFFIX, REASON_SUFFIX
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry, Vanished, printable

_log = structlog.get_logger(__name__)
MAX_ENTRIES: Final = 1_000
"""Refused requests kept for one box; each may be two files."""
MAX_BYTES: Final = 64 * 1024 * 1024
"""Of the copies kept for one box; of older ones only the reasons stay."""
_PRUNE_EVERY: Final = 50
_MAX_NAME_CHARS: Final = 160
_ODD: Final = re.compile(r"[^A-Za-z0-9._@-]")
_SLICE: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A refused file. raw: what it held; None when it was no file that can be kept."""

    box: BoxName
    directory: str
    name: str
    raw: bytes | None
    code: str
    message: str
    suggestion: str | None
    request_id: str | None


class Quarantine:
    """The directory `errors`, a folder a box in it."""

    def __init__(self, errors: SafeDir) -> None:
        self._errors = errors
        self._put_since_prune: dict[BoxName, int] = {}
        # Pruning takes away unfinished files, which a crash left: it must not meet one that is being written.
        self._one_at_a_time = threading.Lock()

    def put(self, evidence: Evidence, *, at: datetime) -> None:
        """Keep it. Beyond the bounds the oldest go. Raises OSError when the disk is full."""
        stem = f"{_ms(at)}-{secrets.token_hex(3)}-{evidence.directory}-{_tame(evidence.name)}"
        reason = {
            "box": evidence.box,
            "directory": evidence.directory,
            "name": printable(evidence.name),
            "code": evidence.code,
            "message": evidence.message,
            "suggestion": evidence.suggestion,
            "requestId": evidence.request_id,
            "sizeBytes": None if evidence.raw is None else len(evidence.raw),
            "refusedAt": at.isoformat(timespec="milliseconds"),
        }
        with self._one_at_a_time, self._folder(evidence.box) as folder:
            if evidence.raw is not None:
                folder.write_atomically(stem, evidence.raw)
            line = json.dumps(reason, ensure_ascii=False, indent=1) + "\n"
            folder.write_atomically(stem + REASON_SUFFIX, line.encode("utf-8", "backslashreplace"))
            count = self._put_since_prune.get(evidence.box, _PRUNE_EVERY) + 1
            if count > _PRUNE_EVERY:
                _prune(folder, at)
                count = 0
            self._put_since_prune[evidence.box] = count

    def take_in(self, ipc: SafeDir, name: BoxName, *, at: datetime) -> None:
        """Move the whole box `name` from `ipc` here."""
        ipc.mend_child(name)  # a directory moves only with the right to write in it
        with self._one_at_a_time, self._folder(name) as folder:
            ipc.rename(name, f"{_ms(at)}-{secrets.token_hex(3)}{BOX_SUFFIX}", to=folder)

    def prune(self, *, now: datetime) -> None:
        """Remove what is older than a week or beyond the bounds, in every folder."""
        for name in self._errors.names(100_000)[0]:
            try:
                with self._one_at_a_time, self._errors.child(name) as folder:
                    if _prune(folder, now) == 0:
                        self._errors.remove_empty(name)
            except Vanished:
                continue
            except (UnsafeEntry, OSError) as error:
                _log.warning("evidence.not_pruned", name=name, error=str(error))
            self._put_since_prune.pop(BoxName(name), None)

    def close(self) -> None:
        """Give the descriptor back."""
        self._errors.close()

    def _folder(self, box: BoxName) -> SafeDir:
        if self._errors.entry(box) is None:
            return self._errors.make_child(box, mode=0o700)
        return self._errors.child(box)


def _prune(folder: SafeDir, now: datetime) -> int:
    """Remove what is too old or too much; how many entries stay."""
    names, _ = folder.names(100 * MAX_ENTRIES)
    oldest = str(_ms(now - KEEP_REFUSED))
    reasons = [name for name in names if name.endswith(REASON_SUFFIX)]
    # A copy and its reason share what stands before the suffix, so they go together.
    surplus = {name.removesuffix(REASON_SUFFIX) for name in reasons[: max(len(reasons) - MAX_ENTRIES, 0)]}
    gone = [name for name in names if name < oldest or name.removesuffix(REASON_SUFFIX) in surplus]
    gone_already = frozenset(gone)
    gone += _beyond_the_bytes(folder, [name for name in names if name not in gone_already])
    for name in gone:
        try:
            _remove(folder, name)
        except (UnsafeEntry, OSError) as error:
            _log.warning("evidence.not_removed", name=name, error=str(error))
    return len(names) - len(gone)


def _beyond_the_bytes(folder: SafeDir, names: Sequence[str]) -> list[str]:
    """Copies that are too much, the oldest first to go."""
    size_bytes, found = 0, list[str]()
    for name in sorted(names, reverse=True):
        entry = None if name.endswith((REASON_SUFFIX, BOX_SUFFIX)) else folder.entry(name)
        if entry is not None:
            size_bytes += entry.size
            if size_bytes > MAX_BYTES:
                found.append(name)
    return found


def _remove(folder: SafeDir, name: str) -> None:
    entry = folder.entry(name)
    if entry is not None and entry.is_dir:
        with folder.own_child(name) as below:
            is_empty = (removal := remove_dir(below, max_entries=_SLICE)).is_done and not removal.left
        if is_empty:  # else it goes on with the next pruning
            folder.remove_empty(name)
    elif entry is not None:
        folder.remove(name)


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def _tame(name: str) -> str:
    """`name` without what could surprise a shell or a terminal, and not too long."""
    return _ODD.sub("_", printable(name))[:_MAX_NAME_CHARS]
