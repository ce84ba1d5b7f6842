"""Removing every row about a group or a person. What was deleted stays in the file until it is compacted.

Audit events stay, without the texts in them. Source: contracts.md section 8.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestrator.contracts.ids import AgentId, GroupFolder, Jid
from orchestrator.store import alerts
from orchestrator.store.event_log import NOTE_PRUNED
from orchestrator.store.transaction import Transaction

_AGENTS: Final = "(SELECT value FROM json_each(:agents))"
_CHATS: Final = "(SELECT value FROM json_each(:chats))"

NOTE_BEGUN: Final = """
INSERT INTO facts (name, value) VALUES ('forgetting:' || :folder, json_array(:jid, :name))
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
BEGUN: Final = "SELECT value FROM facts WHERE name = 'forgetting:' || :folder"
NOTE_LEFT: Final = """
INSERT INTO facts (name, value) VALUES ('forgetting-files:' || :whose, :left)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
LEFT: Final = "SELECT value FROM facts WHERE name = 'forgetting-files:' || :whose"
NOTHING_LEFT: Final = "DELETE FROM facts WHERE name = 'forgetting-files:' || :whose"
AGENTS_OF_GROUP: Final = "SELECT agent_id, ended_ms IS NULL AS is_live FROM agents WHERE folder = :folder"
SPOOLED: Final = f"""
SELECT spool_name FROM outbox WHERE chat_jid IN {_CHATS} AND spool_name IS NOT NULL
"""
SENT_TO: Final = f"SELECT id FROM outbox WHERE chat_jid IN {_CHATS}"
EVENTS: Final = f"""
DELETE FROM event_log WHERE class = 'agent' AND agent_id IN {_AGENTS} RETURNING position
"""
SILENCE_AUDIT: Final = f"""
UPDATE event_log SET body = json_set(body, '$.task', '')
 WHERE class = 'audit' AND agent_id IN {_AGENTS} AND json_extract(body, '$.task') <> ''
"""
OF_AGENTS: Final[Mapping[str, str]] = {
    "questions": f"DELETE FROM questions WHERE agent_id IN {_AGENTS}",
    "requests": f"DELETE FROM requests WHERE agent_id IN {_AGENTS}",
    "results of helpers": f"DELETE FROM spawn_texts WHERE agent_id IN {_AGENTS}",
}
"""What agents said and asked, whoever it was for."""
OF_GROUP: Final[Mapping[str, str]] = {
    "helpers": f"DELETE FROM spawns WHERE agent_id IN {_AGENTS}",
    "refused spawns": """
DELETE FROM refused_spawns WHERE caller_key IN (SELECT 'agent:' || value FROM json_each(:agents))
""",
    "waits": f"DELETE FROM waits WHERE waiter IN {_AGENTS} OR awaited IN {_AGENTS}",
    "tokens": f"DELETE FROM tokens WHERE agent_id IN {_AGENTS}",
    "turns": f"DELETE FROM turns WHERE agent_id IN {_AGENTS} OR chat_jid IN {_CHATS}",
    "runs of tasks": f"""
DELETE FROM task_runs WHERE task_id IN (SELECT task_id FROM tasks
                                         WHERE folder = :folder OR chat_jid IN {_CHATS})
""",
    "tasks": f"DELETE FROM tasks WHERE folder = :folder OR chat_jid IN {_CHATS}",
    "proposals": f"DELETE FROM proposals WHERE folder = :folder OR chat_jid IN {_CHATS}",
    "sessions": "DELETE FROM sessions WHERE folder = :folder",
    "uses of providers": "DELETE FROM usage WHERE folder = :folder",
    "trees": f"""
