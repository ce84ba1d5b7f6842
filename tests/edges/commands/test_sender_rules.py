"""Who may set the assistant off in a group, by its real `senders.toml`. Source: contracts.md section 6."""

import os
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.commands.hearing.sender_rules import review_sender_rules, show_sender_rules
from orchestrator.commands.sender_book import SenderBook
from orchestrator.contracts.errors import NotFound
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import Quoted
from orchestrator.core.english import ENGLISH
from orchestrator.core.incidents import in_words
from orchestrator.core.sentence_keys import Say
from orchestrator.settings.tree import AssistantSettings, Settings
from orchestrator.store import messages
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB, CHAT, OTHER_CHAT, add_group

OURS = Quoted(message_id=MessageId("x"), sender_name="Andy", text="so?", is_ours=True)
ONLY_ANN = f'mode = "allowlist"\nsenders = ["{ANN}"]'


def file_of(desk: Desk, folder: str = "family") -> Path:
    path = desk.services.paths.groups / folder / "senders.toml"
    path.parent.mkdir(exist_ok=True)
    return path


async def triggers(desk: Desk) -> list[str]:
    found = await desk.run(lambda tx: messages.pending_triggers(tx, CHAT))
    return [each.message_id for each in found]


async def open_incidents(desk: Desk) -> list[str]:
    rows = await desk.run(lambda tx: tx.all("SELECT incident FROM notices ORDER BY incident"))
    return [row["incident"] for row in rows]


async def with_main(desk: Desk) -> None:
    """There is a main chat, in which operators are told."""
    await desk.run(lambda tx: add_group(tx, "main", OTHER_CHAT, is_main=1))


async def test_h15_the_sender_is_checked_before_the_trigger_so_a_word_of_others_wakes_nobody(
    desk: Desk,
) -> None:
    """Case H15."""
    file_of(desk).write_text(ONLY_ANN)

    await desk.hear("trigger", "@Andy do it", sender_jid=BOB)
    await desk.hear("reply", "yes", sender_jid=BOB, quoted=OURS)
    await desk.hear("word", "/stop", sender_jid=BOB)
    await desk.hear("ann", "@Andy hello", sender_jid=ANN)

    assert await triggers(desk) == ["ann"]
    assert desk.control.stopped == desk.control.answers_stopped == []
    assert await desk.texts() == []


async def test_what_others_write_beside_an_allowlist_is_context_of_the_next_trigger(desk: Desk) -> None:
    file_of(desk).write_text(ONLY_ANN)
    await desk.hear("bob", "@Andy the milk is out", sender_jid=BOB)

    await desk.hear("ann", "@Andy what is missing?", sender_jid=ANN)

    batch = await desk.batch()
    assert batch is not None
    assert batch.ids == ("bob", "ann")
    assert batch.trigger_ids == ("ann",)


async def test_h11_an_empty_allowlist_answers_nobody_and_says_nothing(desk: Desk) -> None:
    """Case H11: deny means no session and no output."""
    file_of(desk).write_text('mode = "allowlist"')

    await desk.hear("m-1", "@Andy hello")
    await desk.hear("m-2", "/help")

    assert await desk.batch() is None
    assert await desk.texts() == []


async def test_of_a_dropped_message_only_the_number_stays(desk: Desk) -> None:
    file_of(desk).write_text(f'mode = "drop"\nsenders = ["{ANN}"]')

    for number in range(3):
        await desk.hear(f"bob-{number}", "@Andy a secret", sender_jid=BOB)
    await desk.hear("ann", "@Andy hello", sender_jid=ANN)

    rows = await desk.run(lambda tx: tx.all("SELECT incident, count FROM notices"))
    assert await desk.statuses() == {"ann": "pending"}
    assert [(row["incident"], row["count"]) for row in rows] == [(f"dropped:{CHAT}", 3)]


async def test_an_operator_is_heard_though_no_list_names_him(desk: Desk) -> None:
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(BOB,))))
    file_of(desk).write_text('mode = "drop"')

    await desk.hear("bob", "@Andy hello", sender_jid=BOB)
    await desk.hear("ann", "@Andy hello", sender_jid=ANN)

    assert await triggers(desk) == ["bob"]


