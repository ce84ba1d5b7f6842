"""Single values that the installation remembers, such as its own id."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from orchestrator.contracts.ids import new_id
from orchestrator.store import agents
from orchestrator.store.times import from_ms, maybe_from_ms, to_ms
from orchestrator.store.transaction import Transaction

SET: Final = """
INSERT INTO facts (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
GET: Final = "SELECT value FROM facts WHERE name = :name"
NEWEST: Final = """
SELECT max(at_ms) AS newest_ms
  FROM (SELECT * FROM (SELECT claimed_ms AS at_ms FROM task_runs ORDER BY rowid DESC LIMIT 1)
        UNION ALL
        SELECT * FROM (SELECT received_ms AS at_ms FROM messages ORDER BY seq DESC LIMIT 1))
"""


_INSTANCE: Final = "instance"
_PATH: Final = "instance_path"
_INODE: Final = "instance_inode"


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePlace:
    """Where a home lies. A moved one keeps its inode, and one made anew in its place its path."""

    path: str
    inode: int

    @classmethod
    def of(cls, home: Path) -> "HomePlace":
        """Of a directory that is there. Raises OSError."""
        return cls(path=str(home), inode=home.stat().st_ino)


def instance_id(tx: Transaction, place: HomePlace) -> str:
    """The id of this installation, made once; what its agents' processes are labelled with.

    A copy of a home, such as a restored one, gets an id of its own, and what its records say of processes is
    forgotten: they are those of the home that was copied, which may be at work.
    """
    found = instance_of(lambda name: _value(tx, name), place)
    if found is None:
        found = new_id("dovecote")
        agents.forget_processes(tx)
    for name, value in ((_INSTANCE, found), (_PATH, place.path), (_INODE, str(place.inode))):
        tx.execute(SET, {"name": name, "value": value})
    return found


def instance_of(value: Callable[[str], str | None], place: HomePlace) -> str | None:
    """The id as it stands; None if there is none, or it is that of the home of which this one is a copy.

    value: reads a fact. A home that was last used before places were noted is taken for its own.
    """
    path, inode = value(_PATH), value(_INODE)
    is_own = path is None or path == place.path or inode == str(place.inode)
    return value(_INSTANCE) if is_own else None


def _value(tx: Transaction, name: str) -> str | None:
    row = tx.one(GET, {"name": name})
    return None if row is None else str(row["value"])


def newest_time(tx: Transaction) -> datetime | None:
    """When the newest message came or the newest run was claimed, by the clock of that moment."""
    row = tx.one(NEWEST)
    return None if row is None else maybe_from_ms(row["newest_ms"])


def note_sync(tx: Transaction, channel: str, *, at: datetime) -> None:
    """A channel said which group chats there are."""
    for name in ("chats_synced", f"chats_synced:{channel}"):
        tx.execute(SET, {"name": name, "value": str(to_ms(at))})


def was_synced(tx: Transaction, channel: str) -> bool:
    """Whether this channel ever said which group chats there are."""
    return tx.one(GET, {"name": f"chats_synced:{channel}"}) is not None


def last_sync(tx: Transaction) -> datetime | None:
    """When a channel last said which group chats there are."""
    row = tx.one(GET, {"name": "chats_synced"})
    return None if row is None else from_ms(int(row["value"]))
