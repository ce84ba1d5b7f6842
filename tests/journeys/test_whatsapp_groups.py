"""Who is who, and which groups there are, on WhatsApp: with the double at the far end of the descriptor."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.whatsapp import status
from orchestrator.contracts.ids import Jid
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk
from tests.support.whatsapp_choir import CHOIR, choir
from tests.support.whatsapp_far_end import FarEnd

ADA, ADA_HIDDEN = "4917100000001@s.whatsapp.net", "555@lid"
OURS, OURS_HIDDEN = "4915100000000@s.whatsapp.net", "9000@lid"
CHESS = "120363000000000009@g.us"
MAIN_TEXTS = "SELECT text FROM outbox WHERE chat_jid = 'console:main' ORDER BY id"
STORED = "SELECT text, sender_role, status FROM messages WHERE chat_jid = ? ORDER BY seq"


@pytest.fixture
def far(open_path: Path) -> FarEnd:
    return FarEnd(open_path / "far")


async def test_j5_the_operator_is_asked_about_a_group_that_it_was_added_to(
    home: HomeOnDisk, far: FarEnd
) -> None:
    """Case J5: the bot was added to a group, and nothing happened."""
    far.set_groups((CHOIR, "Choir", ADA))

    async with choir(home, far) as app:
        synced = "SELECT 1 FROM facts WHERE name = 'chats_synced:whatsapp'"
        await eventually(lambda: home.rows(synced), what=home.story)
        far.set_groups((CHOIR, "Choir", ADA), (CHESS, "Chess Club", ADA, OURS))
        far.tell(CHESS, name="Chess Club", joined=[ADA, OURS], has_us=True)
        await eventually(lambda: home.rows(MAIN_TEXTS), what=home.story)
        await app.console.receive(Jid("console:main"), "/yes 1")
        groups = "SELECT 1 FROM groups WHERE folder = 'chess-club'"
        await eventually(lambda: home.rows(groups), what=home.story)
        home.play(ECHO, "chess-club")
        far.write("@Assistant hello", chat_jid=CHESS)
        await eventually(lambda: far.sent, what=home.story)

    assert "I was added to the group “Chess Club”." in home.rows(MAIN_TEXTS)[0]["text"]
    assert far.sent == ["re: @Assistant hello"]


async def test_a_group_that_threw_it_out_is_told_and_known_no_more(home: HomeOnDisk, far: FarEnd) -> None:
    far.set_groups((CHOIR, "Choir", ADA, OURS), (CHESS, "Chess Club", ADA, OURS))
    members = "SELECT jid FROM members WHERE chat_jid = ? ORDER BY jid"

    async with choir(home, far):
        await eventually(lambda: len(home.rows(members, CHOIR)) == 2, what=home.story)
        far.set_groups(("120363000000000008@g.us", "Another"))
        far.tell(CHESS, left=[OURS], has_us=False)
        far.tell(CHOIR, left=[OURS_HIDDEN], has_us=False)
        await eventually(lambda: home.rows(MAIN_TEXTS), what=home.story)
        await eventually(lambda: not home.rows(members, CHESS), what=home.story)

    assert home.rows(MAIN_TEXTS)[0]["text"] == say(Say.CHAT_LEFT, "en", name="Choir")
    assert home.rows(members, CHOIR) == []


async def test_g5_g6_a_person_is_one_under_either_id_and_stays_the_operator(
    home: HomeOnDisk, far: FarEnd
) -> None:
    """Case G5: a person under a hidden id was somebody else. Case G6: only a message's second id tells."""
    home.set(**{"assistant.operators": [ADA]})
    home.play(ECHO, "choir")

    async with choir(home, far):
        pair = {"lid": ADA_HIDDEN, "phone": ADA}
        far.write("hello", sender_jid=ADA_HIDDEN, same=[pair])
        far.write("@Assistant who am I?", sender_jid=ADA_HIDDEN)
        await eventually(lambda: far.sent, what=home.story)

    assert [row["sender_role"] for row in home.rows(STORED, CHOIR)] == ["operator", "operator"]
    assert home.rows("SELECT phone FROM contacts WHERE lid = ?", ADA_HIDDEN)[0]["phone"] == ADA


