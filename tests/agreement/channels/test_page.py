"""What the channel that CONTRIBUTING shows promises beyond the agreement, by the base that it takes."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orchestrator.channels.base import OUR_FAULT, LinkedChannel
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.channels import ChannelHealth
from orchestrator.contracts.records.groups import GroupChange
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage
from orchestrator.contracts.seams import SendRefused, SendUnavailable, SendUnknown
from tests.support.channel_page import code_of_page, module_of_page
from tests.support.channel_parts import Told
from tests.support.eventually import eventually
from tests.support.line_server import LineServer

ROOT = Path(__file__).parents[3]


@dataclass(kw_only=True)
class Line:
    """The channel, its server, and what came of both."""

    server: LineServer
    channel: LinkedChannel
    told: Told
    texts: list[str] = field(default_factory=list)
    refusals: list[Exception] = field(default_factory=list)

    async def inbox(self, message: InboundMessage) -> None:
        """Keep it, unless something is to go wrong."""
        if self.refusals:
            raise self.refusals.pop()
        self.texts.append(message.text)

    async def send(self, text: str) -> str:
        """To the main chat."""
        message = OutboundMessage(chat_jid=Jid("server:main"), text=text, outbox_id=1)
        return (await self.channel.send(message)).message_id


@pytest.fixture
async def line(tmp_path: Path) -> AsyncIterator[Line]:
    """Not connected yet."""
    server, told = LineServer(), Told()
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(server.run())
        channel = module_of_page(tmp_path).ChatServer("127.0.0.1", server.port, told.parts(tasks))
        yield Line(server=server, channel=channel, told=told)
        await channel.close()
        serving.cancel()


def test_the_page_is_short_and_keeps_the_house_style(tmp_path: Path) -> None:
    path = tmp_path / "chat_server.py"
    path.write_text(code_of_page())
    ruff = [sys.executable, "-m", "ruff"]

    checks = [
        subprocess.run([*ruff, *words, "--config", str(ROOT / "pyproject.toml"), str(path)], check=False)
        for words in (["check", "--quiet"], ["format", "--check", "--quiet"])
    ]

    assert 50 < len(code_of_page().splitlines()) < 150
    assert [check.returncode for check in checks] == [0, 0]


async def test_a_link_that_ends_is_made_again_and_what_was_not_stored_is_said_again(line: Line) -> None:
    line.refusals.append(Unavailable("The disk is full."))
    await line.channel.connect(line.inbox)

    line.server.write("hello")
    await eventually(lambda: line.texts and not line.server.waiting)
    line.server.drop()
    await eventually(lambda: line.told.healths.count(ChannelHealth.OPEN) == 3)

    assert line.texts == ["hello"]
    assert line.told.whys[0] == "The disk is full."
    assert len(line.told.whys) == 2


async def test_a_text_whose_answer_is_lost_is_unknown_and_a_refused_one_is_refused(line: Line) -> None:
    await line.channel.connect(line.inbox)

    with pytest.raises(SendRefused, match="not here"):
        await line.send("refuse this")
    with pytest.raises(SendUnknown):
        await line.send("drop the line")
    await eventually(lambda: line.told.healths.count(ChannelHealth.OPEN) == 2)

    assert await line.send("hello")


async def test_without_a_link_nothing_is_sent_and_nothing_asked(line: Line) -> None:
    with pytest.raises(SendUnavailable):
        await line.send("hello")
    with pytest.raises(Unavailable):
        await line.channel.fetch_groups()


async def test_who_is_who_and_news_of_groups_are_passed_on(line: Line) -> None:
    await line.channel.connect(line.inbox)

    line.server.tell(kind="same", hidden="server:1", known="server:ada")
    line.server.tell(kind="group", chat="server:choir", name="Choir", has_us=True)
    await eventually(lambda: line.told.changes)

    assert line.told.same == [("server:1", "server:ada")]
    assert line.told.changes == [GroupChange(chat_jid=Jid("server:choir"), name="Choir", has_us=True)]


async def test_a_fault_of_the_channels_own_is_told_and_does_not_silence_it_for_ever(line: Line) -> None:
    await line.channel.connect(line.inbox)

    line.told.refusals.append(RuntimeError("a fault"))
    line.server.tell(kind="group", chat="server:choir", name="Choir", has_us=True)
    await eventually(lambda: line.told.healths.count(ChannelHealth.OPEN) == 2)

    assert line.told.healths == [ChannelHealth.OPEN, ChannelHealth.DOWN, ChannelHealth.OPEN]
    assert line.told.whys == [OUR_FAULT]
