"""Files, voice messages and answers of a group on WhatsApp, with the double at the far end."""

from pathlib import Path

import pytest

from orchestrator.channels.whatsapp.fetching import FetchRule
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.file_channel import read_lines
from tests.support.home_on_disk import ECHO, HomeOnDisk
from tests.support.whatsapp_choir import CHOIR, choir
from tests.support.whatsapp_double import Fault
from tests.support.whatsapp_far_end import FarEnd

ADA = "4917100000001@s.whatsapp.net"


@pytest.fixture
def far(open_path: Path) -> FarEnd:
    return FarEnd(open_path / "far")


async def test_k1_k6_a_photo_reaches_the_agent_and_a_file_comes_back(home: HomeOnDisk, far: FarEnd) -> None:
    """Case K1: photos never reached the agent. Case K6: nor did files come back."""
    home.set(agent__provider="builtin")

    async with choir(home, far):
        far.write_file("@Assistant", b"jpeg")
        await eventually(lambda: len(far.sent) == 1, what=home.story)
        far.write("@Assistant send file photo.jpg")
        await eventually(lambda: len(far.sent) == 3, what=home.story)

    assert far.sent[0].startswith("Thanks, I put `photo.jpg` (4 B) into our workspace.")
    assert (home.workspace("choir") / "inbox" / "photo.jpg").read_bytes() == b"jpeg"
    [came_back] = list((far.directory / "files").iterdir())
    assert came_back.read_bytes() == b"jpeg"


async def test_k3_k5_a_voice_message_is_words_and_says_so(home: HomeOnDisk, far: FarEnd) -> None:
    """Case K5: words that were heard looked like words that were written. Case K3: or there were none."""
    home.set(voice__command=["cat"])
    home.play(ECHO, "choir")
    spoken = {"name": "voice.ogg", "media_type": "audio/ogg", "is_voice": True}

    async with choir(home, far, requires_trigger=False):
        far.write_file("[Voice message, 0:07]", b"Water the tomatoes, please", described=spoken)
        await eventually(lambda: far.sent, what=home.story)

    assert far.sent == ["re: [Voice message, 0:07]\n[Transcript: Water the tomatoes, please]"]


async def test_k4_a_turn_does_not_wait_for_a_file_for_ever_and_is_told_when_it_comes(
    home: HomeOnDisk, far: FarEnd
) -> None:
    """Case K4: the turn began before the file was there; or it never began."""
    home.play(ECHO, "choir")
    far.media.hold()

    async with choir(home, far, fetch=FetchRule(wait_s=0.05)):
        far.write_file("@Assistant look", b"jpeg")
        await eventually(lambda: far.sent, what=home.story)
        far.media.release()
        await eventually(lambda: len(far.sent) == 2, what=home.story)

    assert far.sent == [
        "re: @Assistant look",
        "re: [The file of the quoted message has come]\n@Assistant look",
    ]
    assert (home.workspace("choir") / "inbox" / "photo.jpg").read_bytes() == b"jpeg"


async def test_k7_a19_a_long_answer_comes_in_readable_parts_and_in_order_whatever_fails(
    home: HomeOnDisk, far: FarEnd
) -> None:
    """Case K7: long answers were cut off. Case A19: what failed once was sent behind what came later."""
    lines = [f"line {number} of the song" for number in range(300)]
    answer = "\n".join(["Here it is:", "```", *lines, "```"])
    home.play({"default": [{"say": answer}, {"say": "That was all."}]}, "choir")
    far.set_faults(("send:line 0", Fault.NOT_SENT, 2))

    async with choir(home, far):
        far.write("@Assistant sing")
        await eventually(lambda: far.sent[-1:] == ["That was all."], what=home.story)

    *parts, _ = far.sent
    assert len(parts) > 1
    assert all(len(part) <= 4_100 and part.count("```") == 2 for part in parts)
    shown = "\n".join(parts).replace("```", "").split("\n")
    assert [line for line in shown if line.startswith("line")] == lines


async def test_an_answer_calls_people_and_quotes_where_the_settings_want_it(
    home: HomeOnDisk, far: FarEnd
) -> None:
    home.set(outbox__quote_trigger=True)
    home.play({"default": [{"say": "@Ada, done"}, {"say": "And more"}]}, "choir")

    async with choir(home, far):
        far.write("@Assistant go")
        await eventually(lambda: len(far.sent) == 2, what=home.story)

    first, second = read_lines(far.directory / "sends.jsonl")
    assert (first["text"], first["mentions"]) == ("@4917100000001, done", [ADA])
    assert (first["reply_to"], first["reply_to_text"]) == ("M0001", "@Assistant go")
    assert (second["mentions"], second["reply_to"]) == ([], None)


async def test_a10_a_text_that_the_network_refuses_is_told_to_operator_and_agent(
    home: HomeOnDisk, far: FarEnd
) -> None:
    """Case A10: a send failed, and neither the agent nor anybody else heard of it."""
    home.play(ECHO, "choir")
    far.set_faults(("send:re: @Assistant first", Fault.REFUSE_SEND))
    told = "SELECT text FROM outbox WHERE chat_jid = 'console:main'"
    untold = "SELECT 1 FROM outbox WHERE status = 'failed' AND told_with_seq IS NULL"

    async with choir(home, far):
        far.write("@Assistant first")
        await eventually(lambda: home.rows(told), what=home.story)
        far.write("@Assistant second")
        await eventually(lambda: far.sent == ["re: @Assistant second"], what=home.story)
        await eventually(lambda: not home.rows(untold), what=home.story)

    assert [row["text"] for row in home.rows(told)] == [say(Say.DELIVERY_FAILED, "en", chat_name="Choir")]


async def test_b7_b8_our_own_texts_and_what_comes_twice_are_not_answered(
    home: HomeOnDisk, far: FarEnd
) -> None:
    """Case B7: own messages came back as a person's. Case B8: the network brought one message twice."""
    home.play(ECHO, "choir")
    sent = "SELECT channel_message_id AS id FROM outbox WHERE chat_jid = ? AND status = 'sent'"

    async with choir(home, far, requires_trigger=False):
        far.write("hello", message_id="twice")
        await eventually(lambda: home.rows(sent, CHOIR), what=home.story)
        own = {"message_id": home.rows(sent, CHOIR)[0]["id"], "is_from_me": True, "sender_name": "Me"}
        far.write("hello", message_id="twice")
        far.write("re: hello", **own)
        far.write("and?")
        await eventually(lambda: far.is_quiet and len(far.sent) == 2, what=home.story)
        await home.quiet()

    assert far.sent == ["re: hello", "re: and?"]
