"""Files that come after their message was stored: nothing is lost, and nothing is told twice."""

import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.commands.hearing.judging import is_read
from orchestrator.commands.hearing.receiving import receive_message
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import Change, ChangeKind, InboundMessage, ReceivedFile
from orchestrator.core.chat.late_files import late_file_id
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, NOON

GARDEN = Jid("1205@g.us")
INBOX = "/workspace/group/inbox"


@pytest.fixture
async def garden(desk: Desk) -> Path:
    """The group's folder on disk."""
    new = NewGroup(jid=GARDEN, folder="garden", trigger="@Andy")
    await add_group(desk.services, HostCaller(), new)
    return desk.services.paths.groups / "garden"


def message(text: str, *, source: Path | None, message_id: str = "m-1", **fields: Any) -> InboundMessage:
    """Ann sends a photo. source: where it lies, if it came in time."""
    photo = ReceivedFile(name="photo.jpg", media_type="image/jpeg", size_bytes=4, source=source)
    return InboundMessage(
        chat_jid=GARDEN,
        message_id=MessageId(message_id),
        sender_jid=ANN,
        sender_name="Ann",
        text=text,
        sent_at=NOON,
        files=(photo,),
        **fields,
    )


async def hear(desk: Desk, heard: InboundMessage) -> None:
    """The channel hands it in."""
    await receive_message(desk.services, heard, "whatsapp")


async def waiting(desk: Desk) -> list[tuple[str, str, list[str | None]]]:
    """Of what waits for a turn: its id, its text, and where its files lie."""
    batch = await desk.batch(GARDEN)
    shown = () if batch is None else batch.messages
    return [(each.message_id, each.text, [file.path for file in each.attachments]) for each in shown]


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A file of a network's."""
    path = tmp_path / "came"
    path.write_bytes(b"jpeg")
    return path


async def test_a_message_that_still_waits_simply_has_its_file(desk: Desk, garden: Path, photo: Path) -> None:
    await hear(desk, message("@Andy look", source=None))
    before = await waiting(desk)

    await hear(desk, message("@Andy look", source=photo))

    assert before == [("m-1", "@Andy look", [None])]
    assert await waiting(desk) == [("m-1", "@Andy look", [f"{INBOX}/photo.jpg"])]
    assert (garden / "workspace" / "inbox" / "photo.jpg").read_bytes() == b"jpeg"


async def test_what_an_agent_was_given_is_followed_by_a_note_with_the_file(
    desk: Desk, garden: Path, photo: Path
) -> None:
    await hear(desk, message("@Andy look", source=None))
    await desk.start_agent(chat=GARDEN)

    await hear(desk, message("@Andy look", source=photo))

    note = (
        late_file_id(MessageId("m-1")),
        "[The file of the quoted message has come]\n@Andy look",
        [f"{INBOX}/photo.jpg"],
    )
    assert await waiting(desk) == [note]
    row = await desk.row(note[0], GARDEN)
    assert (row["is_trigger"], row["sender_jid"]) == (1, ANN)


async def test_a_late_file_of_chatter_wakes_nobody(desk: Desk, garden: Path, photo: Path) -> None:
    await hear(desk, message("look", source=None))
    await hear(desk, message("@Andy hello", source=photo, message_id="m-2"))
    await desk.start_agent(chat=GARDEN)

    await hear(desk, message("look", source=photo))

    assert await desk.batch(GARDEN) is None
    assert (await desk.row(late_file_id(MessageId("m-1")), GARDEN))["is_trigger"] == 0


@pytest.mark.parametrize("is_given", [False, True], ids=["it waits", "an agent has it"])
async def test_a_late_file_met_again_changes_nothing(
    desk: Desk, garden: Path, photo: Path, is_given: bool
) -> None:
    await hear(desk, message("@Andy look", source=None))
    if is_given:
        await desk.start_agent(chat=GARDEN)
    await hear(desk, message("@Andy look", source=photo))
    first = await waiting(desk)

    await hear(desk, message("@Andy look", source=photo))

    assert await waiting(desk) == first
    assert os.listdir(garden / "workspace" / "inbox") == ["photo.jpg"]


async def test_the_file_of_a_message_that_was_taken_back_is_not_kept(
    desk: Desk, garden: Path, photo: Path
) -> None:
    await hear(desk, message("@Andy look", source=None))
    revocation = Change(kind=ChangeKind.REVOCATION, message_id=MessageId("m-1"))
    await hear(desk, message("", source=None, message_id="r-1", change=revocation))

    await hear(desk, message("@Andy look", source=photo))

    assert await waiting(desk) == []
    assert os.listdir(garden / "workspace" / "inbox") == []


async def test_the_file_of_an_edit_whose_message_was_never_heard_is_kept(
    desk: Desk, garden: Path, photo: Path
) -> None:
    edit = Change(kind=ChangeKind.EDIT, message_id=MessageId("m-1"))

    await hear(desk, message("@Andy look", source=photo, message_id="e-1", change=edit))

    assert await waiting(desk) == [("m-1", "@Andy look", [f"{INBOX}/photo.jpg"])]
    assert os.listdir(garden / "workspace" / "inbox") == ["photo.jpg"]


async def test_what_nobody_reads_is_known_before_its_file_is_fetched(desk: Desk, garden: Path) -> None:
    heard = message("look", source=None)
    edit = Change(kind=ChangeKind.EDIT, message_id=MessageId("m-1"))
    asked = [heard, message("look", source=None, change=edit)]
    before = [await is_read(desk.services, each) for each in asked]

    await hear(desk, heard)
    after = [await is_read(desk.services, each) for each in asked]
    (garden / "senders.toml").write_text('mode = "drop"\nsenders = ["49171@s.whatsapp.net"]\n')

    assert before == [True, True]
    assert after == [True, False]  # the edit of a photo that is known changes its words only
    assert not await is_read(desk.services, heard)


async def test_nobody_reads_a_chat_that_is_not_registered(desk: Desk) -> None:
    assert not await is_read(desk.services, message("look", source=None))
