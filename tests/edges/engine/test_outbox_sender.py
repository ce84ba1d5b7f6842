"""Texts whose channel is not there wait and lose nothing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import InboundMessage, TextSource
from orchestrator.contracts.seams import Topic
from orchestrator.engine.channel_set import ChannelSet
from orchestrator.engine.outbox_sender import OutboxSender
from orchestrator.store import outbox
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.edges.commands.conftest import desk as desk
from tests.support.eventually import eventually
from tests.support.file_channel import FileChannel, read_lines

CHAT = Jid("file:kitchen")


async def ignore(message: InboundMessage) -> None:
    """Nobody writes here."""


async def put(desk: Desk, text: str) -> None:
    def body(tx: Transaction) -> None:
        outbox.add(tx, chat_jid=CHAT, parts=[text], source=TextSource.NOTICE, source_key=text, at=desk.now)
        tx.wake(Topic.OUTBOX)

    await desk.run(body)


async def fates(desk: Desk) -> list[tuple[str, int]]:
    rows = await desk.run(lambda tx: tx.all("SELECT status, attempts FROM outbox ORDER BY id", ()))
    return [(row["status"], row["attempts"]) for row in rows]


async def looks(desk: Desk) -> None:
    """The sender has had its turn many times: each of its steps is one visit to the store."""
    for _ in range(50):
        desk.services.wakeups.wake(Topic.OUTBOX)
        await desk.run(lambda tx: None)


@contextlib.asynccontextmanager
async def sending(desk: Desk, *channels: FileChannel) -> AsyncIterator[None]:
    """The sender runs inside."""
    async with asyncio.TaskGroup() as tasks:
        sender = tasks.create_task(OutboxSender(desk.services, ChannelSet(channels)).run())
        yield
        sender.cancel()


async def test_d_19_texts_wait_untried_until_their_channel_connects(desk: Desk, tmp_path: Path) -> None:
    """Case D-19."""
    network = FileChannel(tmp_path / "network")
    await put(desk, "one")

    async with sending(desk):
        await put(desk, "two")
        await looks(desk)
        without_any = await fates(desk)
    async with sending(desk, network):
        await put(desk, "three")
        await looks(desk)
        while_away = await fates(desk)
        await network.connect(ignore)
        desk.services.wakeups.wake(Topic.OUTBOX)
        await eventually(lambda: len(read_lines(tmp_path / "network" / "sends.jsonl")) == 3)
    await network.close()

    assert without_any == [("queued", 0)] * 2
    assert while_away == [("queued", 0)] * 3
    assert [line["text"] for line in read_lines(tmp_path / "network" / "sends.jsonl")] == [
        "one",
        "two",
        "three",
    ]
