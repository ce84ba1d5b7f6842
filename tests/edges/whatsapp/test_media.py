"""Files of messages: fetched by the child, waited for by their message, never at the cost of another's."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.fetching import FetchRule
from orchestrator.contracts.records.messages import InboundMessage
from tests.edges.whatsapp.conftest import CHOIR, QUICK, Desk, MakeDesk, scripted
from tests.support.eventually import eventually
from tests.support.file_channel import read_lines, write_json
from tests.support.whatsapp_double import Fault

PATIENT = FetchRule(wait_s=600, tries=4, first_pause_s=0.01)
HASTY = FetchRule(wait_s=0.05, first_pause_s=0.01)


class Reader:
    """An inbox that reads files as the store does: what is not read when it returns is gone."""

    def __init__(self) -> None:
        self.read: list[tuple[str, bytes | None]] = []

    async def __call__(self, message: InboundMessage) -> None:
        """Read it."""
        [file] = message.files or (None,)
        source = None if file is None else file.source
        self.read.append((message.text, None if source is None else source.read_bytes()))


def patient(make_desk: MakeDesk, fetch: FetchRule = PATIENT) -> Desk:
    """A desk whose messages wait like this for their files."""
    return make_desk(rule=replace(QUICK, fetch=fetch))


def kept_files(desk: Desk) -> list[str]:
    """What lies beside the rows of the spool."""
    return sorted(path.name for path in (desk.far.spool / "files").iterdir())


async def test_k1_a_photo_is_handed_on_as_a_file_and_leaves_none_behind(make_desk: MakeDesk) -> None:
    """Case K1: the agent was told of a photo, or not even that, and never given one."""
    desk, inbox = patient(make_desk), Reader()
    desk.far.write_file("look", b"jpeg")

    await desk.channel.connect(inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert inbox.read == [("look", b"jpeg")]
    await eventually(lambda: kept_files(desk) == [])


async def test_a_message_waits_for_its_file_and_holds_up_only_its_chat(make_desk: MakeDesk) -> None:
    desk, inbox = patient(make_desk), Reader()
    desk.far.media.hold()
    desk.far.write_file("look", b"jpeg")
    desk.far.write("behind it")
    desk.far.write("elsewhere", chat_jid="1204@g.us")

    await desk.channel.connect(inbox)
    await eventually(lambda: inbox.read)
    assert inbox.read == [("elsewhere", None)]
    desk.far.media.release()
    await eventually(lambda: desk.far.is_quiet)

    assert inbox.read[1:] == [("look", b"jpeg"), ("behind it", None)]


async def test_k4_a_message_goes_on_without_its_file_after_a_while_and_is_met_again_with_it(
    make_desk: MakeDesk,
) -> None:
    """Case K4: what is not ready in time holds nobody up, and is not lost."""
    desk, inbox = patient(make_desk, HASTY), Reader()
    desk.far.media.hold()
    desk.far.write_file("look", b"jpeg")
    desk.far.write("behind it")

    await desk.channel.connect(inbox)
    await eventually(lambda: len(inbox.read) == 2)
    early = list(inbox.read)
    desk.far.media.release()
    await eventually(lambda: desk.far.is_quiet)

    assert early == [("look", None), ("behind it", None)]
    assert inbox.read[2:] == [("look", b"jpeg")]
    await eventually(lambda: kept_files(desk) == [])


async def test_a_late_file_is_asked_for_again_by_the_next_child(make_desk: MakeDesk) -> None:
    desk, inbox = patient(make_desk, HASTY), Reader()
    desk.far.media.hold()
    desk.far.write_file("look", b"jpeg")
    await desk.channel.connect(inbox)
    await eventually(lambda: inbox.read)

    await desk.channel.close()
    assert desk.far.rows
    desk.far.media.release()
    await desk.channel.connect(inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert ("look", b"jpeg") in inbox.read


async def test_a_file_that_does_not_come_at_once_is_tried_again(make_desk: MakeDesk) -> None:
    desk, inbox = patient(make_desk), Reader()
    desk.far.set_faults(("fetch:M0001", Fault.NOT_NOW, 2))
    desk.far.write_file("look", b"jpeg")

    await desk.channel.connect(inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert inbox.read == [("look", b"jpeg")]
    assert len(read_lines(desk.far.directory / "fetches.jsonl")) == 3


@pytest.mark.parametrize(
    ("fault", "asked"), [(None, 1), (Fault.NOT_NOW, PATIENT.tries)], ids=["gone for ever", "never in time"]
)
async def test_a_file_that_can_not_be_had_is_given_up_and_its_message_goes_on(
    fault: Fault | None, asked: int, make_desk: MakeDesk
) -> None:
    desk, inbox = patient(make_desk), Reader()
    photo = {"name": "photo.jpg", "media_type": "image/jpeg", "size_bytes": 4, "source": None}
    desk.far.write("look", files=[photo])
    if fault is not None:
        desk.far.set_faults(("fetch:M0001", fault, 100))

    await desk.channel.connect(inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert inbox.read == [("look", None)]
    assert len(read_lines(desk.far.directory / "fetches.jsonl")) == asked


async def test_a_file_that_child_after_child_dies_of_costs_only_itself(make_desk: MakeDesk) -> None:
    desk, inbox = patient(make_desk), Reader()
    desk.far.set_faults(("fetch:M0001", Fault.ABORT, 100))
    desk.far.write_file("look", b"jpeg")
    desk.far.write("behind it")

    await desk.channel.connect(inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert inbox.read == [("look", None), ("behind it", None)]
    assert len(read_lines(desk.far.directory / "fetches.jsonl")) == 3


async def test_what_nobody_reads_and_what_is_too_large_is_not_fetched(make_desk: MakeDesk) -> None:
    desk, inbox = patient(make_desk, replace(PATIENT, max_bytes=4)), Reader()
    desk.told.unread.add(CHOIR)
    desk.far.write_file("in a strange chat", b"jpeg")
    desk.far.write_file("large", b"jpeg!", chat_jid="1204@g.us")

    await desk.channel.connect(inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert sorted(inbox.read) == [("in a strange chat", None), ("large", None)]
    assert read_lines(desk.far.directory / "fetches.jsonl") == []


async def test_a_senders_message_is_shown_as_read_where_the_settings_want_it(make_desk: MakeDesk) -> None:
    desk = make_desk(read_receipts=True)
    desk.told.unread.add(CHOIR)
    desk.far.write("unread")
    for more in ({}, {"is_from_me": True}, {"is_context_only": True}):
        desk.far.write("read?", chat_jid="1204@g.us", **more)

    await desk.channel.connect(desk.inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert read_lines(desk.far.directory / "read.jsonl") == [{"chat": "1204@g.us", "message_id": "M0002"}]


async def test_no_message_is_shown_as_read_otherwise(desk: Desk) -> None:
    desk.far.write("hello")

    await desk.channel.connect(desk.inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert read_lines(desk.far.directory / "read.jsonl") == []


@pytest.fixture
def real_desk(make_desk: MakeDesk) -> Desk:
    """The whole channel over the real child with a scripted client."""
    pytest.importorskip("magic", exc_type=ImportError)
    far = make_desk().far
    return make_desk(rule=replace(QUICK, fetch=PATIENT), read_receipts=True, command=scripted(far))


def say(desk: Desk, message_id: str, said: dict[str, object]) -> None:
    """A member sends a real `Message` with these fields."""
    write_json(
        desk.far.directory / "in" / f"{message_id}.json",
        {"message_id": message_id, "text": "", "said": said},
    )


async def test_the_real_child_fetches_what_a_message_holds_and_nothing_of_its_previews(
    real_desk: Desk,
) -> None:
    inbox = Reader()
    real_desk.far.media.put("a", b"opus")
    real_desk.far.media.put("b", b"x" * (PATIENT.max_bytes + 1))
    note = {"PTT": True, "seconds": 7, "directPath": "/a", "URL": "http://127.0.0.1/", "fileLength": 4}
    say(real_desk, "M1", {"audioMessage": note})
    say(real_desk, "M2", {"imageMessage": {"caption": "larger than it says", "directPath": "/b"}})
    say(real_desk, "M3", {"ephemeralMessage": {"message": {"ptvMessage": {"directPath": "/gone"}}}})
    say(real_desk, "M4", {"imageMessage": {"caption": "nowhere", "URL": "http://127.0.0.1/"}})

    await real_desk.channel.connect(inbox)
    await eventually(lambda: len(inbox.read) == 4 and real_desk.far.is_quiet)

    assert inbox.read == [
        ("[Voice message, 0:07]", b"opus"),
        ("larger than it says", None),
        ("[Video message, 0:00]", None),
        ("nowhere", None),
    ]
    asked = read_lines(real_desk.far.directory / "downloads.jsonl")
    assert {"as": "audioMessage", "fields": ["directPath", "fileLength"]} in asked
    assert sorted(each["as"] for each in asked) == ["audioMessage", "imageMessage", "videoMessage"]
    await eventually(lambda: kept_files(real_desk) == [])
    seen = {"chat": CHOIR, "sender": "98765@lid", "ids": ["M1"], "receipt": "READ"}
    await eventually(lambda: seen in read_lines(real_desk.far.directory / "read.jsonl"))


async def test_a_file_without_a_row_is_gone_after_the_next_start(desk: Desk, tmp_path: Path) -> None:
    (desk.far.spool / "files").mkdir(parents=True)
    (desk.far.spool / "files" / "0000000000000009.row").write_bytes(b"left")

    await desk.channel.connect(desk.inbox)

    await eventually(lambda: kept_files(desk) == [])


async def test_of_too_many_late_files_only_the_first_are_waited_for(make_desk: MakeDesk) -> None:
    desk, inbox = patient(make_desk, HASTY), Reader()
    desk.far.media.hold()
    for number in range(40):
        desk.far.write_file(f"photo {number}", b"jpeg")

    await desk.channel.connect(inbox)
    await eventually(lambda: len(inbox.read) == 40)
    await eventually(lambda: len(desk.far.rows) == 32)
    desk.far.media.release()
    await eventually(lambda: desk.far.is_quiet)

    assert inbox.read[:40] == [(f"photo {number}", None) for number in range(40)]
    assert len(inbox.read[40:]) == 32


TRIP = {"id": "M0001"}


async def test_the_words_of_an_album_come_behind_all_its_photos(make_desk: MakeDesk) -> None:
    desk, inbox = patient(make_desk, replace(PATIENT, album_s=600)), Reader()
    desk.far.write("[Album: 3 photos]", album={**TRIP, "expected": 3}, is_context_only=True)
    desk.far.write_file("@Assistant look", b"one", album={**TRIP, "has_words": True})
    desk.far.write_file("[Photo]", b"two", album=TRIP)
    await desk.channel.connect(inbox)
    await eventually(lambda: inbox.read)

    desk.far.write("something else")
    desk.far.write_file("[Photo]", b"three", album=TRIP)
    await eventually(lambda: desk.far.is_quiet)

    assert inbox.read == [
        ("[Album: 3 photos]", None),
        ("[Photo]", b"two"),
        ("[Photo]", b"three"),
        ("@Assistant look", b"one"),
        ("something else", None),
    ]


async def test_an_album_that_never_becomes_whole_holds_nobody_up(make_desk: MakeDesk) -> None:
    desk, inbox = patient(make_desk, replace(PATIENT, album_s=0.05)), Reader()
    desk.far.write("[Album: 30 photos]", album={**TRIP, "expected": 30}, is_context_only=True)
    desk.far.write_file("@Assistant look", b"one", album={**TRIP, "has_words": True})

    await desk.channel.connect(inbox)
    await eventually(lambda: desk.far.is_quiet)

    assert inbox.read == [("[Album: 30 photos]", None), ("@Assistant look", b"one")]


async def test_attack_albums_that_are_opened_one_after_another_and_never_filled_hold_nobody_up(
    make_desk: MakeDesk,
) -> None:
    desk, inbox = patient(make_desk, replace(PATIENT, album_s=600)), Reader()
    for number in range(100):
        desk.far.write(f"[Album {number}]", album={"id": f"A{number}", "expected": 30}, is_context_only=True)
    desk.far.write("hello", chat_jid="4917100000009@s.whatsapp.net", chat_is_group=False)

    await desk.channel.connect(inbox)
    await eventually(lambda: ("hello", None) in inbox.read and len(inbox.read) == 101)

    assert len(desk.far.lives) == 1
