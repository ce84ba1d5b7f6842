"""Which of the waiting files are the next batch: boxes in turn, some files of each, in name order."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from orchestrator.contracts.wire.boxes import REQUEST_DIRECTORIES
from orchestrator.ipc.lane import Lane
from orchestrator.ipc.reading import Candidate

ALL_DIRECTORIES: Final = frozenset(REQUEST_DIRECTORIES)
AT_A_TIME: Final = 10
"""Files of one box before it is another one's turn. Rows of one box lie side by side in the store, so a batch
of few boxes writes few of its pages anew, and asks few things of each box."""
FEW: Final = 3
MAX_QUICK: Final = 5
"""So many boxes of few files overtake full ones; where there are more, they are the batch."""


def choose(
    lanes: Sequence[Lane], only: frozenset[str], now: float, *, room: int, per_minute: float | None
) -> list[Candidate]:
    """At most `room` files. Boxes of few files come first, with up to half of the room.

    per_minute: of a box; None for no limit.
    """
    waiting = {lane: count for lane in lanes if (count := lane.waiting(only))}
    chosen: list[Candidate] = []
    of_few = {lane: count for lane, count in waiting.items() if count <= FEW}
    if len(of_few) < len(waiting):
        chosen += _in_turn(of_few, only, now, room=room // 2, per_minute=per_minute)
        waiting = {lane: count for lane in waiting if (count := lane.waiting(only)) and lane.ready_at <= now}
    chosen += _in_turn(waiting, only, now, room=room - len(chosen), per_minute=per_minute)
    return chosen


def quick_ones(candidates: Sequence[Candidate]) -> frozenset[Lane]:
    """The boxes whose chosen files are all that they have: they need not wait for a batch."""
    counts = Counter(each.lane for each in candidates)
    quick = [
        lane
        for lane, count in counts.items()
        if count <= FEW and not lane.has_under_way and not lane.waiting(ALL_DIRECTORIES)
    ]
    return frozenset(quick if len(quick) <= MAX_QUICK else ())


def _in_turn(
    waiting: Mapping[Lane, int], only: frozenset[str], now: float, *, room: int, per_minute: float | None
) -> list[Candidate]:
    """Round after round over the boxes, until there is no more room or nothing that may go now."""
    chosen: list[Candidate] = []
    left = dict(waiting)
    while left and len(chosen) < room:
        for lane, count in list(left.items()):
            wanted = min(AT_A_TIME, count, room - len(chosen))
            some = list(_some_of(lane, wanted, only, now, per_minute=per_minute))
            chosen += some
            left[lane] -= len(some)
            if len(some) < wanted or not left[lane]:
                del left[lane]
    return chosen


def _some_of(
    lane: Lane, wanted: int, only: frozenset[str], now: float, *, per_minute: float | None
) -> Iterator[Candidate]:
    for _ in range(wanted):
        if not lane.take_token(now, per_minute=per_minute):
            return
        place = lane.next_name(only)
        assert place is not None  # no more are wanted than wait
        yield Candidate.of(lane, *place)
