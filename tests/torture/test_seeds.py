"""A share of the rig for every gate: a few fixed seeds, small. `make torture` runs on from any seed."""

import asyncio
from pathlib import Path

import pytest

from tests.torture.plan import Size, Wish, draw_plan
from tests.torture.play import play, rig_in
from tests.torture.verdict import faults_of

_SMALL = Size(
    lives=2,
    asks=6,
    life_s=1.5,
    wishes=(Wish.PLAIN, Wish.TWICE, Wish.DIES_LATE, Wish.GARBAGE, Wish.LEFT_IN_BOX),
)


@pytest.mark.timeout(400)  # of many starts, each with a deadline of its own
@pytest.mark.bubblewrap
@pytest.mark.parametrize("seed", [3, 5])
async def test_nothing_is_lost_doubled_or_silent_whatever_is_killed(seed: int, open_path: Path) -> None:
    with rig_in(open_path, draw_plan(seed, _SMALL)) as rig:
        await play(rig)
        faults = await asyncio.to_thread(faults_of, rig)

    assert faults == [], f"make torture SEED={seed} shows it at length"
