"""The turn loop around drivers that come at the wrong moment: what only timing brings about."""

import asyncio
import os
from collections.abc import Sequence

import pytest

from container.clock import utc_now
from container.drivers.driver import DriverContext, Turn, TurnResult
from container.messages import Message
from container.output import Output
from container.places import places_from
from container.turn_loop import TurnLoop
from orchestrator.contracts.wire.container_io import TurnEnded, TurnStarted, TurnStatus, parse_event
from orchestrator.contracts.wire.framing import EventLine, OutputReader, Text
from tests.edges.container.agent_process import Home, given


class EchoDriver:
    """Echoes the messages of a turn. The drivers below differ in one thing each."""

    def __init__(self) -> None:
        self.closed = 0
        self.interrupted = 0

    async def start(self, context: DriverContext) -> None:
        """Nothing to get ready."""

    async def run_turn(self, turn: Turn) -> TurnResult:
        for message in turn.messages:
            await turn.say(message.text)
        return TurnResult()

    def can_join(self, messages: Sequence[Message]) -> bool:
        return False

    async def join(self, messages: Sequence[Message]) -> bool:
        return False

    async def interrupt(self) -> None:
        self.interrupted += 1

    async def close(self) -> None:
        self.closed += 1


class LateDriver(EchoDriver):
    """Says that it takes a follow-up, and is done before it gets it."""

    def __init__(self) -> None:
        super().__init__()
        self.running = asyncio.Event()
        self._asked = asyncio.Event()

    async def run_turn(self, turn: Turn) -> TurnResult:
        result = await super().run_turn(turn)
        self.running.set()
        await self._asked.wait()
        return result

    def can_join(self, messages: Sequence[Message]) -> bool:
        self._asked.set()
        return True


class ClumsyDriver(LateDriver):
    """Drops a follow-up that it wanted to take."""

    async def join(self, messages: Sequence[Message]) -> bool:
        raise RuntimeError("dropped")


class SlowStarter(EchoDriver):
    """Fails its first start."""

    starts = 0

    async def start(self, context: DriverContext) -> None:
        type(self).starts += 1
        if type(self).starts == 1:
            raise RuntimeError("no luck")


class StubbornDriver(EchoDriver):
    """Needs to be told twice."""

    def __init__(self) -> None:
        super().__init__()
        self.running = asyncio.Event()

    async def run_turn(self, turn: Turn) -> TurnResult:
        self.running.set()
        await asyncio.Event().wait()
        return TurnResult()

    async def interrupt(self) -> None:
        await super().interrupt()
        raise RuntimeError("do not disturb")


class Play:
    """A turn loop in this process, on real pipes and directories."""

    def __init__(self, home: Home, driver: EchoDriver) -> None:
        self._read_end, self._write_end = os.pipe()
        self.loop = TurnLoop(
            given=given("one"),
            places=places_from(home.environment()),
            output=Output(self._write_end),
            now=utc_now,
            load_driver=lambda _: driver,
        )

    async def to_the_end(self) -> list[Text | TurnStarted | TurnEnded]:
        """What was printed, once the loop has ended."""
        try:
            async with asyncio.timeout(50):
                await self.loop.run()
        finally:
            os.close(self._write_end)
        with open(self._read_end, "rb") as wire:  # noqa: ASYNC230  the writer is closed, all lies in the pipe
            printed = OutputReader().feed(wire.read())
        events = [parse_event(item.plain) if isinstance(item, EventLine) else item for item in printed]
        return [item for item in events if isinstance(item, Text | TurnStarted | TurnEnded)]


@pytest.mark.parametrize("kind", [LateDriver, ClumsyDriver])
async def test_a_follow_up_that_joins_too_late_is_heard_in_the_same_turn(
    home: Home, kind: type[LateDriver]
) -> None:
    driver = kind()
    play = Play(home, driver)

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(play.to_the_end())
        await driver.running.wait()
        home.follow_up("0001.json", "two", ids=["m2"], turn_id="turn-2")
        home.drop("0002-close.json", '{"type": "_close"}')

    printed = running.result()
    assert [item.text for item in printed if isinstance(item, Text)] == ["one", "two"]
    ended = [item for item in printed if isinstance(item, TurnEnded)]
    assert [(item.turn_id, item.inputs, item.outputs) for item in ended] == [("turn-1", ("m1", "m2"), 2)]
    assert driver.closed == 1


async def test_a_driver_that_fails_to_start_is_started_anew_for_the_next_turn(home: Home) -> None:
    driver = SlowStarter()
    home.follow_up("0001.json", "two", ids=["m2"], turn_id="turn-2")
    home.drop("0002-close.json", '{"type": "_close"}')

    printed = await Play(home, driver).to_the_end()

    ended = [item for item in printed if isinstance(item, TurnEnded)]
    assert [item.status for item in ended] == [TurnStatus.ERROR, TurnStatus.SUCCESS]
    assert [item.text for item in printed if isinstance(item, Text)] == ["two"]
    assert driver.closed == 2, "once after the failed start, once at the end"


async def test_a_driver_that_resists_an_interrupt_is_cancelled_and_closed(home: Home) -> None:
    driver = StubbornDriver()
    play = Play(home, driver)

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(play.to_the_end())
        await driver.running.wait()
        play.loop.stop()

    ended = [item for item in running.result() if isinstance(item, TurnEnded)]
    assert [item.status for item in ended] == [TurnStatus.CANCELLED]
    assert (driver.interrupted, driver.closed) == (1, 1)
