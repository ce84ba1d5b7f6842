"""When the session of this home was last opened: some programs file their sessions by the minute."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from container.drivers.workspace_files import WorkspaceFiles
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.wire.codec import WireError, parse_json

_FILE: Final = ".dovecote-acp.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSession:
    """A session and when it was last begun or loaded."""

    session_id: str
    at: datetime


def read_opened(home: Path) -> OpenedSession | None:
    """The one on file; None if there is none that can be read. Blocks: call it in a thread."""
    try:
        plain = parse_json(WorkspaceFiles(home).read(_FILE))
        if not isinstance(plain, dict):
            return None
        at = datetime.fromisoformat(str(plain.get("at")))
    except (DovecoteError, WireError, ValueError):
        return None
    return OpenedSession(session_id=str(plain.get("sessionId")), at=at) if at.tzinfo is not None else None


def write_opened(home: Path, opened: OpenedSession) -> None:
    """Put it on file. Blocks: call it in a thread. Raises DovecoteError."""
    plain = {"sessionId": opened.session_id, "at": opened.at.isoformat()}
    WorkspaceFiles(home).write(_FILE, json.dumps(plain))


def minute_wait_s(opened: OpenedSession | None, session_id: str, now: datetime) -> float:
    """Seconds until a session may be loaded where a load within the minute of its opening destroys it."""
    if opened is None or opened.session_id != session_id:
        return 0.0
    minute = opened.at.replace(second=0, microsecond=0)
    end = minute + timedelta(minutes=1)
    return (end - now).total_seconds() if minute <= now < end else 0.0
