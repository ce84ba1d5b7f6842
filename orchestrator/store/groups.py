"""The registered chats."""

import json
import sqlite3
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.groups import Group, TriggerPosition
from orchestrator.store.database import Reader
from orchestrator.store.times import from_ms, to_ms
from orchestrator.store.transaction import Transaction

ADD: Final = """
INSERT INTO groups (folder, jid, name, trigger, assistant_name, requires_trigger, is_main,
                    trigger_position, reply_triggers, timezone, locale, added_ms)
VALUES (:folder, :jid, :name, :trigger, :assistant_name, :requires_trigger, :is_main,
        :trigger_position, :reply_triggers, :timezone, :locale, :added_ms)
RETURNING *
"""
BY_JID: Final = "SELECT * FROM groups WHERE jid = :jid"
IS_REGISTERED: Final = "SELECT 1 FROM groups WHERE jid = :jid"
REGISTERED: Final = "SELECT jid FROM groups WHERE jid IN (SELECT value FROM json_each(:jids))"
BY_FOLDER: Final = "SELECT * FROM groups WHERE folder = :folder"
IS_A_NAME: Final = "SELECT 1 FROM groups WHERE name = :name"
MAIN: Final = "SELECT * FROM groups WHERE is_main = 1"
LAST_SERVED: Final = "SELECT last_served FROM groups WHERE folder = :folder"
FOLDERS: Final = "SELECT folder FROM groups"
ALL: Final = "SELECT * FROM groups ORDER BY number"
UPDATE: Final = """
UPDATE groups
   SET name = :name, trigger = :trigger, assistant_name = :assistant_name,
       requires_trigger = :requires_trigger, is_main = :is_main, trigger_position = :trigger_position,
       reply_triggers = :reply_triggers, timezone = :timezone, locale = :locale
 WHERE folder = :folder
RETURNING *
"""
NO_MAIN: Final = "UPDATE groups SET is_main = 0 WHERE is_main = 1"
REMOVE: Final = "DELETE FROM groups WHERE folder = :folder"
SERVED: Final = """
UPDATE groups SET last_served = (SELECT max(last_served) + 1 FROM groups) WHERE folder = :folder
"""


def add(
    tx: Transaction,
    *,
    folder: GroupFolder,
    jid: Jid,
    name: str,
    added_at: datetime,
    values: Mapping[str, Any],
) -> Group:
    """Register a chat. values: the other columns. The folder and the jid are free, or SQLite raises."""
    row = tx.one(ADD, {**values, "folder": folder, "jid": jid, "name": name, "added_ms": to_ms(added_at)})
    assert row is not None
    return of_row(row)


def by_jid(tx: Transaction, jid: Jid) -> Group | None:
    """The group that is this chat."""
    row = tx.one(BY_JID, {"jid": jid})
    return None if row is None else of_row(row)


def is_registered(tx: Transaction, jid: Jid) -> bool:
    """Whether the chat is a group."""
    return tx.recall(IS_REGISTERED, {"jid": jid}) is not None


def know_registered(tx: Transaction, jids: Collection[Jid]) -> None:
    """Look many chats up at once, so that `is_registered` knows those that are groups."""
    for row in tx.all(REGISTERED, {"jids": json.dumps(list(jids))}):
        tx.remember(IS_REGISTERED, {"jid": row["jid"]}, row)


def by_folder(tx: Transaction, folder: str) -> Group | None:
    """The group with this folder, whatever its case."""
    row = tx.one(BY_FOLDER, {"folder": folder})
    return None if row is None else of_row(row)


def is_a_name(tx: Transaction, name: str) -> bool:
    """Whether a group is called so."""
    return tx.one(IS_A_NAME, {"name": name}) is not None


def main(tx: Transaction) -> Group | None:
    """The operator's own group."""
    row = tx.one(MAIN, {})
    return None if row is None else of_row(row)


def folders(tx: Transaction) -> list[GroupFolder]:
    """The folders of all groups."""
    return [GroupFolder(row["folder"]) for row in tx.all(FOLDERS, {})]


def last_served(tx: Transaction, folder: GroupFolder) -> int:
    """The group's place in the order of service; 0 is never."""
    row = tx.one(LAST_SERVED, {"folder": folder})
    return 0 if row is None else int(row["last_served"])


async def find(reader: Reader, folder: str) -> Group | None:
    """As `by_folder`, outside a transaction."""
    row = await reader.one(BY_FOLDER, {"folder": folder})
    return None if row is None else of_row(row)


async def find_by_jid(reader: Reader, jid: Jid) -> Group | None:
    """As `by_jid`, outside a transaction."""
    row = await reader.one(BY_JID, {"jid": jid})
    return None if row is None else of_row(row)


async def list_all(reader: Reader) -> list[Group]:
    """All groups in the order of their registration."""
    return [of_row(row) for row in await reader.all(ALL, {})]


def change(tx: Transaction, folder: GroupFolder, values: Mapping[str, Any]) -> Group:
    """Write all changeable columns of a group. Making it main takes the right from the one before."""
    if values["is_main"]:
        tx.execute(NO_MAIN, {})
    row = tx.one(UPDATE, {**values, "folder": folder})
    assert row is not None
    return of_row(row)


def remove(tx: Transaction, folder: GroupFolder) -> None:
    """Forget the registration; its messages and files stay."""
    tx.execute(REMOVE, {"folder": folder})


def note_served(tx: Transaction, folder: GroupFolder) -> None:
    """Put the group behind all others in the order of service."""
    tx.execute(SERVED, {"folder": folder})


def columns(group: Group) -> dict[str, Any]:
    """The changeable columns of a group, as `add` and `change` take them."""
    return {
        "name": group.name,
        "trigger": group.trigger,
        "assistant_name": group.assistant_name,
        "requires_trigger": int(group.requires_trigger),
        "is_main": int(group.is_main),
        "trigger_position": group.trigger_position.value,
        "reply_triggers": int(group.reply_triggers),
        "timezone": group.timezone,
        "locale": group.locale,
    }


def of_row(row: sqlite3.Row) -> Group:
    """The group that a whole row is."""
    return Group(
        folder=GroupFolder(row["folder"]),
        jid=Jid(row["jid"]),
        name=row["name"],
        trigger=row["trigger"],
        assistant_name=row["assistant_name"],
        requires_trigger=bool(row["requires_trigger"]),
        is_main=bool(row["is_main"]),
        trigger_position=TriggerPosition(row["trigger_position"]),
        reply_triggers=bool(row["reply_triggers"]),
        timezone=row["timezone"],
        locale=row["locale"],
        added_at=from_ms(row["added_ms"]),
        number=row["number"],
    )
