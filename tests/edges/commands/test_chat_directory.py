"""What is known of chats that could be registered: asked of the channels. Source: contracts.md section 4."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import structlog.testing

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import InboundMessage
from orchestrator.contracts.seams import Topic
from orchestrator.engine.channel_set import ChannelSet
from orchestrator.engine.chat_directory import ChatDirectory
from orchestrator.store import chats, facts
from tests.edges.commands.conftest import Desk
from tests.support.eventually import eventually
from tests.support.file_channel import FileChannel, write_json


async def nobody(message: InboundMessage) -> None:
    """Nothing comes in."""


@contextlib.asynccontextmanager
async def looking(desk: Desk, channel: FileChannel, *, apart_s: float = 0.0) -> AsyncIterator[None]:
    """The directory is kept, of one channel."""
    await channel.connect(nobody)
    async with asyncio.TaskGroup() as group:
        directory = ChatDirectory(desk.services, ChannelSet([channel]), apart_s=apart_s)
        running = group.create_task(directory.run())
        yield
        assert not running.done()
        running.cancel()
    await channel.close()


async def known(desk: Desk) -> dict[str, str]:
    """Chats that are no groups, by id: their names."""
    found = await desk.run(lambda tx: chats.known(tx, count=100))
    return {each.jid: each.name for each in found if each.folder is None}


async def test_the_chats_of_a_channel_are_known_from_its_start(desk: Desk, tmp_path: Path) -> None:
    channel = FileChannel(tmp_path)
    write_json(tmp_path / "groups.json", [["file:choir", "Choir"], ["file:club", "Club"]])

    async with looking(desk, channel):
        await eventually(lambda: knows(desk, {"file:choir": "Choir", "file:club": "Club"}))

    assert await desk.run(facts.last_sync) == desk.now


async def knows(desk: Desk, expected: dict[str, str]) -> bool:
    """Whether exactly these chats are known."""
    return await known(desk) == expected


async def test_a_wish_has_it_looked_up_again(desk: Desk, tmp_path: Path) -> None:
    channel = FileChannel(tmp_path)
    write_json(tmp_path / "groups.json", [["file:choir", "Choir"]])

    async with looking(desk, channel):
        await eventually(lambda: knows(desk, {"file:choir": "Choir"}))
        write_json(tmp_path / "groups.json", [["file:choir", "Old choir"], ["file:club", "Club"]])
        desk.clock.advance(1)
        desk.wakeups.wake(Topic.CHATS)
        await eventually(lambda: knows(desk, {"file:choir": "Old choir", "file:club": "Club"}))


async def test_a_channel_that_is_away_changes_nothing_and_ends_nothing(desk: Desk, tmp_path: Path) -> None:
    channel = FileChannel(tmp_path)
    write_json(tmp_path / "groups.json", [["file:choir", "Choir"]])

    async with looking(desk, channel):
        await eventually(lambda: knows(desk, {"file:choir": "Choir"}))
        write_json(tmp_path / "groups.json", None)
        with structlog.testing.capture_logs() as logs:
            desk.wakeups.wake(Topic.CHATS)
            await eventually(lambda: "chats.not_fetched" in {line["event"] for line in logs})
        assert await known(desk) == {"file:choir": "Choir"}
        write_json(tmp_path / "groups.json", [["file:choir", "Choir"], ["file:club", "Club"]])
        desk.wakeups.wake(Topic.CHATS)
        await eventually(lambda: knows(desk, {"file:choir": "Choir", "file:club": "Club"}))


async def test_a_chat_that_is_registered_keeps_the_name_it_has_here(desk: Desk, tmp_path: Path) -> None:
    channel = FileChannel(tmp_path)
    write_json(tmp_path / "groups.json", json.loads('[["1203@g.us", "Name there"], ["file:x", "X"]]'))

    async with looking(desk, channel):
        await eventually(lambda: knows(desk, {"file:x": "X"}))

    found = await desk.run(lambda tx: chats.known(tx, count=100))
    assert [each.name for each in found if each.jid == Jid("1203@g.us")] == ["Family"]


async def test_a_channel_that_is_due_has_no_other_asked_before_its_day_is_over(
    desk: Desk, tmp_path: Path
) -> None:
    """Two channels that were first asked at different times must not set each other off for ever."""
    channel = FileChannel(tmp_path)
    await channel.connect(nobody)
    directory = ChatDirectory(desk.services, ChannelSet([channel]), apart_s=10)
    with structlog.testing.capture_logs() as logs:
        await directory._look(channel, is_wished=False)
        desk.clock.advance(4)
        early_s = await directory._look(channel, is_wished=True)
        desk.clock.advance(7)
        await directory._look(channel, is_wished=False)
        desk.clock.advance(20)
        idle_s = await directory._look(channel, is_wished=False)
    await channel.close()

    assert early_s == 6
    assert idle_s == 24 * 3600 - 20
    assert [line["event"] for line in logs] == ["chats.fetched", "chats.fetched"]
