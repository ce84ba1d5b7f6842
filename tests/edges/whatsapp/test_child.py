"""The real WhatsApp child, with the library loaded: alone, and with a scripted client in its place."""

import asyncio
import importlib
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.channel import ChildOptions, child_command
from orchestrator.channels.whatsapp.lines import (
    ChildLine,
    Confirm,
    Heard,
    Hello,
    Line,
    LinkState,
    ListGroups,
    Send,
    Sent,
    StateIs,
    Typing,
    child_line,
)
from orchestrator.channels.whatsapp.process import ChildCommand, ChildProcess
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import OutboundFile, OutboundMessage
from tests.edges.whatsapp.conftest import Desk, MakeDesk, scripted, to_choir
from tests.support.eventually import eventually
from tests.support.file_channel import read_lines, write_json
from tests.support.whatsapp_far_end import FarEnd
from tests.support.without_network import without_network

_WITHIN_S = 60.0


def offline(command: ChildCommand) -> ChildCommand:
    """The same where no network is."""
    return lambda descriptor, generation: without_network(command(descriptor, generation))


@pytest.fixture
def with_library() -> None:
    """Skips where the system library is missing that neonize needs."""
    try:
        importlib.import_module("magic")
    except ImportError as error:
        pytest.skip(f"libmagic is not installed: {error}")


class Talk:
    """A child that a test talks to by itself."""

    def __init__(self, process: ChildProcess) -> None:
        self.process = process
        self.lines: list[ChildLine] = []

    def say(self, line: Line) -> None:
        """To the child."""
        self.process.port.put(line)

    async def until(self, kind: type[Line], count: int = 1) -> None:
        """Listen until so many lines of this kind were said."""
        async with asyncio.timeout(_WITHIN_S):
            while sum(isinstance(each, kind) for each in self.lines) < count:
                raw = await self.process.port.read()
                assert raw is not None, self.lines
                self.lines.append(child_line(raw))

    async def rest(self) -> None:
        """Listen until it is gone."""
        async with asyncio.timeout(_WITHIN_S):
            while (raw := await self.process.port.read()) is not None:
                self.lines.append(child_line(raw))


@pytest.fixture
async def talks() -> AsyncIterator[list[Talk]]:
    """Those that are in it are ended."""
    made: list[Talk] = []
    yield made
    for each in made:
        await each.process.end(within_s=10)


async def scene(talks: list[Talk], far: FarEnd, command: ChildCommand) -> dict[str, set[str]]:
    """One of everything; the fields of each kind of line that the child said."""
    far.link()
    far.write("hello")
    write_json(far.directory / "groups.json", [["1203@g.us", "Choir"]])
    talk = Talk(await ChildProcess.start(command, 1))
    talks.append(talk)
    await talk.until(Heard)
    chat = Jid("1203@g.us")
    talk.say(Typing(chat=chat, is_typing=True))
    talk.say(Send(id=1, message=OutboundMessage(chat_jid=chat, text="hi", outbox_id=1)))
    await talk.until(Sent)
    talk.say(ListGroups(id=2))
    heard = next(each for each in talk.lines if isinstance(each, Heard))
    talk.say(Confirm(spool=heard.spool))
    await eventually(lambda: not far.rows)
    await talk.process.end(within_s=30)
    await talk.rest()
    assert isinstance(talk.lines[0], Hello)
    assert heard.message is not None
    assert heard.message.text == "hello"
    return {each.kind: each.model_fields_set for each in talk.lines}


@pytest.mark.usefixtures("with_library")
async def test_the_double_and_the_real_child_say_the_same_lines(talks: list[Talk], tmp_path: Path) -> None:
    doubled, real = FarEnd(tmp_path / "double"), FarEnd(tmp_path / "real")

    said = [
        await scene(talks, doubled, doubled.command),
        await scene(talks, real, scripted(real)),
    ]

    assert said[0] == said[1]
    assert {"hello", "state", "heard", "taken", "sent", "group", "groups_end", "beat"} == set(said[0])


@pytest.mark.usefixtures("with_library")
async def test_the_real_library_without_a_network_says_so_and_ends(talks: list[Talk], tmp_path: Path) -> None:
    options = ChildOptions(session=tmp_path / "whatsapp.db", spool=tmp_path / "spool", purpose="link")
    talk = Talk(await ChildProcess.start(offline(child_command(options)), 1))
    talks.append(talk)

    await talk.rest()

    states = [each for each in talk.lines if isinstance(each, StateIs)]
    assert [each.state for each in states] == [LinkState.CONNECTING, LinkState.FAILED]
    assert states[-1].why.startswith("no connection to WhatsApp: ")
    assert await talk.process.end(within_s=30) == "it ended with exit code 0"


