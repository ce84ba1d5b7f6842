"""How the link to WhatsApp stands, and what is done when it breaks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from orchestrator.app.parts import SystemClock
from orchestrator.channels.whatsapp.bridge import Bridge
from orchestrator.channels.whatsapp.lines import LinkState
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.records.channels import ChannelHealth
from orchestrator.contracts.seams import SendUnavailable
from orchestrator.core.reconnects import RetryRule
from tests.edges.whatsapp.conftest import QUICK, Desk, MakeDesk, to_choir
from tests.support.eventually import eventually
from tests.support.whatsapp_double import Fault


async def say_nothing(_: object) -> None:
    """Nobody is there."""


async def read_nothing(_: object) -> bool:
    """Nobody reads."""
    return False


@asynccontextmanager
async def connecting(desk: Desk) -> AsyncIterator[None]:
    """While the channel tries to connect, which it may never do."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(desk.channel.connect(desk.inbox))
        yield
        task.cancel()


async def test_g1_a_link_that_cannot_be_made_is_tried_at_growing_intervals_and_told_once(
    make_desk: MakeDesk,
) -> None:
    """Case G1; the pauses themselves are in `tests/unit/core/test_reconnects.py`."""
    desk = make_desk(rule=replace(QUICK, retry=RetryRule(first_s=0.01, most_s=3600, trips_at=3)))
    desk.far.set_faults(("connect:", Fault.REFUSE_LINK, 1_000))

    async with connecting(desk):
        await eventually(lambda: desk.states and desk.states[-1].health is ChannelHealth.DOWN)

        assert len(desk.far.lives) == 3
    assert [each.health for each in desk.states].count(ChannelHealth.DOWN) == 1
    assert desk.whys[-1] == "the network is unreachable"


async def test_g1_the_pauses_begin_anew_once_the_link_was_open(make_desk: MakeDesk) -> None:
    """Case G1."""
    desk = make_desk(rule=replace(QUICK, retry=RetryRule(first_s=0.01, most_s=60, trips_at=100)))
    desk.far.set_faults(("connect:", Fault.REFUSE_LINK, 3), ("heard:hello", Fault.ABORT))
    desk.far.write("hello")

    with capture_logs() as logs:
        await desk.channel.connect(desk.inbox)
        await eventually(lambda: desk.texts == ["hello"])

    pauses = [each["pause_s"] for each in logs if each["event"] == "whatsapp.child_ended"]
    assert pauses == [0.01, 0.02, 0.04, 0.01]


async def test_g2_a_link_that_is_lost_again_and_again_opens_the_breaker_and_is_made_afresh(
    make_desk: MakeDesk,
) -> None:
    """Case G2: each time it stands for a moment, so that no single failure looks serious."""
    desk = make_desk(rule=replace(QUICK, retry=RetryRule(first_s=0.01, most_s=0.05, trips_at=4)))
    await desk.channel.connect(desk.inbox)

    (desk.far.directory / "lost").touch()
    await eventually(lambda: desk.channel.generation >= 2)
    (desk.far.directory / "lost").unlink()
    await eventually(lambda: desk.channel.is_connected)
    await desk.channel.send(to_choir("hello"))

    assert any("lost too often" in why for why in desk.whys)
    assert ChannelHealth.DOWN in desk.told.healths


async def test_g3_an_account_that_is_no_longer_linked_is_a_state_and_not_an_end(desk: Desk) -> None:
    """Case G3: an expired login that took the whole process with it."""
    desk.far.set_faults(("connect:", Fault.UNLINK))
    async with connecting(desk):
        await eventually(lambda: desk.states and desk.states[-1].health is ChannelHealth.UNLINKED)
        with pytest.raises(SendUnavailable):
            await desk.channel.send(to_choir("hello"))
        with pytest.raises(Unavailable):
            await desk.channel.fetch_groups()
        lives = len(desk.far.lives)

        desk.far.link(device=2)
        await eventually(lambda: desk.channel.is_connected)

    assert lives == 1
    assert desk.far.lives[-1]["generation"] == 2


async def test_an_account_that_is_unlinked_here_too_may_be_linked_again_as_the_same_device(
    desk: Desk,
) -> None:
    desk.far.set_faults(("connect:", Fault.UNLINK))
    looks = iter(["49151:1@s.whatsapp.net", "49151:1@s.whatsapp.net", None])
    bridge = Bridge(
        desk.far.command,
        clock=SystemClock(),
        linked_as=lambda: next(looks, "49151:1@s.whatsapp.net"),
        on_state=say_nothing,
        is_read=read_nothing,
        rule=QUICK,
    )
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(bridge.run(say_nothing))
        await eventually(lambda: bridge.state.link is LinkState.OPEN)
        running.cancel()

    assert bridge.generation == 2


async def test_without_an_account_no_child_is_started_until_one_is_linked(make_desk: MakeDesk) -> None:
    desk = make_desk(is_linked=False)
    async with connecting(desk):
        await eventually(lambda: desk.states)
        before = len(desk.far.lives)

        desk.far.link()
        await eventually(lambda: desk.channel.is_connected)

    assert before == 0
    assert desk.told.healths == [ChannelHealth.UNLINKED, ChannelHealth.TRYING, ChannelHealth.OPEN]


async def test_g4_what_an_earlier_child_still_says_is_not_heard(desk: Desk) -> None:
    """Case G4: handlers of an old connection stayed, and the two threw each other out."""
    desk.far.set_faults(("heard:first", Fault.ABORT), ("heard:second", Fault.LATE_LINE))
    await desk.channel.connect(desk.inbox)

    desk.far.write("first")
    await eventually(lambda: desk.texts == ["first"])
    desk.far.write("second")
    desk.far.write("third")
    await eventually(lambda: "third" in desk.texts)

    assert desk.texts == ["first", "second", "third"]
    assert desk.channel.generation == 2
    assert desk.channel.is_connected


async def test_g15_a_link_that_is_well_outlives_the_silence_that_ends_one_also_after_a_reconnect(
    make_desk: MakeDesk,
) -> None:
    """Case G15: a watchdog that was not wound up again after a reconnect ended every connection."""
    silence_s, now = 3.0, asyncio.get_running_loop().time
    desk = make_desk(rule=replace(QUICK, silence_s=silence_s))
    desk.far.set_faults(("heard:first", Fault.ABORT))
    await desk.channel.connect(desk.inbox)
    desk.far.write("first")
    await eventually(lambda: desk.channel.generation >= 2)
    began: dict[int, float] = {}

    def outlived() -> bool:
        """Whether the child that runs now was there long enough."""
        return now() - began.setdefault(desk.channel.generation, now()) > silence_s + 1

    await eventually(outlived, within_s=90)

    assert desk.channel.is_connected


async def test_an_account_that_is_barred_for_a_while_is_not_tried_again_at_once(desk: Desk) -> None:
    desk.far.set_faults(("connect:", Fault.BARRED))

    async with connecting(desk):
        await eventually(lambda: desk.whys)

        assert desk.whys == ["barred for a while"]
        assert len(desk.far.lives) == 1


async def test_a_close_ends_the_child_whatever_it_does(desk: Desk) -> None:
    desk.far.set_faults(("heard:hello", Fault.HANG))
    await desk.channel.connect(desk.inbox)
    desk.far.write("hello")
    await eventually(lambda: desk.far.rows)

    await desk.channel.close()

    assert not desk.channel.is_connected
    assert desk.channel.state is None