DELETE FROM trees WHERE tree_id IN (SELECT tree_id FROM agents WHERE agent_id IN {_AGENTS})
""",
    "agents": f"DELETE FROM agents WHERE agent_id IN {_AGENTS}",
    "questions in its chat": f"DELETE FROM questions WHERE chat_jid IN {_CHATS}",
    "registrations": "DELETE FROM facts WHERE name = 'forgetting:' || :folder",
}
OF_CHATS: Final[Mapping[str, str]] = {
    "messages": f"DELETE FROM messages WHERE chat_jid IN {_CHATS}",
    "answers and notices": f"DELETE FROM outbox WHERE chat_jid IN {_CHATS}",
    "cursors": f"DELETE FROM cursors WHERE chat_jid IN {_CHATS}",
    "members": f"DELETE FROM members WHERE chat_jid IN {_CHATS}",
    "chats": f"DELETE FROM chats WHERE jid IN {_CHATS}",
    "incidents": """
DELETE FROM notices
 WHERE EXISTS (SELECT 1 FROM json_each(:chats) WHERE instr(':' || incident || ':', ':' || value || ':'))
""",
}
KNOWS_PERSON: Final = """
SELECT EXISTS (SELECT 1 FROM messages WHERE :whose IN (sender_jid, chat_jid))
    OR EXISTS (SELECT 1 FROM outbox WHERE chat_jid = :whose)
    OR EXISTS (SELECT 1 FROM names WHERE jid = :whose)
    OR EXISTS (SELECT 1 FROM contacts WHERE :whose IN (lid, phone))
    OR EXISTS (SELECT 1 FROM members WHERE :whose IN (jid, chat_jid))
    OR EXISTS (SELECT 1 FROM chats WHERE jid = :whose)
    OR EXISTS (SELECT 1 FROM groups WHERE jid = :whose)
    OR EXISTS (SELECT 1 FROM facts WHERE name = 'forgetting-files:' || :whose)
"""
KNOWS_GROUP: Final = """
SELECT EXISTS (SELECT 1 FROM groups WHERE folder = :whose)
    OR EXISTS (SELECT 1 FROM agents WHERE folder = :whose)
    OR EXISTS (SELECT 1 FROM tasks WHERE folder = :whose)
    OR EXISTS (SELECT 1 FROM facts
                WHERE name IN ('forgetting:' || :whose, 'forgetting-files:' || :whose))
"""
ALERTS: Final = "SELECT id, text FROM alerts"
NOTICES: Final = """
SELECT source_key, group_concat(text, char(10)) AS text
  FROM (SELECT source_key, text FROM outbox WHERE source = 'notice' ORDER BY id)
 GROUP BY source_key
"""
REMOVE_NOTICE: Final = "DELETE FROM outbox WHERE source = 'notice' AND source_key = :source_key"
SAID: Final = f"""
SELECT seq, chat_jid, message_id, attachments, agent_id, turn_id
  FROM messages WHERE sender_jid IN {_CHATS}
"""
FOLDERS: Final = "SELECT folder FROM groups WHERE jid IN (SELECT value FROM json_each(:met))"
TREES_OF: Final = f"""
SELECT agent_id FROM agents WHERE tree_id IN (SELECT tree_id FROM agents WHERE agent_id IN {_AGENTS})
"""
_IS_ANSWER: Final = """
chat_jid IN (SELECT value FROM json_each(:met))
   AND (reply_to IN (SELECT value FROM json_each(:message_ids))
        OR (agent_id, turn_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:turns)))
"""
ANSWERS: Final = f"SELECT id, spool_name FROM outbox WHERE {_IS_ANSWER}"
OF_PERSON: Final[Mapping[str, str]] = {
    "quotes": """
UPDATE messages SET quoted = NULL
 WHERE quoted IS NOT NULL
   AND chat_jid IN (SELECT value FROM json_each(:met))
   AND json_extract(quoted, '$[0]') IN (SELECT value FROM json_each(:message_ids))
""",
    "messages": "DELETE FROM messages WHERE seq IN (SELECT value FROM json_each(:seqs))",
    "answers": f"DELETE FROM outbox WHERE {_IS_ANSWER}",
    "helpers": f"""
UPDATE spawns SET task = '', answer = '{{}}', name = NULL, output = NULL, error = NULL, files_modified = NULL
 WHERE agent_id IN {_AGENTS} AND (task <> '' OR output IS NOT NULL OR error IS NOT NULL)
