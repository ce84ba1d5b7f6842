"""Voice messages become text by a program of the operator's, in bounded time."""

import asyncio
import sys
from pathlib import Path

import pytest

from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.commands.hearing.receiving import receive_message
from orchestrator.commands.own_programs import ProgramFailed, output_of_program
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import InboundMessage, ReceivedFile
from orchestrator.settings.tree import Settings
from orchestrator.settings.voice import VoiceSettings
from tests.edges.commands.conftest import Desk
from tests.support.eventually import eventually
from tests.support.store_rows import ANN, NOON

GARDEN = Jid("1205@g.us")
SPOKEN = "[Voice message, 0:07]"


@pytest.fixture
async def garden(desk: Desk) -> None:
    """A registered chat where everything is for the assistant."""
    await add_group(
        desk.services, HostCaller(), NewGroup(jid=GARDEN, folder="garden", requires_trigger=False)
    )


def listening(desk: Desk, *command: str, within_s: float = 60) -> None:
    """The operator's program."""
    desk.set_settings(Settings(voice=VoiceSettings(command=command, within_s=within_s)))


async def heard(desk: Desk, directory: Path, *, is_voice: bool = True, message_id: str = "m-1") -> str:
    """What a message says that Ann spoke."""
    source = directory / "came"
    source.write_bytes(b"please water the tomatoes")
    file = ReceivedFile(
        name="voice.ogg", media_type="audio/ogg", size_bytes=25, source=source, is_voice=is_voice
    )
    spoken = InboundMessage(
        chat_jid=GARDEN,
        message_id=MessageId(message_id),
        sender_jid=ANN,
        sender_name="Ann",
        text=SPOKEN,
        sent_at=NOON,
        files=(file,),
    )
    await receive_message(desk.services, spoken, "whatsapp")
    return str((await desk.row(message_id, GARDEN))["text"])


@pytest.mark.parametrize(
    "command", [("cat",), ("cat", "{file}"), ("sh", "-c", 'cat "$1"', "sh", "{file}")], ids=" ".join
)
async def test_k5_what_was_spoken_is_marked_with_its_length_and_as_a_transcript(
    command: tuple[str, ...], desk: Desk, garden: None, tmp_path: Path
) -> None:
    """Case K5: words that a program heard looked like words that a person wrote."""
    listening(desk, *command)

    text = await heard(desk, tmp_path)

    assert text == f"{SPOKEN}\n[Transcript: please water the tomatoes]"
    assert (await desk.row("m-1", GARDEN))["attachments"] is not None


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 3", "it ended with exit code 3"),
        ("exec sleep 600", "it was not done within 1 s"),
        ("yes", "it printed more than 65536 bytes"),
        ("true", None),
    ],
    ids=["it fails", "it hangs", "it never stops", "it says nothing"],
)
async def test_k4_a_message_goes_on_without_its_words_when_they_are_not_to_be_had(
    script: str, why: str | None, desk: Desk, garden: None, tmp_path: Path
) -> None:
    """Case K4: the turn began before the transcript was ready; or it never began."""
    listening(desk, "sh", "-c", script, within_s=1 if "sleep" in script else 60)

    text = await heard(desk, tmp_path)

    assert text == f"{SPOKEN}\n[No transcript: listen to the file, if you can]"


async def test_a_program_that_is_not_there_holds_no_message_up(
    desk: Desk, garden: None, tmp_path: Path
) -> None:
    listening(desk, "/nowhere/at-all")

    assert "[No transcript" in await heard(desk, tmp_path)


async def test_music_and_what_no_program_is_set_for_is_left_alone(
    desk: Desk, garden: None, tmp_path: Path
) -> None:
    assert await heard(desk, tmp_path) == SPOKEN
    listening(desk, "cat")

    assert await heard(desk, tmp_path, is_voice=False, message_id="m-2") == SPOKEN


async def test_k3_it_is_the_same_whether_an_agent_is_at_work_or_not(
    desk: Desk, garden: None, tmp_path: Path
) -> None:
    """Case K3: voice messages were written down only while nobody was at work, or only then."""
    listening(desk, "cat")
    idle = await heard(desk, tmp_path)
    await desk.start_agent(chat=GARDEN)

    busy = await heard(desk, tmp_path, message_id="m-2")

    assert idle == busy


async def test_a_program_gets_none_of_our_credentials(
    desk: Desk, garden: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    listening(desk, sys.executable, "-c", "import os; print(sorted(os.environ))")

    text = await heard(desk, tmp_path)

    assert "PATH" in text
    assert "SECRET_TOKEN" not in text


async def test_a_program_that_leaves_others_behind_is_ended_with_them(tmp_path: Path) -> None:
    pids, file = tmp_path / "pids", tmp_path / "file"
    file.touch()
    script = f'sleep 600 & echo $! > "{pids}.new"; mv "{pids}.new" "{pids}"'

    with pytest.raises(ProgramFailed, match="did not end within 1 s"):
        await output_of_program(("sh", "-c", script), file, within_s=1, max_bytes=100)

    if pids.exists():  # a busy machine may have killed it before it began
        child = Path("/proc") / pids.read_text().strip()
        await eventually(lambda: not child.exists() or "Z (zombie)" in (child / "status").read_text())


async def test_few_voice_messages_are_listened_to_at_once(desk: Desk, garden: None, tmp_path: Path) -> None:
    running = tmp_path / "running"
    running.mkdir()
    script = f'mkdir "{running}/$$"; ls "{running}" | wc -l >> "{tmp_path}/counts"; rmdir "{running}/$$"'
    listening(desk, "sh", "-c", script)

    await asyncio.gather(*(heard(desk, tmp_path, message_id=f"m-{number}") for number in range(6)))

    counts = [int(line) for line in (tmp_path / "counts").read_text().split()]
    assert len(counts) == 6
    assert max(counts) <= 2