async def test_g5_the_chat_with_oneself_is_one_under_either_id(home: HomeOnDisk, far: FarEnd) -> None:
    """Case G5: the self-chat came under the hidden id, which nobody had registered."""
    home.play(ECHO, "own")

    async with choir(home, far, more={"own": OURS}):
        far.write("@Assistant note", chat_jid=OURS_HIDDEN, is_from_me=True, **as_ourselves())
        await eventually(lambda: far.sent, what=home.story)

    assert far.sent == ["re: @Assistant note"]
    assert [row["text"] for row in home.rows(STORED, OURS)] == ["@Assistant note"]


async def test_g8_a_message_that_cannot_be_read_is_shown_to_the_agent_and_counted_in_the_chat(
    home: HomeOnDisk, far: FarEnd
) -> None:
    """Case G8: in a new group messages said `waiting for this message`, and nobody knew."""
    home.play(ECHO, "choir")
    unreadable = "[A message that cannot be read: it could not be decrypted]"

    async with choir(home, far):
        far.write(unreadable, is_context_only=True)
        far.write("@Assistant hello")
        await eventually(lambda: far.sent, what=home.story)

    assert far.sent == [f"re: {unreadable}\n@Assistant hello"]


async def test_g10_who_may_call_it_in_one_group_may_not_in_another(home: HomeOnDisk, far: FarEnd) -> None:
    """Case G10: a person who was on the list of one group opened every group that she was in."""
    home.play(ECHO, "choir")
    home.play(ECHO, "chess")
    rules = {
        "choir": f'mode = "allowlist"\nsenders = ["{ADA}"]\n',
        "chess": 'mode = "allowlist"\nsenders = []\n',
    }
    for folder, text in rules.items():
        (home.workspace(folder).parent / "senders.toml").write_text(text)

    async with choir(home, far, more={"chess": CHESS}):
        far.write("@Assistant in chess", chat_jid=CHESS)
        far.write("@Assistant in the choir")
        await eventually(lambda: far.sent and home.rows(STORED, CHESS), what=home.story)
        await home.quiet()

    assert far.sent == ["re: @Assistant in the choir"]
    assert [row["text"] for row in home.rows(STORED, CHESS)] == ["@Assistant in chess"]


async def test_g17_a18_what_comes_from_a_chat_that_nobody_registered_is_counted_and_seen_in_the_status(
    home: HomeOnDisk, far: FarEnd, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case G17: groups had fallen silent. Case A18: a chat that was not registered was dropped unseen."""
    noticed = "SELECT count FROM notices WHERE incident = ?"

    async with choir(home, far):
        far.write("one", chat_jid=CHESS)
        far.write("two", chat_jid=CHESS)
        incident = f"unregistered:{CHESS}"
        await eventually(
            lambda: [row["count"] for row in home.rows(noticed, incident)] == [2], what=home.story
        )
    capsys.readouterr()
    await asyncio.to_thread(status, home.path, as_json=True)

    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["last_in_groups"] is not None
    assert found["last_in_direct"] is None


async def test_a2_messages_of_the_same_second_are_all_answered(home: HomeOnDisk, far: FarEnd) -> None:
    """Case A2: the second of two messages with the same time was skipped."""
    home.play(ECHO, "choir")
    at = {"sent_at": "2026-01-01T12:00:00Z"}

    async with choir(home, far):
        far.write("@Assistant one", **at)
        await eventually(lambda: len(far.sent) == 1, what=home.story)
        far.write("@Assistant two", **at)
        await eventually(lambda: len(far.sent) == 2, what=home.story)

    assert far.sent == ["re: @Assistant one", "re: @Assistant two"]


def as_ourselves() -> dict[str, object]:
    """Written by the account itself."""
    return {"sender_jid": OURS_HIDDEN, "chat_is_group": False}