""",
    "sessions": "DELETE FROM sessions WHERE folder IN (SELECT value FROM json_each(:folders))",
    "names": f"DELETE FROM names WHERE jid IN {_CHATS}",
    "contacts": f"DELETE FROM contacts WHERE lid IN {_CHATS} OR phone IN {_CHATS}",
    "memberships": f"DELETE FROM members WHERE jid IN {_CHATS}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What somebody wrote. turns: the agents and turns that took it in. folders: of the groups, where."""

    seqs: tuple[int, ...]
    chats: frozenset[Jid]
    message_ids: tuple[str, ...]
    attachments: Mapping[Jid, tuple[str, ...]]
    turns: frozenset[tuple[str, str]]
    folders: tuple[GroupFolder, ...]


@dataclass(slots=True, kw_only=True)
class Rows:
    """How many rows went, by what people call them."""

    counts: dict[str, int] = field(default_factory=dict)

    def remove(self, tx: Transaction, statements: Mapping[str, str], values: Mapping[str, object]) -> None:
        """Run the statements in their order."""
        for what, sql in statements.items():
            count = tx.execute(sql, values).rowcount
            if count > 0:
                self.counts[what] = self.counts.get(what, 0) + count


def note_begun(tx: Transaction, folder: GroupFolder, jid: Jid, name: str) -> None:
    """This group is not registered any more and is being forgotten: its chat and name, until that is done."""
    tx.execute(NOTE_BEGUN, {"folder": folder, "jid": jid, "name": name})


def begun(tx: Transaction, folder: GroupFolder) -> tuple[Jid, str | None] | None:
    """The chat and the name of a group that is being forgotten; None if none is."""
    row = tx.one(BEGUN, {"folder": folder})
    if row is None:
        return None
    value = str(row["value"])
    if not value.startswith("["):
        return Jid(value), None  # an earlier version began it, and noted the chat alone
    jid, name = json.loads(value)
    return Jid(jid), name


def note_left(tx: Transaction, whose: Jid | GroupFolder, left: str) -> None:
    """The rows go now; these files, told in JSON, still have to, also after a crash."""
    tx.execute(NOTE_LEFT, {"whose": whose, "left": left})


def left_of(tx: Transaction, whose: Jid | GroupFolder) -> str | None:
    """Which files of a person or a group still have to go; None if none is known."""
    row = tx.one(LEFT, {"whose": whose})
    return None if row is None else str(row["value"])


def nothing_left(tx: Transaction, whose: Jid | GroupFolder) -> None:
    """They went."""
    tx.execute(NOTHING_LEFT, {"whose": whose})


def agents_of(tx: Transaction, folder: GroupFolder) -> tuple[list[AgentId], list[AgentId]]:
    """All agents of a group, and those of them that have not ended."""
    rows = tx.all(AGENTS_OF_GROUP, {"folder": folder})
    everybody = [AgentId(row["agent_id"]) for row in rows]
    return everybody, [AgentId(row["agent_id"]) for row in rows if row["is_live"]]


def files_sent(tx: Transaction, chats: Collection[Jid]) -> tuple[list[str], list[int]]:
    """The copies in the spool, and the numbers of all texts and files, for these chats."""
    values = {"chats": _list(chats)}
    spooled = [str(row["spool_name"]) for row in tx.all(SPOOLED, values)]
    return spooled, [int(row["id"]) for row in tx.all(SENT_TO, values)]


def files_answered(tx: Transaction, said: Said) -> tuple[list[str], list[int]]:
    """The copies in the spool, and the numbers of all texts and files, that answer what somebody wrote."""
    found = tx.all(ANSWERS, _answered(said))
    spooled = [str(row["spool_name"]) for row in found if row["spool_name"] is not None]
    return spooled, [int(row["id"]) for row in found]


def remove_group(
    tx: Transaction,
    rows: Rows,
    folder: GroupFolder,
    *,
    chats: Collection[Jid],
    agents: Sequence[AgentId],
    words: Collection[str],
    sentences: Collection[re.Pattern[str]],
) -> None:
    """Everything about a group none of whose agents lives.

    words: what alerts to operators may name it by. sentences: alerts about it, as a whole.
    """
    values = {"folder": folder, "chats": _list(chats), "agents": _list(agents)}
    _remove_events(tx, rows, agents)
    for statements in (OF_AGENTS, OF_GROUP, OF_CHATS):
        rows.remove(tx, statements, values)
    _remove_alerts(tx, [*chats, *words], sentences)
    # People choose names as they like: one is surely meant only where it is quoted.
    _remove_notices(
        tx, rows, [*map(_whole, chats), *(re.compile(f"“{re.escape(each)}”") for each in words)], sentences
    )


