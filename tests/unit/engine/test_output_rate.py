"""How fast an agent may print. Source: contracts.md section 2."""

import asyncio

import pytest

from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.wire.container_io import AgentEvent, Progress, TurnEnded, TurnError, TurnStarted
from orchestrator.engine.output_rate import OutputRate
from tests.support.eventually import eventually
from tests.support.manual_clock import ManualClock

AT_ONCE_S = 20.0
SHORT = Progress(progress=1)
LONG_INPUTS = TurnStarted(turn_id=TurnId("turn-1"), inputs=("x" * 32,) * 32_768)
LONG_ERROR = TurnEnded(turn_id=TurnId("turn-1"), error=TurnError(code="AGENT_ERROR", message="x" * 1024**2))


def rate(clock: ManualClock, *, burst: float = 3) -> OutputRate:
    """A pair each 10 ms behind the burst."""
    return OutputRate(clock, per_minute=6_000, burst=burst)


class Printing:
    """An agent that prints pairs without a pause, and how many were taken."""

    def __init__(self, limits: OutputRate) -> None:
        self._limits = limits
        self.taken = 0

    async def pairs(self) -> None:
        """Until cancelled."""
        while True:
            await self._limits.before_pair()
            self.taken += 1
            await asyncio.sleep(0)

    async def events(self, event: AgentEvent) -> None:
        """Until cancelled."""
        while True:
            await self._limits.before_event(event)
            self.taken += 1
            await asyncio.sleep(0)


async def test_pairs_behind_the_burst_come_one_by_one_in_their_time() -> None:
    clock = ManualClock()
    printing, seen = Printing(rate(clock)), []

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(printing.pairs())
        for count in (3, 4, 5):
            await eventually(lambda count=count: printing.taken == count)
            await asyncio.wait({task}, timeout=0.05)  # it would go on within 10 ms if it could
            seen.append(printing.taken)
            clock.advance(0.01)
        task.cancel()

    assert seen == [3, 4, 5]


async def test_pairs_and_events_hold_up_each_other_not_at_all() -> None:
    limits = rate(ManualClock(), burst=1)
    await limits.before_pair()

    async with asyncio.timeout(AT_ONCE_S):
        for _ in range(200):
            await limits.before_event(SHORT)


@pytest.mark.parametrize(
    ("event", "burst"),
    [(SHORT, 200), (LONG_INPUTS, 0), (LONG_ERROR, 0)],
    ids=["200 short ones", "a MiB of ids is more than the burst", "a MiB of reasons as well"],
)
async def test_a_long_event_counts_as_many(event: AgentEvent, burst: int) -> None:
    printing = Printing(rate(ManualClock()))

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(printing.events(event))
        await eventually(lambda: printing.taken == burst)
        await asyncio.wait({task}, timeout=0.2)  # an event more comes each 50 ms
        task.cancel()

    assert printing.taken == burst


async def test_what_a_dead_agent_left_is_taken_at_once_up_to_one_burst_more() -> None:
    limits = OutputRate(ManualClock(), per_minute=1, burst=3)
    for _ in range(3):
        await limits.before_pair()

    async with asyncio.timeout(AT_ONCE_S), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(limits.before_pair())
        await asyncio.wait({waiting}, timeout=0.05)
        was_held_back = not waiting.done()
        limits.stop_waiting()
    limits.stop_waiting()
    left = [await limits.before_pair() for _ in range(4)]

    assert was_held_back
    assert [waiting.result(), *left] == [True, True, True, False, False]


async def test_events_of_a_dead_agent_are_never_held_back() -> None:
    limits = rate(ManualClock())
    limits.stop_waiting()

    async with asyncio.timeout(AT_ONCE_S):
        for _ in range(3):
            await limits.before_event(LONG_INPUTS)