async def test_without_an_account_the_child_says_so_and_ends(talks: list[Talk], tmp_path: Path) -> None:
    options = ChildOptions(session=tmp_path / "whatsapp.db", spool=tmp_path / "spool")
    talk = Talk(await ChildProcess.start(child_command(options), 7))
    talks.append(talk)

    await talk.rest()

    assert [each.kind for each in talk.lines] == ["hello", "state"]
    assert {each.generation for each in talk.lines} == {7}
    assert isinstance(talk.lines[1], StateIs)
    assert talk.lines[1].state is LinkState.AUTH_REQUIRED


@pytest.mark.usefixtures("with_library")
async def test_a_second_child_on_the_same_session_refuses(talks: list[Talk], tmp_path: Path) -> None:
    far = FarEnd(tmp_path)
    far.link()
    for _ in range(2):
        talks.append(Talk(await ChildProcess.start(scripted(far), 1)))
        if len(talks) == 1:
            await talks[0].until(StateIs)

    await talks[1].rest()

    assert isinstance(talks[1].lines[-1], StateIs)
    assert talks[1].lines[-1].why == "another process holds the WhatsApp session"


@pytest.fixture
def real_desk(make_desk: MakeDesk, with_library: None) -> Desk:
    """The whole channel over the real child."""
    far = make_desk().far
    return make_desk(command=scripted(far))


async def test_g14_an_event_that_cannot_be_read_is_set_aside_and_all_others_are_handed_on(
    real_desk: Desk,
) -> None:
    """Case G14: one message that a handler could not take, and none was taken after it."""
    real_desk.far.write("before")
    (real_desk.far.directory / "in" / "000002.raw").write_bytes(b"\xff\xff no event")
    (real_desk.far.directory / "in" / "000003.json").write_text('{"message_id": "M3", "text": "after"}')

    await real_desk.channel.connect(real_desk.inbox)
    await eventually(lambda: len(real_desk.met) == 2 and not real_desk.far.rows)

    assert real_desk.texts == ["before", "after"]
    assert len(list((real_desk.far.spool / "bad").iterdir())) == 1
    assert real_desk.whys == []


async def test_an_event_that_the_disk_does_not_take_is_kept_until_it_does(real_desk: Desk) -> None:
    far = real_desk.far
    await real_desk.channel.connect(real_desk.inbox)
    away = far.spool.rename(far.directory / "away")
    far.write("hello")
    await eventually(lambda: any("cannot be kept on the disk" in why for why in real_desk.whys))

    await eventually(lambda: read_lines(far.directory / "stops.jsonl"))  # the network keeps the rest
    far.write("later")
    away.rename(far.spool)
    await eventually(lambda: real_desk.texts == ["hello", "later"] and not far.rows)

    assert real_desk.channel.generation > 1


async def test_a_link_that_cannot_be_made_is_tried_again_until_it_can(real_desk: Desk) -> None:
    unreachable = real_desk.far.directory / "unreachable"
    unreachable.write_text("failed to dial: network is unreachable")
    connecting = asyncio.ensure_future(real_desk.channel.connect(real_desk.inbox))  # noqa: TID251 - awaited below
    await eventually(lambda: len(real_desk.whys) >= 2)

    unreachable.unlink()
    await connecting
    receipt = await real_desk.channel.send(to_choir("hello"))

    assert receipt.message_id
    assert "no connection to WhatsApp: network is unreachable" in real_desk.whys


@pytest.mark.parametrize(
    ("media_type", "shown", "kind"),
    [("image/png", "imageMessage", "MediaImage"), ("application/pdf", "documentMessage", "MediaDocument")],
)
async def test_a_file_is_uploaded_for_the_kind_that_it_is_shown_as(
    media_type: str, shown: str, kind: str, real_desk: Desk, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"figures")
    file = OutboundFile(name="it", media_type=media_type, size_bytes=7, path=path)
    await real_desk.channel.connect(real_desk.inbox)

    await real_desk.channel.send(
        OutboundMessage(chat_jid=Jid("1203@g.us"), text="Here", outbox_id=1, file=file)
    )

    (sent,) = read_lines(real_desk.far.directory / "sends.jsonl")
    (uploaded,) = read_lines(real_desk.far.directory / "uploads.jsonl")
    assert sent["shown"] == [shown]
    assert uploaded == {"kind": f"MediaType.{kind}", "size_bytes": 7}


def test_the_orchestrator_loads_neither_the_library_nor_a_channel_that_is_off() -> None:
    script = (
        "import sys, orchestrator.app.running, orchestrator.cli.main\n"
        "assert not [name for name in sys.modules if 'whatsapp.' in name and 'channels' in name]\n"
        "import orchestrator.channels.whatsapp.channel\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('neonize', 'magic')]\n"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
