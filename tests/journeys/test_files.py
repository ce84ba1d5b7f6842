"""Files from and to a chat, end to end; whatever is killed on the way, each arrives once or is noted."""

from typing import Final

import pytest

from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.file_channel import Outcome
from tests.support.home_on_disk import HomeOnDisk, once
from tests.support.orchestrator_process import OrchestratorProcess

RESENT_NOTE: Final = say(Say.RESENT_NOTE, "en")
FILE: Final = ("report.pdf", "application/pdf", b"figures")
SENDS: Final = once(
    "send",
    {
        "request": {
            "directory": "messages",
            "body": {
                "type": "message",
                "chatJid": "file:kitchen",
                "text": "Here.",
                "attachments": ["report.pdf"],
                "requestId": "r-1",
            },
        }
    },
    {"say": "done"},
)


async def with_report(home: HomeOnDisk) -> None:
    """A group whose workspace has a file."""
    await home.add_group()
    (home.workspace() / "report.pdf").write_bytes(FILE[2])


def spool(home: HomeOnDisk) -> list[str]:
    return [path.name for path in (home.path / "data" / "spool").iterdir()]


async def test_k6_the_builtin_assistant_sends_the_file_it_is_asked_for(home: HomeOnDisk) -> None:
    """Case K6."""
    home.set(agent__provider="builtin")
    await with_report(home)

    async with home.running():
        home.ask("send me the file Report.pdf please")
        await home.said("", "There it is: `report.pdf`")
        home.ask("send file nothing.txt")
        await home.quiet()

    assert [home.file_of(line) for line in home.sends()] == [FILE, None, None]
    assert home.texts()[-1].startswith("Sorry, I could not send `nothing.txt`.")
    assert "is not there" in home.texts()[-1]
    assert spool(home) == []


async def test_the_builtin_assistant_finds_the_file_that_it_was_given(home: HomeOnDisk) -> None:
    home.set(agent__provider="builtin")
    await home.add_group()
    source = home.channel / "came.bin"
    source.write_bytes(b"jpg")
    photo = {"name": "photo.jpg", "media_type": "image/jpeg", "size_bytes": 3, "source": str(source)}

    async with home.running():
        home.ask("", files=[photo])
        await home.quiet()
        home.ask("send file photo.jpg")
        await home.quiet()

    assert home.texts() == [
        "Thanks, I put `photo.jpg` (3 B) into our workspace. `files` lists what is there.",
        "",
        "There it is: `inbox/photo.jpg`",
    ]
    assert home.file_of(home.sends()[1]) == ("photo.jpg", "image/jpeg", b"jpg")


@pytest.mark.parametrize(
    "point", ["attachments.copied", "request.committed", "outbox.claimed", "outbox.sent"]
)
async def test_a_kill_while_a_file_is_sent_loses_nothing_and_doubles_nothing_unseen(
    point: str, home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await with_report(home)
    home.play(SENDS)
    await orchestrator.start(crash_at=point)
    home.ask("send")
    await orchestrator.died()

    await orchestrator.start()
    await home.quiet()
    await orchestrator.stop()

    files = [(line["text"], home.file_of(line)) for line in home.sends() if line["file"]]
    again = (f"Here.\n\n{RESENT_NOTE}", FILE)
    assert ("Here.", FILE) in files or again in files, home.story()
    assert files.count(("Here.", FILE)) <= 1
    assert files.count(again) <= (1 if home.logs("outbox.unknown") else 0)
    assert len(files) <= 2
    assert spool(home) == []


async def test_a_file_whose_fate_is_unknown_is_sent_again_once_with_a_note(home: HomeOnDisk) -> None:
    await with_report(home)
    home.play(SENDS)
    home.behave({"match": "Here.", "outcome": Outcome.UNKNOWN_AFTER})

    async with home.running():
        home.ask("send")
        await home.said("Here.", f"Here.\n\n{RESENT_NOTE}", "done")

    assert [home.file_of(line) for line in home.sends()] == [FILE, FILE, None]


async def test_a_file_that_the_network_refuses_is_told_and_leaves_no_copy(home: HomeOnDisk) -> None:
    await with_report(home)
    home.play(SENDS)
    home.behave({"match": "Here.", "outcome": Outcome.REFUSE})

    async with home.running():
        home.ask("send")
        await home.said("done")
        await home.quiet()

    assert home.rows("SELECT status FROM outbox WHERE file_name IS NOT NULL") == [{"status": "failed"}]
    assert spool(home) == []


async def test_a_copy_that_somebody_removed_fails_that_message_and_no_other(home: HomeOnDisk) -> None:
    await with_report(home)
    home.play(SENDS)
    home.behave({"match": "Here.", "outcome": Outcome.UNAVAILABLE, "times": 1_000_000})

    async with home.running():
        home.ask("send")
        await home.begun()
        await eventually(lambda: home.rows("SELECT 1 FROM outbox WHERE attempts > 0"), what=home.story)
        for name in spool(home):
            (home.path / "data" / "spool" / name).unlink()
        await home.said("done")

    [row] = home.rows("SELECT status, error FROM outbox WHERE file_name IS NOT NULL")
    assert row == {"status": "failed", "error": "its copy in data/spool is gone"}
