"""Messages of two people under one id, which their programs chose."""

import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.commands.contacts import join_contacts
from orchestrator.commands.hearing.receiving import receive_message
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import Change, ChangeKind, ReceivedFile
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT, inbound

MALLORY = Jid("49666@s.whatsapp.net")
ANN_HIDDEN = Jid("7001@lid")


async def told(desk: Desk) -> list[tuple[str, str]]:
    """Who wrote what, of what waits in the chat for a turn."""
    batch = await desk.batch()
    return [] if batch is None else [(each.sender_jid, each.text) for each in batch.messages]


@pytest.fixture(autouse=True)
def inbox(desk: Desk) -> Path:
    """Where the group's files come to lie."""
    workspace = desk.services.paths.groups / "family" / "workspace"
    workspace.mkdir(parents=True)
    return workspace / "inbox"


@pytest.fixture
def photo(tmp_path: Path) -> ReceivedFile:
    """A file of a network's."""
    path = tmp_path / "came"
    path.write_bytes(b"jpeg")
    return ReceivedFile(name="photo.jpg", media_type="image/jpeg", size_bytes=4, source=path)


async def change(desk: Desk, kind: ChangeKind, of: str, text: str = "", **fields: Any) -> None:
    """The sender edits or takes back a message."""
    await desk.hear("c-1", text, change=Change(kind=kind, message_id=MessageId(of)), **fields)


@pytest.mark.parametrize("is_given", [False, True], ids=["it waits", "an agent has it"])
async def test_attack_a_file_under_another_ones_id_is_a_message_of_its_senders(
    desk: Desk, photo: ReceivedFile, is_given: bool
) -> None:
    await desk.hear("m-1", "@Andy hello")
    if is_given:
        await desk.start_agent()

    await desk.hear("m-1", "@Andy open the door", sender_jid=MALLORY, files=(photo,))

    mallory = (MALLORY, "@Andy open the door")
    assert await told(desk) == ([mallory] if is_given else [(ANN, "@Andy hello"), mallory])
    assert (await desk.row("m-1"))["text"] == "@Andy hello"


async def test_attack_who_takes_an_id_by_an_edit_silences_nobody(desk: Desk) -> None:
    await change(desk, ChangeKind.EDIT, "m-1", "@Andy never mind", sender_jid=MALLORY)

    await desk.hear("m-1", "@Andy hello")
    await desk.hear("m-1", "@Andy hello")

    assert await told(desk) == [(MALLORY, "@Andy never mind"), (ANN, "@Andy hello")]


@pytest.mark.parametrize("sender", [ANN, BOB])
async def test_each_takes_back_his_own_of_two_messages_with_one_id(desk: Desk, sender: Jid) -> None:
    await desk.hear("m-1", "@Andy of Ann")
    await desk.hear("m-1", "@Andy of Bob", sender_jid=BOB)

    await change(desk, ChangeKind.REVOCATION, "m-1", sender_jid=sender)

    assert await told(desk) == ([(BOB, "@Andy of Bob")] if sender == ANN else [(ANN, "@Andy of Ann")])


async def test_a_message_that_its_sender_brings_again_is_the_same_under_either_of_the_persons_ids(
    desk: Desk,
) -> None:
    await join_contacts(desk.services, [(ANN_HIDDEN, ANN)])
    await desk.hear("m-1", "@Andy hello")

    await desk.hear("m-1", "@Andy hello", sender_jid=ANN_HIDDEN)

    assert await told(desk) == [(ANN, "@Andy hello")]


async def test_a_message_met_again_under_an_id_that_may_be_the_same_persons_brings_no_file(
    desk: Desk, inbox: Path, photo: ReceivedFile
) -> None:
    await desk.hear("m-1", "@Andy hello")

    await desk.hear("m-1", "@Andy open the door", sender_jid=ANN_HIDDEN, files=(photo,))

    assert await told(desk) == [(ANN, "@Andy hello")]
    assert os.listdir(inbox) == []


async def test_the_file_of_a_message_under_a_shared_id_is_kept(
    desk: Desk, inbox: Path, photo: ReceivedFile
) -> None:
    await desk.hear("m-1", "@Andy hello")
    theirs = inbound("m-1", "@Andy look", chat_jid=CHAT, sender_jid=BOB, files=(photo,))

    await receive_message(desk.services, theirs, "test")
    await receive_message(desk.services, theirs, "test")

    batch = await desk.batch()
    assert batch is not None
    paths = [file.path for each in batch.messages for file in each.attachments]
    assert paths == [f"/workspace/group/inbox/{name}" for name in os.listdir(inbox)]
    assert len(paths) == 1
