"""No event is told twice to one connection, whatever it watches and whenever it came (FP17)."""

import asyncio
from itertools import count
from pathlib import Path

from tests.edges.api.test_event_delivery import TREE, Reader, World, accounted, line, world_at
from tests.support.eventually import eventually


async def test_fp17_who_watches_all_trees_and_one_of_them_gets_each_event_once(tmp_path: Path) -> None:
    async with world_at(tmp_path) as world:
        reader = world.come()
        for tree in ("*", TREE, TREE):
            reader.ask(type="subscribe", treeId=tree)
        await world.confirmed(reader, 3)

        await world.happen(*(line(str(number)) for number in range(1, 6)))
        await eventually(lambda: 5 in accounted(reader.heard))
        reader.go()

    assert accounted(reader.heard) == [1, 2, 3, 4, 5]


async def test_fp17_who_comes_while_much_happens_gets_what_was_and_what_is_once(tmp_path: Path) -> None:
    async with world_at(tmp_path) as world:
        await world.happen(*(line(str(number)) for number in range(1, 601)))  # more than a page
        async with asyncio.TaskGroup() as tasks:
            happening = tasks.create_task(_go_on(world, since=601))
            readers = [await _come_back(world, TREE) for _ in range(10)]
            readers += [await _come_back(world, "*") for _ in range(10)]
            happening.cancel()
        await world.happen(line("the last"))
        await eventually(lambda: all("the last" in _said(each) for each in readers))
        for each in readers:
            each.go()

    numbers = [accounted(each.heard) for each in readers]
    assert numbers == [list(range(1, numbers[0][-1] + 1))] * 20


async def _go_on(world: World, *, since: int) -> None:
    """Something happens, and then something else, until nobody wants to know any more."""
    for number in count(since):
        await world.happen(line(str(number)))


async def _come_back(world: World, tree: str) -> Reader:
    """A reader who has heard of nothing yet, once he is told that he is up to date."""
    reader = world.come()
    reader.ask(type="subscribe", treeId=tree, since=0)
    await world.confirmed(reader)
    return reader


def _said(reader: Reader) -> list[object]:
    return [each.get("message") for each in reader.heard]
