"""Registered chats, as rows."""

import sqlite3
from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.groups import TriggerPosition
from orchestrator.store import groups, messages
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import CHAT, NOON, OTHER_CHAT, add_group, add_message


async def test_a_group_is_found_by_chat_and_by_folder_whatever_its_case(db: Database) -> None:
    added = await db.run(add_group)

    by_jid = await db.run(lambda tx: groups.by_jid(tx, CHAT))
    by_folder = await db.run(lambda tx: groups.by_folder(tx, "FAMILY"))

    assert by_jid == by_folder == added
    assert added.added_at == NOON
    assert await db.run(lambda tx: groups.by_jid(tx, OTHER_CHAT)) is None


@pytest.mark.parametrize(
    ("folder", "jid", "columns"),
    [
        pytest.param("family", OTHER_CHAT, {}, id="the folder is taken"),
        pytest.param("FAMILY", OTHER_CHAT, {}, id="the folder is taken in another case"),
        pytest.param("other", CHAT, {}, id="the chat is taken"),
        pytest.param("other", OTHER_CHAT, {"is_main": 1}, id="a second main"),
    ],
)
async def test_what_must_be_unique_is_refused_by_the_store_itself(
    db: Database, folder: str, jid: Jid, columns: dict[str, object]
) -> None:
    await db.run(lambda tx: add_group(tx, is_main=1))

    with pytest.raises(sqlite3.IntegrityError):
        await db.run(lambda tx: add_group(tx, folder, jid, **columns))


async def test_a_number_is_never_given_twice(db: Database) -> None:
    """A uid is made from it: a new group must not own what an old one left."""
    first = await db.run(add_group)
    await db.run(lambda tx: groups.remove(tx, first.folder))

    second = await db.run(add_group)

    assert second.number > first.number


async def test_making_a_group_main_takes_the_right_from_the_one_before(db: Database) -> None:
    def body(tx: Transaction) -> None:
        add_group(tx, is_main=1)
        other = add_group(tx, "other", OTHER_CHAT)
        groups.change(tx, other.folder, groups.columns(replace(other, is_main=True)))

    await db.run(body)

    async with db.reader() as reader:
        listed = [(each.folder, each.is_main) for each in await groups.list_all(reader)]
    main = await db.run(groups.main)
    assert listed == [("family", False), ("other", True)]
    assert main is not None
    assert main.folder == "other"


async def test_every_changeable_column_is_written_and_read_back(db: Database) -> None:
    added = await db.run(add_group)
    wanted = replace(
        added,
        name="The family",
        trigger="@Bot",
        assistant_name="Bot",
        requires_trigger=False,
        trigger_position=TriggerPosition.ANYWHERE,
        reply_triggers=False,
        timezone="Europe/Berlin",
        locale="de",
    )

    changed = await db.run(lambda tx: groups.change(tx, added.folder, groups.columns(wanted)))

    async with db.reader() as reader:
        found = await groups.find(reader, "family")
    assert changed == found == wanted


async def test_a_group_that_was_served_stands_behind_all_others(db: Database) -> None:
    def body(tx: Transaction) -> list[str]:
        folders = ("a", "b", "c")
        for folder in folders:
            add_group(tx, folder, Jid(f"{folder}@g.us"))
            add_message(tx, chat_jid=Jid(f"{folder}@g.us"))
        for folder in ("c", "a", "b", "a"):
            groups.note_served(tx, GroupFolder(folder))
        waiting = messages.waiting_chats(tx, now=NOON, longest_wait=timedelta(minutes=5))
        return [each.folder for each in sorted(waiting, key=lambda each: each.last_served)]

    order = await db.run(body)

    assert order == ["c", "b", "a"]
