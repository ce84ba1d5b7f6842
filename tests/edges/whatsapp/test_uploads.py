"""Files on their way out, by the real child: what is not at the network yet was certainly not sent."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.lines import (
    ChildLine,
    Fate,
    NotSent,
    Send,
    Sent,
    StateIs,
    Taken,
    child_line,
)
from orchestrator.channels.whatsapp.process import ChildProcess
from orchestrator.contracts.records.messages import OutboundFile, OutboundMessage
from orchestrator.contracts.seams import SendRefused, SendUnavailable
from tests.edges.whatsapp.conftest import CHOIR, Desk, MakeDesk, scripted
from tests.support.eventually import eventually
from tests.support.file_channel import read_lines
from tests.support.whatsapp_far_end import FarEnd


@pytest.fixture
def report(tmp_path: Path) -> OutboundMessage:
    """A document with its caption."""
    path = tmp_path / "report"
    path.write_bytes(b"figures")
    file = OutboundFile(name="report.pdf", media_type="application/pdf", size_bytes=7, path=path)
    return OutboundMessage(chat_jid=CHOIR, text="Here", outbox_id=1, file=file)


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    """The whole channel over the real child with a scripted client."""
    pytest.importorskip("magic", exc_type=ImportError)
    return make_desk(command=scripted(make_desk().far))


@pytest.fixture
async def child(tmp_path: Path) -> AsyncIterator[ChildProcess]:
    """A child that a test talks to by itself, on an account whose uploads never end."""
    pytest.importorskip("magic", exc_type=ImportError)
    far = FarEnd(tmp_path / "far")
    far.link()
    (far.directory / "slow").touch()
    process = await ChildProcess.start(scripted(far), 1)
    yield process
    await process.end(within_s=10)


async def test_an_upload_that_takes_too_long_is_given_up_and_was_not_sent(
    child: ChildProcess, report: OutboundMessage
) -> None:
    child.port.put(Send(id=1, message=report, upload_within_s=0.1))

    said: list[ChildLine] = []
    async with asyncio.timeout(60):
        while not said or not isinstance(said[-1], Sent | NotSent):
            raw = await child.port.read()
            assert raw is not None, said
            said.append(child_line(raw))

    assert isinstance(said[-1], NotSent)
    assert said[-1].fate is Fate.UNAVAILABLE
    assert not any(isinstance(each, Taken) for each in said)
    assert any(isinstance(each, StateIs) for each in said)


async def test_a_child_that_dies_over_an_upload_has_sent_nothing(desk: Desk, report: OutboundMessage) -> None:
    (desk.far.directory / "slow").touch()
    await desk.channel.connect(desk.inbox)

    async def kill_when_begun() -> None:
        await eventually((desk.far.directory / "uploading").exists)
        os.kill(desk.far.lives[-1]["pid"], signal.SIGKILL)

    with pytest.raises(SendUnavailable):
        await asyncio.gather(desk.channel.send(report), kill_when_begun())

    assert desk.far.sent == []


@pytest.mark.parametrize(
    ("why", "error"),
    [
        ("failed to upload: connection reset", SendUnavailable),
        ("whatever this means", SendUnavailable),
        ("server returned error 413", SendRefused),
    ],
)
async def test_an_upload_that_fails_was_not_sent(
    why: str, error: type[Exception], desk: Desk, report: OutboundMessage
) -> None:
    (desk.far.directory / "no_upload").write_text(why)
    await desk.channel.connect(desk.inbox)

    with pytest.raises(error, match=why):
        await desk.channel.send(report)

    assert desk.far.sent == []
    assert desk.channel.is_connected


async def test_a_file_goes_out_once_it_is_at_the_network(desk: Desk, report: OutboundMessage) -> None:
    await desk.channel.connect(desk.inbox)

    await desk.channel.send(report)

    await eventually(lambda: desk.far.sent == ["Here"])
    assert read_lines(desk.far.directory / "uploads.jsonl") == [
        {"kind": "MediaType.MediaDocument", "size_bytes": 7}
    ]