async def test_a_change_holds_for_the_next_message(desk: Desk) -> None:
    await desk.hear("before", "@Andy hello", sender_jid=BOB)
    file_of(desk).write_text(ONLY_ANN)
    await desk.hear("listed", "@Andy hello", sender_jid=BOB)
    file_of(desk).unlink()
    await desk.hear("after", "@Andy hello", sender_jid=BOB)

    assert await triggers(desk) == ["before", "after"]


async def test_a_file_that_is_broken_at_the_start_lets_only_operators_trigger(desk: Desk) -> None:
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(BOB,))))
    file_of(desk).write_text("mode = anyone")

    await desk.hear("ann", "@Andy hello", sender_jid=ANN)
    await desk.hear("bob", "@Andy hello", sender_jid=BOB)

    assert await triggers(desk) == ["bob"]
    assert (await desk.statuses())["ann"] == "pending"


async def test_a_file_that_is_broken_when_it_first_appears_lets_only_operators_trigger_and_is_told(
    desk: Desk,
) -> None:
    await with_main(desk)
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(BOB,))))
    path = file_of(desk)  # with its folder, which is there long before
    await desk.hear("before", "@Andy hello", sender_jid=ANN)
    path.write_text("mode = allowlist")

    await desk.hear("ann", "@Andy hello", sender_jid=ANN)
    await desk.hear("bob", "@Andy hello", sender_jid=BOB)

    assert await triggers(desk) == ["before", "bob"]
    assert await open_incidents(desk) == ["senders:family"]
    (told,) = await desk.texts(OTHER_CHAT)
    assert "only operators may" in told


async def test_a_file_that_was_removed_says_nothing_any_more_when_a_broken_one_takes_its_place(
    desk: Desk,
) -> None:
    file_of(desk).write_text('mode = "anyone"')
    await desk.hear("first", "@Andy hello", sender_jid=ANN)
    file_of(desk).unlink()
    await desk.hear("second", "@Andy hello", sender_jid=ANN)
    file_of(desk).write_text("mode")

    await desk.hear("third", "@Andy hello", sender_jid=ANN)

    assert await triggers(desk) == ["first", "second"]


async def test_a_file_that_breaks_later_changes_nothing_and_is_told_once_till_it_is_mended(
    desk: Desk,
) -> None:
    await with_main(desk)
    file_of(desk).write_text(ONLY_ANN)
    await desk.hear("m-1", "@Andy hello", sender_jid=ANN)

    file_of(desk).write_text('mode = "nobody"')
    for number in range(3):
        await desk.hear(f"ann-{number}", "@Andy hello", sender_jid=ANN)
        await desk.hear(f"bob-{number}", "@Andy hello", sender_jid=BOB)
    broken = await desk.texts(OTHER_CHAT)
    file_of(desk).write_text(ONLY_ANN)
    await desk.hear("m-2", "@Andy hello", sender_jid=BOB)

    assert await triggers(desk) == ["m-1", "ann-0", "ann-1", "ann-2"]
    assert len(broken) == 1
    assert "groups/family/senders.toml line 1 has the mode 'nobody'" in broken[0]
    assert (await desk.texts(OTHER_CHAT))[1:] == [ENGLISH[Say.SENDERS_MENDED].format(group="Family")]
    assert await desk.texts(CHAT) == []


async def test_operators_hear_of_a_broken_and_of_a_mended_file_though_nobody_writes(desk: Desk) -> None:
    await with_main(desk)
    file_of(desk).write_text("mode")
    await review_sender_rules(desk.services)
    await review_sender_rules(desk.services)

    file_of(desk).write_text(ONLY_ANN)
    await review_sender_rules(desk.services)

    told = await desk.texts(OTHER_CHAT)
    assert len(told) == 2
    assert "only operators may" in told[0]
    assert told[1] == ENGLISH[Say.SENDERS_MENDED].format(group="Family")


async def test_after_a_start_the_incident_is_that_only_operators_are_heard(desk: Desk) -> None:
    await with_main(desk)
    file_of(desk).write_text(ONLY_ANN)
    await review_sender_rules(desk.services)
    file_of(desk).write_text("mode")
    await review_sender_rules(desk.services)
    before = await open_incidents(desk)
    desk.services = replace(desk.services, senders=SenderBook())
    desk.clock.advance(60)
    await review_sender_rules(desk.services)

    assert (before, await open_incidents(desk)) == (["senders-kept:family"], ["senders:family"])
    told = await desk.texts(OTHER_CHAT)
    assert ["the last good one still holds" in each for each in told] == [True, False]
    assert "only operators may" in told[1]
    words = [in_words(each, folders={}) for each in ("senders-kept:family", "senders:family")]
    assert [each is not None and "still holds" in each.what for each in words] == [True, False]


