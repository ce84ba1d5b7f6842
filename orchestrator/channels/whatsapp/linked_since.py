"""Since when the account is linked: what was written earlier is history of the phone's."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

_SUFFIX: Final = ".linked"


def note_linked(session: Path, at: datetime) -> None:
    """Remember it beside the session. Raises OSError."""
    unfinished = session.with_suffix(f"{_SUFFIX}.tmp")
    unfinished.write_text(at.isoformat(), encoding="ascii")
    unfinished.rename(session.with_suffix(_SUFFIX))


def linked_since(session: Path) -> datetime | None:
    """When it was linked; None if that is not known."""
    try:
        found = datetime.fromisoformat(session.with_suffix(_SUFFIX).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def forget_linked(session: Path) -> None:
    """It is linked no more. Raises OSError."""
    session.with_suffix(_SUFFIX).unlink(missing_ok=True)


def heard_from(session: Path, *, now: datetime, max_age: timedelta) -> datetime:
    """What was sent earlier is passed over: before the link, or longer ago than a chat still waits for it."""
    since = linked_since(session)
    oldest = now - max_age
    return oldest if since is None else max(since, oldest)
