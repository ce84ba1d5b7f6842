"""Leave that people give, or do not. The answers' meanings are tested with a real program."""

import asyncio
import os
from collections.abc import AsyncIterator

import pytest

from container.drivers.driver import Turn
from container.drivers.leave import NOBODY_ANSWERED, TURN_OVER, LeaveAsker
from container.output import Output
from orchestrator.contracts.ids import TurnId
from tests.edges.container.agent_process import eventually


@pytest.fixture
async def turn() -> AsyncIterator[Turn]:
    """A turn whose questions nobody answers."""
    reading, writing = os.pipe()
    try:
        yield Turn(turn_id=TurnId("turn-1"), messages=(), output=Output(writing))
    finally:
        os.close(reading)
        os.close(writing)


async def test_whom_nobody_answers_in_time_has_no_leave(turn: Turn) -> None:
    asker = LeaveAsker(wait_s=0.01)
    asker.begin(turn)

    assert await asker.ask("May I?") == NOBODY_ANSWERED
    assert not asker.is_waiting


async def test_who_waits_when_the_turn_ends_has_no_leave(turn: Turn) -> None:
    asker = LeaveAsker(wait_s=600)
    asker.begin(turn)

    async with asyncio.TaskGroup() as tasks:
        answers = [tasks.create_task(asker.ask(f"May I {n}?")) for n in range(2)]
        await eventually(lambda: asker.is_waiting)
        asker.end()

    assert {answer.result() for answer in answers} == {TURN_OVER}
    assert await asker.ask("May I now?") == TURN_OVER


async def test_who_is_cancelled_waits_for_nobody_any_more(turn: Turn) -> None:
    asker = LeaveAsker(wait_s=600)
    asker.begin(turn)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await asker.ask("May I?")

    assert not asker.is_waiting
