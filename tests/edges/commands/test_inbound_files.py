"""Files that people send: in the group's inbox before the message is stored, whatever the agent did there."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.commands.hearing.inbound_files import operator_files
from orchestrator.commands.hearing.receiving import receive_message
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.errors import DovecoteError, ErrorCode, Unavailable
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import Attachment, InboundMessage, ReceivedFile
from orchestrator.settings.tree import AttachmentSettings
from orchestrator.store import messages
from tests.edges.commands.conftest import Desk
from tests.edges.ipc.conftest import mount_small_disk, unmount

CHAT = Jid("file:garden")


@pytest.fixture
async def garden(desk: Desk) -> Path:
    """The workspace of a registered chat."""
    await add_group(desk.services, HostCaller(), NewGroup(jid=CHAT, folder="garden"))
    return desk.services.paths.groups / "garden" / "workspace"


def came(directory: Path, name: str, content: bytes = b"content", kind: str = "text/plain") -> ReceivedFile:
    """A file as a channel hands it in."""
    source = directory / f"came-{len(os.listdir(directory))}"
    source.write_bytes(content)
    return ReceivedFile(name=name, media_type=kind, size_bytes=len(content), source=source)


def message(*files: ReceivedFile, message_id: str = "m-1", chat: Jid = CHAT) -> InboundMessage:
    return InboundMessage(
        chat_jid=chat,
        message_id=MessageId(message_id),
        sender_jid=Jid("file:ada"),
        sender_name="Ada",
        text="look",
        sent_at=datetime(2026, 1, 1, tzinfo=UTC),
        files=files,
    )


async def attachments(desk: Desk) -> tuple[Attachment, ...]:
    """Of the one message that is stored."""
    [stored] = await desk.run(lambda tx: messages.pending_chatter(tx, CHAT, before_seq=1_000, count=10))
    return stored.attachments


async def test_a_file_lies_in_the_inbox_and_its_message_says_where(
    desk: Desk, garden: Path, tmp_path: Path
) -> None:
    await receive_message(desk.services, message(came(tmp_path, "photo.jpg", b"jpg", "image/jpeg")), "file")

    assert (garden / "inbox" / "photo.jpg").read_bytes() == b"jpg"
    assert await attachments(desk) == (
        Attachment(
            name="photo.jpg", media_type="image/jpeg", size_bytes=3, path="/workspace/group/inbox/photo.jpg"
        ),
    )


async def test_names_that_are_alike_or_unsafe_keep_apart_and_inside(
    desk: Desk, garden: Path, tmp_path: Path
) -> None:
    names = ("a.txt", "a.txt", "../../a.txt", "a/b\n.txt", ".bashrc", "x" * 300 + ".txt")
    files = [came(tmp_path, name, f"{number}".encode()) for number, name in enumerate(names)]

    await receive_message(desk.services, message(*files), "file")

    kept = sorted(os.listdir(garden / "inbox"))
    assert kept == sorted(["a.txt", "a-2.txt", "_.._a.txt", "a_b.txt", "bashrc", "x" * 196 + ".txt"])
    paths = [each.path for each in await attachments(desk)]
    assert [Path(path).name for path in paths if path] == [
        "a.txt",
        "a-2.txt",
        "_.._a.txt",
        "a_b.txt",
        "bashrc",
        "x" * 196 + ".txt",
    ]
    assert (garden / "inbox" / "a-2.txt").read_bytes() == b"1"


async def test_a_message_met_again_leaves_no_second_copy(desk: Desk, garden: Path, tmp_path: Path) -> None:
    for _ in range(2):
        await receive_message(desk.services, message(came(tmp_path, "a.txt")), "file")

    assert os.listdir(garden / "inbox") == ["a.txt"]
    assert len(await attachments(desk)) == 1


async def test_of_a_sender_who_is_not_read_no_file_is_kept(desk: Desk, garden: Path, tmp_path: Path) -> None:
    (garden.parent / "senders.toml").write_text('mode = "drop"\nsenders = ["file:bob"]\n')

    await receive_message(desk.services, message(came(tmp_path, "a.txt")), "file")

    assert os.listdir(garden / "inbox") == []
    assert await desk.run(lambda tx: messages.pending_chatter(tx, CHAT, before_seq=1_000, count=10)) == []


async def test_of_a_chat_that_is_not_registered_no_file_is_kept(desk: Desk, tmp_path: Path) -> None:
    await receive_message(desk.services, message(came(tmp_path, "a.txt"), chat=Jid("file:nobody")), "file")

    assert [path.name for path in desk.services.paths.groups.rglob("a.txt")] == []


async def test_files_over_a_limit_are_named_without_a_path(desk: Desk, garden: Path, tmp_path: Path) -> None:
    limits = AttachmentSettings(max_file_bytes=10, max_count=2)
    services = replace(
        desk.services, settings=desk.services.settings.model_copy(update={"attachments": limits})
    )
    files = [came(tmp_path, "big", b"x" * 11), came(tmp_path, "ok", b"x" * 10), came(tmp_path, "third", b"x")]
    lost = ReceivedFile(name="lost", media_type="", size_bytes=5, source=None)

    await receive_message(services, message(files[0], files[1], files[2], lost), "file")

    found = [(each.name, each.size_bytes, each.path is None) for each in await attachments(desk)]
    assert found == [("big", 11, True), ("ok", 10, False), ("third", 1, True), ("lost", 5, True)]
    assert os.listdir(garden / "inbox") == ["ok"]


@pytest.mark.parametrize("trap", ["link", "link to another group", "file", "pipe", "link by the name"])
async def test_an_inbox_that_leads_elsewhere_takes_nothing_and_the_message_comes_all_the_same(
    desk: Desk, garden: Path, tmp_path: Path, trap: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_bytes(b"kept")
    match trap:
        case "link":
            (garden / "inbox").symlink_to(outside)
        case "link to another group":
            (garden / "inbox").symlink_to("../..")
        case "file":
            (garden / "inbox").write_bytes(b"no directory")
        case "pipe":
            os.mkfifo(garden / "inbox")
        case _:
            (garden / "inbox").mkdir()
            (garden / "inbox" / "a.txt").symlink_to(outside / "a.txt")

    await receive_message(desk.services, message(came(tmp_path, "a.txt", b"new")), "file")

    [found] = await attachments(desk)
    assert os.listdir(outside) == ["a.txt"]
    assert (outside / "a.txt").read_bytes() == b"kept"
    if trap == "link by the name":
        assert found.path == "/workspace/group/inbox/a-2.txt"
    else:
        assert (found.name, found.path) == ("a.txt", None)


async def test_on_a_full_disk_the_network_keeps_the_message_and_no_part_is_left(
    desk: Desk, garden: Path, tmp_path: Path
) -> None:
    (garden / "inbox").mkdir()
    files = [came(tmp_path, "small", b"x"), came(tmp_path, "big", b"x" * 2_000_000)]
    mount_small_disk(garden / "inbox", size="1m")
    try:
        with pytest.raises(Unavailable):
            await receive_message(desk.services, message(*files), "file")
        left = os.listdir(garden / "inbox")
    finally:
        unmount(garden / "inbox")

    assert left == []
    assert await desk.run(lambda tx: messages.pending_chatter(tx, CHAT, before_seq=1_000, count=10)) == []

    await receive_message(desk.services, message(*files), "file")

    assert sorted(os.listdir(garden / "inbox")) == ["big", "small"]


async def test_an_operators_files_are_checked_before_they_are_taken(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 5)
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    os.mkfifo(tmp_path / "pipe")

    taken = await operator_files(desk.services, [str(tmp_path / "a.txt"), str(tmp_path / "link")])
    refusals = []
    for path in (str(tmp_path), str(tmp_path / "pipe"), str(tmp_path / "nothing"), "a.txt", "\0"):
        with pytest.raises(DovecoteError) as refusal:
            await operator_files(desk.services, [path])
        refusals.append(refusal.value.code)

    assert [(file.name, file.size_bytes) for file in taken] == [("a.txt", 5), ("link", 5)]
    assert refusals == [ErrorCode.INVALID_REQUEST] * 5
    with pytest.raises(DovecoteError, match="11 files; 10 is the limit"):
        await operator_files(desk.services, [str(tmp_path / "a.txt")] * 11)