def said_by(tx: Transaction, ids: Collection[Jid]) -> Said:
    """What a person wrote, in all chats."""
    found = tx.all(SAID, {"chats": _list(ids)})
    attachments: dict[Jid, tuple[str, ...]] = {}
    for row in found:
        if row["attachments"] is not None:
            chat = Jid(row["chat_jid"])
            paths = [path for *_, path in json.loads(row["attachments"]) if path is not None]
            attachments[chat] = (*attachments.get(chat, ()), *paths)
    chats = frozenset(Jid(row["chat_jid"]) for row in found)
    return Said(
        seqs=tuple(row["seq"] for row in found),
        chats=chats,
        message_ids=tuple(row["message_id"] for row in found),
        attachments=attachments,
        turns=frozenset((row["agent_id"], row["turn_id"]) for row in found if row["turn_id"] is not None),
        folders=tuple(GroupFolder(row["folder"]) for row in tx.all(FOLDERS, {"met": _list(chats)})),
    )


def in_trees_of(tx: Transaction, agents: Collection[str]) -> list[AgentId]:
    """These agents, and all that stood in one tree with them."""
    return [AgentId(row["agent_id"]) for row in tx.all(TREES_OF, {"agents": _list(agents)})]


def remove_person(
    tx: Transaction, rows: Rows, ids: Collection[Jid], said: Said, *, agents: Sequence[AgentId]
) -> None:
    """Everything about a person. agents: those that were told what he said, all of them ended."""
    values = {
        "chats": _list(ids),
        "agents": _list(agents),
        "seqs": json.dumps(said.seqs),
        **_answered(said),
        "folders": _list(said.folders),
    }
    _remove_events(tx, rows, agents)
    for statements in (OF_AGENTS, OF_PERSON, OF_CHATS):
        rows.remove(tx, statements, values)
    _remove_alerts(tx, ids, ())
    _remove_notices(tx, rows, [_whole(each) for each in ids], ())


def _answered(said: Said) -> dict[str, str]:
    return {
        "met": _list(said.chats),
        "message_ids": _list(said.message_ids),
        "turns": json.dumps(sorted(said.turns)),
    }


def _remove_alerts(tx: Transaction, words: Collection[str], sentences: Collection[re.Pattern[str]]) -> None:
    # Whole words only: a group called "a" is in every sentence, and "1701@…" in "491701@…".
    named = [_whole(each) for each in words if each]
    for row in tx.all(ALERTS, {}):
        text = str(row["text"])
        if any(each.search(text) for each in named) or any(each.fullmatch(text) for each in sentences):
            alerts.remove(tx, int(row["id"]))


def _remove_notices(
    tx: Transaction,
    rows: Rows,
    named: Collection[re.Pattern[str]],
    sentences: Collection[re.Pattern[str]],
) -> None:
    """What other chats, main most of all, were told of it in sentences of our own."""
    for row in tx.all(NOTICES, {}):
        text = str(row["text"])
        if any(each.search(text) for each in named) or any(each.fullmatch(text) for each in sentences):
            rows.remove(tx, {"notices elsewhere": REMOVE_NOTICE}, {"source_key": row["source_key"]})


def _whole(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")


def _remove_events(tx: Transaction, rows: Rows, agents: Sequence[AgentId]) -> None:
    values = {"agents": _list(agents)}
    gone = [int(row["position"]) for row in tx.all(EVENTS, values)]
    if gone:
        rows.counts["events"] = len(gone)
        tx.execute(NOTE_PRUNED, {"position": max(gone)})
    tx.execute(SILENCE_AUDIT, values)


def _list(values: Collection[str]) -> str:
    return json.dumps(sorted(values))
