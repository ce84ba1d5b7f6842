"""Texts of ours that come back from a network which writes them in its own way."""

import pytest

from orchestrator.channels.whatsapp.formatting import to_whatsapp
from orchestrator.commands.saying.delivery import claim_next, note_unknown
from orchestrator.contracts.records.messages import (
    OutboxItem,
    OutboxStatus,
    ReceivedFile,
    SpooledFile,
    TextSource,
)
from orchestrator.store import outbox, outbox_files
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT

PDF = SpooledFile(name="rent.pdf", media_type="application/pdf", size_bytes=9, spool_name="copy")


async def lose(desk: Desk, text: str, file: SpooledFile | None = None) -> OutboxItem:
    """A text of ours, with a file if there is one, that nobody knows to have arrived."""

    def body(tx: Transaction) -> OutboxItem:
        ids = outbox.add(
            tx, chat_jid=CHAT, parts=[text], source=TextSource.NOTICE, source_key="k", at=desk.now
        )
        if file is not None:
            outbox_files.attach(tx, ids[0], file)
        item = claim_next(tx, desk.services, CHAT, at=desk.now).item
        assert item is not None
        note_unknown(tx, item, why="connection lost", at=desk.now)
        return item

    return await desk.run(body)


async def status(desk: Desk) -> OutboxStatus:
    row = await desk.run(lambda tx: tx.one("SELECT status FROM outbox"))
    assert row is not None
    return OutboxStatus(row["status"])


@pytest.mark.parametrize("text", ["# News\n\nso **good**", "- [a](https://a.example)\n- `b`", "👍"])
async def test_a_text_that_comes_back_in_the_networks_marks_was_sent(desk: Desk, text: str) -> None:
    await lose(desk, text)

    await desk.hear("net-1", to_whatsapp(text), is_from_me=True)

    assert await status(desk) is OutboxStatus.SENT
    assert await desk.statuses() == {}


async def test_what_the_owner_writes_meanwhile_is_heard(desk: Desk) -> None:
    await lose(desk, "so **good**")

    await desk.hear("m-1", "so bad", is_from_me=True)

    assert await status(desk) is OutboxStatus.UNKNOWN
    assert list(await desk.statuses()) == ["m-1"]


@pytest.mark.parametrize(
    ("name", "expected"), [("rent.pdf", OutboxStatus.SENT), ("b.pdf", OutboxStatus.UNKNOWN)]
)
async def test_a_file_without_a_text_is_known_by_its_name(
    desk: Desk, name: str, expected: OutboxStatus
) -> None:
    await lose(desk, "", PDF)
    came = ReceivedFile(name=name, media_type="application/pdf", size_bytes=9, source=None)

    await desk.hear("net-1", f"[Document: {name}]", is_from_me=True, files=(came,))

    assert await status(desk) is expected
