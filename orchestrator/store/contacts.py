"""Who is who: the two ids of a person, and how people call themselves."""

import json
from collections.abc import Iterable
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.store.transaction import Transaction

JOIN: Final = """
INSERT OR REPLACE INTO contacts (lid, phone)
SELECT :lid, :phone
 WHERE NOT EXISTS (SELECT 1 FROM contacts WHERE lid = :lid AND phone = :phone)
"""
OTHER: Final = """
SELECT phone AS jid FROM contacts WHERE lid = :jid
UNION ALL
SELECT lid AS jid FROM contacts WHERE phone = :jid
"""
CALL: Final = """
INSERT INTO names (jid, name) VALUES (:jid, :name)
ON CONFLICT (jid) DO UPDATE SET name = excluded.name WHERE name <> excluded.name
"""
NAMES: Final = "SELECT jid, name FROM names WHERE jid IN (SELECT value FROM json_each(:jids))"
# All ids that begin with the number and an @, by the primary key; A is the sign behind @.
WITH_NUMBER: Final = "SELECT jid FROM names WHERE jid >= :number || '@' AND jid < :number || 'A'"

# From one sender to the next by the index: a chat has few people and many messages.
PEOPLE: Final = """
WITH RECURSIVE person (jid) AS (
    SELECT min(sender_jid) FROM messages WHERE chat_jid = :chat
    UNION ALL
    SELECT (SELECT min(sender_jid) FROM messages WHERE chat_jid = :chat AND sender_jid > person.jid)
      FROM person WHERE person.jid IS NOT NULL
)
SELECT jid FROM person WHERE jid IS NOT NULL LIMIT 2000
"""


def join(tx: Transaction, lid: Jid, phone: Jid) -> None:
    """These two are one person from now on; pairs that either was in before are forgotten."""
    tx.execute(JOIN, {"lid": lid, "phone": phone})


def other_id(tx: Transaction, jid: Jid) -> Jid | None:
    """The person's second id, if it is known."""
    row = tx.one(OTHER, {"jid": jid})
    return None if row is None else Jid(row["jid"])


def ids_of(tx: Transaction, jid: Jid) -> frozenset[Jid]:
    """All ids of the person."""
    other = other_id(tx, jid)
    return frozenset({jid} if other is None else {jid, other})


def call(tx: Transaction, jid: Jid, name: str) -> None:
    """Remember how the person calls himself."""
    tx.execute(CALL, {"jid": jid, "name": name})


def with_number(tx: Transaction, number: str) -> list[Jid]:
    """Who ever wrote under an id with this number before its `@`."""
    return [Jid(row["jid"]) for row in tx.all(WITH_NUMBER, {"number": number})]


def people_of(tx: Transaction, chat: Jid) -> list[Jid]:
    """Whoever wrote in the chat, once a person, under an id of that chat."""
    people: dict[Jid, None] = {}
    for row in tx.all(PEOPLE, {"chat": chat}):
        jid = Jid(row["jid"])
        if other_id(tx, jid) not in people:
            people[jid] = None
    return list(people)


def names(tx: Transaction, jids: Iterable[Jid]) -> dict[Jid, str]:
    """How these people call themselves, under whichever id they said so; unknown ones are left out."""
    found = {}
    for jid in dict.fromkeys(jids):
        rows = tx.all(NAMES, {"jids": json.dumps(sorted(ids_of(tx, jid)))})
        by_id = {row["jid"]: row["name"] for row in rows}
        name = by_id.get(jid) or next(iter(by_id.values()), None)
        if name:
            found[jid] = name
    return found
