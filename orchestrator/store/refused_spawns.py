"""Spawns that were refused, counted by the hour, by whose wish it was and by why."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.contracts.errors import ErrorCode
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, to_ms
from orchestrator.store.transaction import Transaction

NOTE: Final = """
INSERT INTO refused_spawns (hour_ms, caller_key, code, is_kept, count, last_ms, message)
VALUES (:hour_ms, :caller_key, :code, :is_kept, 1, :at_ms, :message)
ON CONFLICT (hour_ms, caller_key, code, is_kept)
DO UPDATE SET count = count + 1, last_ms = :at_ms, message = :message
"""
BY_CODE: Final = """
SELECT code, sum(count) AS n FROM refused_spawns WHERE last_ms >= :since_ms GROUP BY code ORDER BY code
"""
UNKEPT: Final = """
SELECT caller_key, code, count, last_ms, message FROM refused_spawns
 WHERE is_kept = 0 AND (:caller_key IS NULL OR caller_key = :caller_key)
 ORDER BY last_ms DESC, caller_key, code LIMIT :count
"""
PRUNE: Final = """
DELETE FROM refused_spawns
 WHERE (hour_ms, caller_key, code, is_kept)
    IN (SELECT hour_ms, caller_key, code, is_kept FROM refused_spawns
         WHERE hour_ms < :before_ms - 3600000 LIMIT :count)
"""
_HOUR_MS: Final = 3_600_000
_MAX_MESSAGE_CHARS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSpawns:
    """Those of one caller in one hour, for one reason. message: of the last one, at `last_at`."""

    caller_key: str
    code: str
    count: int
    last_at: datetime
    message: str


def note(
    tx: Transaction, caller_key: str, code: ErrorCode, message: str, *, is_kept: bool, at: datetime
) -> None:
    """One more. is_kept: a copy of it lies among what was refused of boxes."""
    at_ms = to_ms(at)
    tx.execute(
        NOTE,
        {
            "hour_ms": at_ms - at_ms % _HOUR_MS,
            "caller_key": caller_key,
            "code": code.value,
            "is_kept": int(is_kept),
            "at_ms": at_ms,
            "message": message[:_MAX_MESSAGE_CHARS],
        },
    )


async def by_code(reader: Reader, *, since: datetime) -> Mapping[str, int]:
    """How many were refused for each reason, in whole hours."""
    return {row["code"]: row["n"] for row in await reader.all(BY_CODE, {"since_ms": to_ms(since)})}


async def unkept(reader: Reader, *, caller_key: str | None, count: int) -> list[RefusedSpawns]:
    """Those of which no copy is kept anywhere, the newest first; of one caller or of all."""
    rows = await reader.all(UNKEPT, {"caller_key": caller_key, "count": count})
    return [
        RefusedSpawns(
            caller_key=row["caller_key"],
            code=row["code"],
            count=row["count"],
            last_at=from_ms(row["last_ms"]),
            message=row["message"],
        )
        for row in rows
    ]


def prune(tx: Transaction, *, before: datetime, count: int) -> int:
    """Forget at most `count` rows of hours that were over by then; how many."""
    return tx.execute(PRUNE, {"before_ms": to_ms(before), "count": count}).rowcount
