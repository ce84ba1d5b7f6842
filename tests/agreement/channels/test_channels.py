"""The obligations of `Channel`, over the terminal's, WhatsApp's and the one that tests use in their place."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from orchestrator.channels.console import ConsoleChannel
from orchestrator.channels.whatsapp.channel import ChannelPlan, WhatsAppChannel
from orchestrator.channels.whatsapp.pace import PaceRule
from orchestrator.contracts.errors import InvalidRequest, Unavailable
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import InboundMessage, OutboundFile, OutboundMessage
from orchestrator.contracts.seams import Channel, SendRefused, SendUnavailable, SendUnknown
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.paths import Paths
from tests.support.channel_page import module_of_page
from tests.support.channel_parts import Told
from tests.support.eventually import eventually
from tests.support.file_channel import FileChannel, Outcome, read_lines, write_json
from tests.support.line_server import LineServer
from tests.support.manual_clock import ManualClock
from tests.support.whatsapp_far_end import FarEnd


@dataclass(frozen=True, kw_only=True)
class Network:
    """A channel, how a person writes into its chat, and the file that came there by an outbox id.

    foreign: a chat of another network. stop: ends what is at its far end.
    """

    channel: Channel
    chat: Jid
    foreign: Jid
    write: Callable[[str], Awaitable[None]]
    received: Callable[[int], bytes]
    stop: Callable[[], object] = lambda: None


def console_network(directory: Path, tasks: asyncio.TaskGroup) -> Network:
    """The terminal."""
    paths = Paths(home=directory)
    paths.ensure()
    console = ConsoleChannel(clock=ManualClock(), wakeups=TopicWakeups(), file_path=paths.console_file)
    chat = Jid("console:main")

    async def write(text: str) -> None:
        await console.receive(chat, text)

    return Network(
        channel=console,
        chat=chat,
        foreign=Jid("1203@g.us"),
        write=write,
        received=lambda number: paths.console_file(number, "report.pdf").read_bytes(),
    )


def file_network(directory: Path, tasks: asyncio.TaskGroup) -> Network:
    """The directory."""
    chat, written = Jid("file:main"), iter(range(1_000))

    async def write(text: str) -> None:
        number = next(written)
        person = {"sender_jid": "file:ada", "sender_name": "Ada"}
        message = {"chat_jid": chat, "message_id": f"m{number}", "text": text, **person}
        write_json(directory / "in" / f"{number:04}.json", message)

    write_json(directory / "groups.json", [["file:choir", "Choir"], ["file:club", "Club"]])
    return Network(
        channel=FileChannel(directory),
        chat=chat,
        foreign=Jid("console:main"),
        write=write,
        received=lambda number: (directory / "files" / f"{number}-1").read_bytes(),
    )


def whatsapp_network(directory: Path, tasks: asyncio.TaskGroup) -> Network:
    """WhatsApp, with the double of its child at the far end of the descriptor."""
    far = FarEnd(directory)
    far.link()
    write_json(directory / "groups.json", [["1203@g.us", "Choir"], ["1204@g.us", "Club"]])

    async def write(text: str) -> None:
        far.write(text)

    pace = PaceRule(chat_per_minute=1e6, all_per_minute=1e6, jitter_s=0)
    plan = ChannelPlan(session=far.session, command=far.command, pace=pace)
    return Network(
        channel=WhatsAppChannel(plan, Told().parts(tasks), random=Random(1)),
        chat=Jid("120363000000000001@g.us"),
        foreign=Jid("console:main"),
        write=write,
        received=lambda number: (directory / "files" / f"{number}").read_bytes(),
    )


def page_network(directory: Path, tasks: asyncio.TaskGroup) -> Network:
    """The one that CONTRIBUTING shows."""
    server = LineServer()
    serving = tasks.create_task(server.run())

    async def write(text: str) -> None:
        server.write(text)

    return Network(
        channel=module_of_page(directory).ChatServer("127.0.0.1", server.port, Told().parts(tasks)),
        chat=Jid("server:main"),
        foreign=Jid("console:main"),
        write=write,
        received=lambda number: server.files[number],
        stop=serving.cancel,
    )


NETWORKS = {
    "console": console_network,
    "file": file_network,
    "whatsapp": whatsapp_network,
    "page": page_network,
}


@pytest.fixture(params=NETWORKS)
async def network(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Network]:
    async with asyncio.TaskGroup() as tasks:
        made = NETWORKS[request.param](tmp_path, tasks)
        yield made
        await made.channel.close()
        made.stop()


class Kept:
    """An inbox that keeps what it is given."""

    def __init__(self) -> None:
        self.messages: list[InboundMessage] = []

    async def __call__(self, message: InboundMessage) -> None:
        self.messages.append(message)


async def test_it_owns_its_own_chats_only(network: Network) -> None:
    assert network.channel.owns(network.chat)
    assert not any(
        network.channel.owns(Jid(jid)) for jid in ("", network.foreign, f"{network.channel.name}:")
    )


async def test_it_is_connected_from_connect_to_close(network: Network) -> None:
    seen = [network.channel.is_connected]

    await network.channel.connect(Kept())
    seen.append(network.channel.is_connected)
    await network.channel.close()
    seen.append(network.channel.is_connected)

    assert seen == [False, True, False]


async def test_it_may_be_closed_twice_and_connected_again(network: Network) -> None:
    inbox = Kept()
    await network.channel.connect(Kept())
    await network.channel.close()
    await network.channel.close()

    await network.channel.connect(inbox)
    await network.write("hello")
    await eventually(lambda: inbox.messages)

    assert [message.text for message in inbox.messages] == ["hello"]


async def test_b1_after_five_reconnects_a_message_is_handed_on_once(network: Network) -> None:
    """Case B1: the takers of earlier connections are gone."""
    inbox = Kept()
    for _ in range(5):
        await network.channel.connect(inbox)
        await network.channel.close()
    await network.channel.connect(inbox)

    await network.write("hello")
    await network.write("the last")
    await eventually(lambda: "the last" in [message.text for message in inbox.messages])

    assert [message.text for message in inbox.messages] == ["hello", "the last"]


async def test_what_people_write_is_handed_on_in_order_with_ids_of_its_own(network: Network) -> None:
    inbox = Kept()
    await network.channel.connect(inbox)

    for number in range(5):
        await network.write(f"text {number}")
    await eventually(lambda: len(inbox.messages) == 5)

    assert [message.text for message in inbox.messages] == [f"text {number}" for number in range(5)]
    assert {message.chat_jid for message in inbox.messages} == {network.chat}
    assert len({message.message_id for message in inbox.messages}) == 5
    assert all(message.sent_at.tzinfo is not None for message in inbox.messages)


async def test_a_message_that_is_refused_for_ever_holds_up_no_other(network: Network) -> None:
    kept = Kept()

    async def inbox(message: InboundMessage) -> None:
        if message.text == "bad":
            raise InvalidRequest("Its id is off.")
        await kept(message)

    await network.channel.connect(inbox)

    with contextlib.suppress(InvalidRequest):  # a person at a terminal is told at once
        await network.write("bad")
    await network.write("good")
    await eventually(lambda: kept.messages)

    assert [message.text for message in kept.messages] == ["good"]


async def test_each_text_that_is_sent_gets_an_id_of_the_network(network: Network) -> None:
    await network.channel.connect(Kept())

    receipts = [
        await network.channel.send(OutboundMessage(chat_jid=network.chat, text="hello", outbox_id=number))
        for number in (1, 2)
    ]

    assert all(receipt.message_id for receipt in receipts)
    assert receipts[0].message_id != receipts[1].message_id


async def test_a_file_is_sent_with_its_caption_or_without_one_and_may_be_sent_again(
    network: Network, tmp_path: Path
) -> None:
    await network.channel.connect(Kept())
    copy = tmp_path / "copy"
    copy.write_bytes(b"figures")
    file = OutboundFile(name="report.pdf", media_type="application/pdf", size_bytes=7, path=copy)
    bare = OutboundMessage(chat_jid=network.chat, text="", outbox_id=1, file=file)

    receipts = [
        await network.channel.send(message)
        for message in (bare, bare, OutboundMessage(chat_jid=network.chat, text="x", outbox_id=2, file=file))
    ]
    copy.unlink()  # as the outbox does once a file is sent

    assert all(receipt.message_id for receipt in receipts)
    assert network.received(1) == b"figures"
    assert network.received(2) == b"figures"


async def test_a_quote_of_a_message_that_the_network_does_not_know_keeps_no_text_back(
    network: Network,
) -> None:
    await network.channel.connect(Kept())

    receipt = await network.channel.send(
        OutboundMessage(
            chat_jid=network.chat, text="hello", outbox_id=1, reply_to=MessageId("nobody said this")
        )
    )

    assert receipt.message_id


async def test_typing_never_raises_connected_or_not(network: Network) -> None:
    await network.channel.set_typing(network.chat, is_typing=True)
    await network.channel.connect(Kept())
    await network.channel.set_typing(network.chat, is_typing=True)
    await network.channel.set_typing(network.chat, is_typing=False)


async def test_it_leaves_room_for_a_text_worth_sending(network: Network) -> None:
    assert 1_000 <= network.channel.max_text_chars <= 64 * 1024


@pytest.mark.parametrize(
    ("outcome", "error", "is_taken"),
    [
        (Outcome.UNAVAILABLE, SendUnavailable, False),
        (Outcome.REFUSE, SendRefused, False),
        (Outcome.UNKNOWN_BEFORE, SendUnknown, False),
        (Outcome.UNKNOWN_AFTER, SendUnknown, True),
    ],
)
async def test_the_file_channel_fails_as_often_as_it_is_told(
    outcome: Outcome, error: type[Exception], is_taken: bool, tmp_path: Path
) -> None:
    channel = FileChannel(tmp_path)
    write_json(tmp_path / "behaviour.json", [{"match": "bad", "outcome": outcome}])
    await channel.connect(Kept())
    bad = OutboundMessage(chat_jid=Jid("file:main"), text="bad", outbox_id=1)

    with pytest.raises(error):
        await channel.send(bad)
    await channel.send(bad)
    await channel.close()

    lines = read_lines(tmp_path / "sends.jsonl")
    assert [(line["attempt"], line["accepted"]) for line in lines] == [(1, is_taken), (2, True)]


async def test_the_file_channel_keeps_a_message_until_it_is_stored(tmp_path: Path) -> None:
    network = file_network(tmp_path, asyncio.TaskGroup())
    met: list[str] = []

    async def inbox(message: InboundMessage) -> None:
        met.append(message.message_id)
        if len(met) == 1:
            raise Unavailable("The disk is full.")
        if len(met) == 2:
            raise asyncio.CancelledError  # as if we were killed before it was stored

    await network.channel.connect(inbox)
    await network.write("hello")
    await eventually(lambda: len(met) == 2)
    await network.channel.close()
    await network.channel.connect(inbox)
    await eventually(lambda: not list((tmp_path / "in").iterdir()))
    await network.channel.close()

    assert met == ["m0", "m0", "m0"]


async def test_the_group_chats_it_names_are_its_own_and_each_once(network: Network) -> None:
    await network.channel.connect(Kept())

    found = await network.channel.fetch_groups()

    assert [each.jid for each in found if not network.channel.owns(each.jid)] == []
    assert {each.channel for each in found} <= {network.channel.name}
    assert all(each.is_group for each in found)
    assert len({each.jid for each in found}) == len(found)
