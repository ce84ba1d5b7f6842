"""Which incidents are under way and which of them people were told of, so that each notice is said once."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from orchestrator.contracts.records.standing import OpenIncident
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, to_ms
from orchestrator.store.transaction import Transaction

OPEN: Final = """
INSERT INTO notices (incident, opened_ms) VALUES (:incident, :at_ms)
ON CONFLICT (incident) DO UPDATE SET count = count + 1
RETURNING count, opened_ms, told_ms
"""
MARK_TOLD: Final = "UPDATE notices SET told_ms = :at_ms WHERE incident = :incident"
TOLD_AT: Final = "SELECT told_ms, opened_ms FROM notices WHERE incident = :incident AND told_ms IS NOT NULL"
OPENED: Final = "SELECT opened_ms FROM notices WHERE incident = :incident"
OPENED_AFTER: Final = """
SELECT incident, opened_ms, count FROM notices
 WHERE incident >= :prefix AND incident < :behind AND opened_ms > :after_ms AND opened_ms <= :now_ms
 ORDER BY opened_ms, incident
"""
NAMES: Final = "SELECT incident FROM notices WHERE incident >= :prefix AND incident < :behind"
FORGET: Final = """
DELETE FROM notices WHERE incident >= :prefix AND incident < :behind AND opened_ms < :before_ms
"""
CLOSE: Final = "DELETE FROM notices WHERE incident = :incident RETURNING told_ms, opened_ms"


TOLD: Final = """
SELECT incident FROM notices
 WHERE told_ms IS NOT NULL AND incident IN (SELECT value FROM json_each(:incidents))
 ORDER BY incident
"""

TOLD_OF_KIND: Final = """
SELECT incident FROM notices
 WHERE told_ms IS NOT NULL AND incident >= :first AND incident < :behind
 ORDER BY incident
"""


def count_one(tx: Transaction, incident: str, *, at: datetime) -> tuple[int, bool]:
    """Note one more occurrence. Returns how many since it began, and whether somebody was told."""
    row = tx.one(OPEN, {"incident": incident, "at_ms": to_ms(at)})
    assert row is not None
    return int(row["count"]), row["told_ms"] is not None


def mark_told(tx: Transaction, incident: str, *, at: datetime) -> None:
    """Somebody was told of it."""
    tx.execute(MARK_TOLD, {"incident": incident, "at_ms": to_ms(at)})


async def told(reader: Reader, incidents: Sequence[str]) -> list[str]:
    """Those of these incidents that people were told of and that are not over."""
    rows = await reader.all(TOLD, {"incidents": json.dumps(list(incidents))})
    return [str(row["incident"]) for row in rows]


def is_told(tx: Transaction, incident: str) -> bool:
    """Whether people were told of it and it is not over."""
    row = tx.one(TOLD, {"incidents": json.dumps([incident])})
    return row is not None


def last_told(tx: Transaction, incident: str) -> tuple[datetime, datetime] | None:
    """When people were last told of it, and when it began; None if nobody was told."""
    row = tx.one(TOLD_AT, {"incident": incident})
    return None if row is None else (from_ms(row["told_ms"]), from_ms(row["opened_ms"]))


def told_of(tx: Transaction, kind: str) -> list[str]:
    """The incidents `kind:…` that people were told of and that are not over, in order."""
    # ';' follows ':', so that the index is used.
    rows = tx.all(TOLD_OF_KIND, {"first": f"{kind}:", "behind": f"{kind};"})
    return [str(row["incident"]) for row in rows]


def close(tx: Transaction, incident: str) -> bool:
    """It is over. Returns whether somebody had been told, who then deserves an all-clear."""
    row = tx.one(CLOSE, {"incident": incident})
    return row is not None and row["told_ms"] is not None


def opened_at(tx: Transaction, incident: str) -> datetime | None:
    """When it began; None if it is not under way."""
    row = tx.one(OPENED, {"incident": incident})
    return None if row is None else from_ms(row["opened_ms"])


async def opened_after(
    reader: Reader, *, prefix: str, after: datetime, now: datetime
) -> tuple[OpenIncident, ...]:
    """The incidents under way whose name begins so and that began since, told or not, oldest first."""
    wanted = {
        "prefix": prefix,
        "behind": _behind(prefix),
        "after_ms": to_ms(after),
        "now_ms": to_ms(now),
    }
    return tuple(
        [
            OpenIncident(name=row["incident"], opened_at=from_ms(row["opened_ms"]), count=row["count"])
            for row in await reader.all(OPENED_AFTER, wanted)
        ]
    )


def names(tx: Transaction, *, prefix: str) -> frozenset[str]:
    """The incidents under way whose name begins so."""
    rows = tx.all(NAMES, {"prefix": prefix, "behind": _behind(prefix)})
    return frozenset(row["incident"] for row in rows)


def forget(tx: Transaction, *, prefix: str, before: datetime) -> None:
    """Drop incidents of that kind that began before and whose end nobody is told of."""
    tx.execute(FORGET, {"prefix": prefix, "behind": _behind(prefix), "before_ms": to_ms(before)})


def _behind(prefix: str) -> str:
    """The first text behind all that begin with `prefix`, in SQLite's own order of texts."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
