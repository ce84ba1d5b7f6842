"""How far a chat is done."""

from collections.abc import Sequence
from math import inf
from typing import Final

from orchestrator.contracts.records.messages import MessageStatus

_OPEN: Final = frozenset({MessageStatus.PENDING, MessageStatus.DISPATCHED})


def settled_up_to(rows: Sequence[tuple[int, MessageStatus]], cursor: int) -> int:
    """The greatest `seq` such that no row up to it is pending or dispatched.

    rows: one chat's, in any order; all from its oldest open row on. cursor: the value so far, which is
    kept if `rows` has nothing newer. It goes back when a row below it was opened again by `/retry`.
    Source: contracts.md section 6.
    """
    first_open = min((seq for seq, status in rows if status in _OPEN), default=inf)
    if first_open <= cursor:
        return int(first_open) - 1
    return max((seq for seq, _ in rows if cursor < seq < first_open), default=cursor)
