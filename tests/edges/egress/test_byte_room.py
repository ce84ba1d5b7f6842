"""Room for bodies: never more than there is, in the order of asking."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.egress.byte_room import ByteRoom


@settings(database=None, deadline=None, max_examples=60)
@given(
    sizes=st.lists(st.integers(min_value=0, max_value=15), max_size=12), given_up=st.sets(st.integers(0, 11))
)
async def test_no_more_is_held_than_there_is_and_everybody_gets_a_turn_in_order(
    sizes: list[int], given_up: set[int]
) -> None:
    room, held, most, began = ByteRoom(10), 0, 0, list[int]()

    async def hold(number: int, size: int) -> None:
        nonlocal held, most
        async with room.held(size) as mine:
            began.append(number)
            held += min(size, 10)
            most = max(most, held)
            await asyncio.sleep(0)
            mine.shrink(min(size, 10) // 2)
            held -= min(size, 10) - min(size, 10) // 2
            await asyncio.sleep(0)
            held -= min(size, 10) // 2

    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        holding = [tasks.create_task(hold(number, size)) for number, size in enumerate(sizes)]
        await asyncio.sleep(0)
        for number in given_up:
            if number < len(holding) and number not in began:
                holding[number].cancel()

    assert most <= 10
    assert began == sorted(began)
    async with asyncio.timeout(30), room.held(10):
        pass
