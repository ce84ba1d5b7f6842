"""A seed says all of a plan."""

from hypothesis import given
from hypothesis import strategies as st

from tests.torture.plan import DeedKind, Size, draw_plan


@given(st.integers(0, 2**32))
def test_a_seed_gives_the_same_plan_each_time_and_each_message_a_number_of_its_own(seed: int) -> None:
    size = Size(lives=3, own_disk=True)

    drawn = draw_plan(seed, size)
    numbers = [
        deed.number
        for life in drawn.lives
        for deed in life.deeds
        if deed.kind in (DeedKind.ASK, DeedKind.CHATTER)
    ]

    assert drawn == draw_plan(seed, size)
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