@pytest.mark.parametrize("trick", ["link", "fifo", "directory", "hard link", "huge"])
async def test_what_is_no_plain_file_fails_closed_and_holds_nobody_up(
    desk: Desk, tmp_path: Path, trick: str
) -> None:
    path, other = file_of(desk), tmp_path / "other.toml"
    other.write_text('mode = "anyone"')
    match trick:
        case "link":
            path.symlink_to(other)
        case "fifo":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "hard link":
            os.link(other, path)
        case "huge":
            path.touch()
            os.truncate(path, 1 << 30)

    await desk.hear("m-1", "@Andy hello")

    assert await triggers(desk) == []


def test_a_folder_that_is_gone_for_a_while_does_not_open_the_group(tmp_path: Path) -> None:
    book, folder = SenderBook(), tmp_path / "family"
    folder.mkdir()
    (folder / "senders.toml").write_text('mode = "drop"')
    before = book.look(tmp_path, "family")  # type: ignore[arg-type]  # a folder's name is a text here

    folder.rename(tmp_path / "elsewhere")

    assert book.look(tmp_path, "family") == before  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize(
    ("content", "mode", "senders", "trouble"),
    [
        (None, "anyone", (), None),
        (ONLY_ANN, "allowlist", (ANN,), None),
        ("mode = 1", None, (), 'groups/family/senders.toml line 1 has the mode 1. Use one of "anyone", '),
    ],
)
async def test_people_can_see_the_rule_and_what_is_wrong_with_it(
    desk: Desk, content: str | None, mode: str | None, senders: tuple[Any, ...], trouble: str | None
) -> None:
    if content is not None:
        file_of(desk).write_text(content)

    view = await show_sender_rules(desk.services, "family")

    assert (view.mode, view.senders) == (mode, senders)
    assert (view.trouble or "").startswith(trouble or "")
    assert (view.trouble is None) is (trouble is None)


async def test_the_rules_of_a_group_that_is_not_there_cannot_be_seen(desk: Desk) -> None:
    with pytest.raises(NotFound, match="There is no group 'cellar'"):
        await show_sender_rules(desk.services, "cellar")


@pytest.mark.parametrize(
    ("main_members", "is_group", "role"),
    [
        ("listed", False, "operator"),
        ("listed", True, "member"),
        ("everyone", True, "operator"),
        ("everyone", False, "operator"),
    ],
)
async def test_who_commands_in_a_main_chat_that_is_a_group_is_said_by_the_settings(
    desk: Desk, main_members: Any, is_group: bool, role: str
) -> None:
    await with_main(desk)
    desk.set_settings(Settings(assistant=AssistantSettings(main_members=main_members)))

    await desk.hear("m-1", chat_jid=OTHER_CHAT, chat_is_group=is_group)
    await desk.hear("m-2", chat_jid=CHAT, chat_is_group=is_group)
    await desk.hear("m-3", chat_jid=OTHER_CHAT, chat_is_group=is_group, sender_is_bot=True)

    roles = [
        (await desk.row(each, chat))["sender_role"]
        for each, chat in (("m-1", OTHER_CHAT), ("m-2", CHAT), ("m-3", OTHER_CHAT))
    ]
    assert roles == [role, "member", "bot"]


async def test_j6_main_is_a_flag_and_no_folders_name(desk: Desk) -> None:
    """Case J6: rights follow the explicit flag, and exactly one group has it."""
    await desk.run(lambda tx: add_group(tx, "main", OTHER_CHAT))
    await desk.run(lambda tx: add_group(tx, "kitchen", Jid("console:kitchen"), is_main=1))

    await desk.hear("m-1", chat_jid=OTHER_CHAT)
    await desk.hear("m-2", chat_jid=Jid("console:kitchen"))

    by_name, by_flag = await desk.row("m-1", OTHER_CHAT), await desk.row("m-2", Jid("console:kitchen"))
    assert (by_name["sender_role"], by_flag["sender_role"]) == ("member", "operator")
    with pytest.raises(sqlite3.IntegrityError):
        await desk.run(lambda tx: add_group(tx, "second", Jid("console:second"), is_main=1))
