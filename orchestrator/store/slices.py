"""Pruning from the oldest row on, a slice at a time, where no index goes by age: rows come in its order.

A clock that was set back leaves rows behind newer ones; they go when those do.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

BEGIN: Final = 0
"""Where the first slice begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What was done with some rows. removed: how many went. next_after: where the next slice begins; None:
    nothing that is old is behind this one."""

    removed: int
    next_after: int | None


def prune_slice(tx: Transaction, look: str, prune: str, *, after: int, before: datetime, count: int) -> Slice:
    """Look at the `count` rows behind the row `after`, and forget those that are old and done with.

    look: gives of those rows `n`, `last` and `oldest_ms`. prune: deletes between `:after` and `:last`.
    """
    row = tx.one(look, {"after": after, "count": count})
    if row is None or row["oldest_ms"] is None or row["oldest_ms"] >= to_ms(before):
        return Slice(removed=0, next_after=None)
    last = int(row["last"])
    gone = tx.execute(prune, {"after": after, "last": last, "before_ms": to_ms(before)}).rowcount
    return Slice(removed=gone, next_after=last if row["n"] == count else None)
