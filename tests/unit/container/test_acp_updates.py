"""The queue between what a program tells and who writes it down."""

import asyncio

from container.drivers.acp_updates import Updates


async def test_updates_come_out_in_the_order_in_which_they_were_put_and_only_within_a_turn() -> None:
    updates = Updates()
    updates.put("before")
    updates.open()
    for number in range(5):
        updates.put(number)

    taken = [updates.take() for _ in range(6)]
    updates.close()
    updates.put("after")

    assert taken == [0, 1, 2, 3, 4, None]
    assert updates.take() is None


async def test_a_program_that_is_faster_than_its_reader_waits_and_never_longer_than_the_turn() -> None:
    updates = Updates()
    updates.open()
    for number in range(1_000):
        updates.put(number)
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(updates.room())
        done, _ = await asyncio.wait({waiting}, timeout=0.05)
        updates.close()

    assert done == set()
