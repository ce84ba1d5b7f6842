"""How much may wait to be sent, and what is removed when nobody needs it any more."""

from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.commands.saying.attachments import check_room, prune_console_files, spool_attachments
from orchestrator.commands.saying.delivery import text_to_send
from orchestrator.commands.saying.outgoing import queue_parts
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import LimitExceeded
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder
from orchestrator.contracts.records.messages import OutboxItem, SpooledFile, TextSource
from orchestrator.core.chat.attachments import MAX_CAPTION_CHARS, OutboxPart
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from orchestrator.settings.tree import AttachmentSettings
from orchestrator.store import outbox
from orchestrator.store.group_folders import group_workspace
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT, OTHER_CHAT

FOLDER = GroupFolder("family")
NOTE = say(Say.RESENT_NOTE, "en")


def spooled(name: str, size_bytes: int) -> SpooledFile:
    return SpooledFile(name=name, media_type="text/plain", size_bytes=size_bytes, spool_name=name)


async def queue(desk: Desk, file: SpooledFile, *, text: str = "") -> OutboxItem:
    """A file in the outbox; its row."""
    await desk.run(
        lambda tx: queue_parts(
            tx,
            chat=CHAT,
            parts=[OutboxPart(text=text, file=file)],
            source=TextSource.REQUEST,
            source_key=file.name,
            at=desk.now,
        )
    )
    found = await desk.run(lambda tx: outbox.oldest(tx, CHAT))
    assert found is not None
    return found[0]


async def test_why_a_file_was_not_sent_names_it_once_and_a_directory_on_the_way_too(desk: Desk) -> None:
    workspace = group_workspace(desk.services.paths.groups, FOLDER)
    (workspace / "docs").mkdir(parents=True)
    (workspace / "link").symlink_to("docs")
    agent_id = AgentId("agent-1")
    caller = AgentCaller(agent_id=agent_id, box=BoxName("family"), group=FOLDER, chat_jid=CHAT, is_main=False)

    told = {}
    for path in ("docs/none.pdf", "docs", "link/a.pdf"):
        found = await spool_attachments(desk.services, caller, [path])
        assert found.refusal is not None
        told[path] = found.refusal.message

    assert told == {
        "docs/none.pdf": "The attachment 'docs/none.pdf' was not sent: it is not there.",
        "docs": "The attachment 'docs' was not sent: it is a directory, not a file.",
        "link/a.pdf": "The attachment 'link/a.pdf' was not sent: 'link' is not a directory.",
    }


async def test_files_over_the_limit_of_a_chat_are_refused_until_some_are_sent(desk: Desk) -> None:
    limits = AttachmentSettings(max_waiting_bytes=100)
    settings = desk.services.settings.model_copy(update={"attachments": limits})
    services = replace(desk.services, settings=settings)
    await queue(desk, spooled("a", 60))

    await desk.run(lambda tx: check_room(tx, services, CHAT, [spooled("b", 40)]))
    await desk.run(lambda tx: check_room(tx, services, OTHER_CHAT, [spooled("b", 100)]))
    await desk.run(lambda tx: check_room(tx, services, CHAT, []))
    with pytest.raises(LimitExceeded, match="Files of 60 bytes wait") as refusal:
        await desk.run(lambda tx: check_room(tx, services, CHAT, [spooled("b", 41)]))

    assert "100" in refusal.value.message
    assert refusal.value.suggestion is not None


@pytest.mark.parametrize(
    ("caption", "shown"),
    [
        pytest.param("", NOTE, id="without a caption"),
        pytest.param("look", f"look\n\n{NOTE}", id="with a caption"),
        pytest.param("x" * MAX_CAPTION_CHARS, "x" * MAX_CAPTION_CHARS, id="no room for a note"),
    ],
)
async def test_a_file_that_is_sent_again_says_so_in_its_caption(desk: Desk, caption: str, shown: str) -> None:
    item = await queue(desk, spooled("a", 1), text=caption)
    again = replace(item, was_resent=True)

    assert text_to_send(desk.services, again, locale="en", at=desk.now) == shown


async def test_a_file_that_waited_for_hours_carries_its_time(desk: Desk) -> None:
    item = await queue(desk, spooled("a", 1))

    late = text_to_send(desk.services, item, locale="en", at=desk.now + timedelta(hours=7))

    assert late == f"[from {desk.now:%Y-%m-%d %H:%M} UTC]"


async def test_files_of_the_console_go_with_their_rows(desk: Desk) -> None:
    item = await queue(desk, spooled("a", 1))
    paths = desk.services.paths
    for number in (item.id, item.id + 1):
        place = paths.console_file(number, "a.txt")
        place.parent.mkdir()
        place.write_text("a")

    await prune_console_files(desk.services)

    assert [path.name for path in paths.console_files.iterdir()] == [str(item.id)]
