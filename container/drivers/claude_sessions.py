"""The program's transcripts in the session home: how large they are, what was said last, which may go.

All of it may have been written by the agent: anything but a plain file is as good as absent. Methods
block; call them in a thread. Source: contracts.md section 3.
"""

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator.contracts.ids import is_file_name
from orchestrator.contracts.wire.boxes import temporary_name
from orchestrator.contracts.wire.codec import WireError, parse_json

_SUFFIX: Final = ".jsonl"
_COSTS: Final = "dovecote-costs.json"
_MAX_COSTS: Final = 100
_MAX_COSTS_BYTES: Final = 64 * 1024
_TAIL_BYTES: Final = 4 * 1024**2
_MAX_PART_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSessions:
    """How much of the past stays on the disk, beside the session in use."""

    count: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Transcript:
    path: Path
    size_bytes: int
    changed_ns: int


class ClaudeSessions:
    """The transcripts below one configuration directory of the program."""

    def __init__(self, configuration: Path) -> None:
        self._configuration = configuration

    def size_bytes(self, session_id: str) -> int | None:
        """How large a session's transcript is; None if there is none."""
        found = self._find(session_id)
        return None if found is None else found.size_bytes

    def last_words(self, session_id: str, *, max_chars: int) -> str:
        """The end of a conversation, a line for whatever was said or done; "" if nothing can be read."""
        found = self._find(session_id)
        if found is None:
            return ""
        lines: list[str] = []
        room = max_chars
        for line in reversed([words for row in _rows(found.path) for words in _words(row)]):
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
        return "\n".join(reversed(lines))

    def prune(self, kept: KeptSessions, *, in_use: str | None) -> list[str]:
        """Remove the oldest transcripts over a bound; returns the ids of those that went."""
        others = [found for found in self._all() if found.path.stem != in_use]
        others.sort(key=lambda found: found.changed_ns, reverse=True)
        gone: list[str] = []
        room = kept.size_bytes
        for place, found in enumerate(others):
            room -= found.size_bytes
            if place >= kept.count or room < 0:
                found.path.unlink(missing_ok=True)
                # Beside it lies what its helpers and its long results were written to.
                shutil.rmtree(found.path.with_suffix(""), ignore_errors=True)
                gone.append(found.path.stem)
        return gone

    def cost_usd(self, session_id: str) -> float | None:
        """What a session had cost when we last heard; None if that is not known."""
        return self._costs().get(session_id)

    def keep_cost(self, session_id: str, cost_usd: float) -> None:
        """Remember what a session has cost by now: the program counts on from there when it resumes."""
        costs = {name: cost for name, cost in self._costs().items() if name != session_id}
        costs[session_id] = cost_usd
        newest = dict(list(costs.items())[-_MAX_COSTS:])
        temporary = self._configuration / temporary_name(_COSTS)
        temporary.write_text(json.dumps(newest), encoding="utf-8")
        os.rename(temporary, self._configuration / _COSTS)

    def _costs(self) -> dict[str, float]:
        content = _content(self._configuration / _COSTS, last_bytes=_MAX_COSTS_BYTES)
        try:
            plain = parse_json(content) if content else {}
        except WireError:
            return {}
        if not isinstance(plain, dict):
            return {}
        return {name: float(cost) for name, cost in plain.items() if isinstance(cost, int | float)}

    def _find(self, session_id: str) -> _Transcript | None:
        if not is_file_name(session_id):
            return None
        return next((found for found in self._all() if found.path.stem == session_id), None)

    def _all(self) -> Iterator[_Transcript]:
        for path in self._configuration.glob(f"projects/*/*{_SUFFIX}"):
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                yield _Transcript(path=path, size_bytes=status.st_size, changed_ns=status.st_mtime_ns)


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """The lines at the end of a transcript that can be read; the first one may be half a line."""
    for line in _content(path, last_bytes=_TAIL_BYTES).splitlines():
        try:
            row = parse_json(line)
        except WireError:
            continue
        if isinstance(row, dict):
            yield row


def _words(row: Mapping[str, Any]) -> list[str]:
    """What one line of a transcript says for a reader: texts, uses of tools, their answers' beginnings."""
    message = row.get("message")
    if row.get("type") not in ("user", "assistant") or row.get("isApiErrorMessage"):
        return []
    if not isinstance(message, dict) or row.get("isSidechain"):
        return []
    who = "You" if row["type"] == "assistant" else "They"
    content = message.get("content")
    if isinstance(content, str):
        return [f"{who}: {_short(content)}"]
    blocks = content if isinstance(content, list) else []
    return [line for block in blocks if isinstance(block, dict) for line in _block_words(who, block)]


def _block_words(who: str, block: Mapping[str, Any]) -> list[str]:
    match block.get("type"):
        case "text":
            return [f"{who}: {_short(str(block.get('text', '')))}"]
        case "tool_use":
            return [f"You used {block.get('name')}: {_short(json.dumps(block.get('input')))}"]
        case "tool_result":
            return [f"It answered: {_short(str(block.get('content', '')))}"]
        case _:
            return []


def _short(text: str) -> str:
    return text if len(text) <= _MAX_PART_CHARS else f"{text[:_MAX_PART_CHARS]} […]"


def _content(path: Path, *, last_bytes: int) -> bytes:
    """The end of a plain file; nothing if it is none, since a FIFO must not hang us."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return b""
            file.seek(max(0, status.st_size - last_bytes))
            return file.read(last_bytes)
    except OSError:
        return b""
