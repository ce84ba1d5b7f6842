"""How many request files go into one batch: as many as do not keep a lone file of another box waiting."""

from dataclasses import dataclass
from typing import Final

FEW: Final = 100
MANY: Final = 300
"""Of a large backlog: the more share a commit, the less each costs."""
LARGE_BACKLOG: Final = 1_000
LEAST: Final = 25
LASTS_S: Final = 0.03
"""What comes just after a batch has begun waits for that one and for its own: less than 100 ms for both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast the last batch went."""

    files: int
    took_s: float


def batch_size(backlog: int, pace: Pace | None) -> int:
    """Files of the next batch. pace: None before the first one, and of a batch of too few to tell."""
    wanted = MANY if backlog > LARGE_BACKLOG else FEW
    if pace is None or pace.took_s <= 0:
        return wanted
    in_time = pace.files * LASTS_S / pace.took_s
    return max(LEAST, int(min(wanted, in_time)))
