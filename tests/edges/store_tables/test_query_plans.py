"""No query of a hot path walks through a table. Case C2: a chat may hold 100,000 rows of chatter."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from orchestrator.store import (
    agent_pruning,
    agents,
    api_keys,
    bounds,
    chats,
    contacts,
    event_log,
    groups,
    inbox,
    lineage,
    members,
    message_edits,
    message_views,
    messages,
    notices,
    outbox,
    outbox_files,
    proposals,
    questions,
    requests,
    restarts,
    sessions,
    spawns,
    standing,
    task_runs,
    tasks,
    tokens,
    trees,
    usage,
    waits,
)
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import CHAT, NOON, add_group, add_message
from tests.support.store_template import lay_store

_FILL = """
INSERT INTO messages (chat_jid, message_id, sender_jid, sender_name, sender_role, text, sent_ms, received_ms,
                      is_trigger, status)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
SELECT :chat, 'c-' || i, 'ann', 'Ann', 'member', 'chatter', 0, 0, 0, :status FROM n
"""
HOT = {
    "messages.WAITING_CHATS": messages.WAITING_CHATS,
    "messages.PENDING_TRIGGERS": messages.PENDING_TRIGGERS,
    "messages.PENDING_CHATTER": messages.PENDING_CHATTER,
    "messages.SKIP_CHATTER": messages.SKIP_CHATTER,
    "messages.COUNT_CHATTER": messages.COUNT_CHATTER,
    "messages.DISPATCH": messages.DISPATCH,
    "messages.TAKE_BACK": messages.TAKE_BACK,
    "messages.ENTER_TURN": messages.ENTER_TURN,
    "messages.OF_AGENT": messages.OF_AGENT,
    "messages.MOVE": messages.MOVE,
    "messages.GIVE_BACK": messages.GIVE_BACK,
    "messages.HOLD": messages.HOLD,
    "messages.UNFINISHED": messages.UNFINISHED,
    "messages.ROLE_OF": messages.ROLE_OF,
    "messages.AT_WORK": messages.AT_WORK,
    "messages.MOVE_CURSOR": messages.MOVE_CURSOR,
    "message_views.COUNT_UNSETTLED": message_views.COUNT_UNSETTLED,
    "message_views.LIST_UNFINISHED": message_views.LIST_UNFINISHED,
    "message_views.HEARD_AFTER": message_views.HEARD_AFTER,
    "message_views.NEWEST_OF_CHAT": message_views.NEWEST_OF_CHAT,
    "message_views.LAST_SEQ": message_views.LAST_SEQ,
    "message_views.COUNT_WAITING": message_views.COUNT_WAITING,
    "messages.SENDER_OF": messages.SENDER_OF,
    "message_edits.VERSIONS": message_edits.VERSIONS,
    "message_edits.REPLACE_TEXT": message_edits.REPLACE_TEXT,
    "message_edits.REVISIONS": message_edits.REVISIONS,
    "messages.PRUNE": messages.PRUNE,
    "messages.TEXT_OF": messages.TEXT_OF,
    "message_edits.GIVE_FILES": message_edits.GIVE_FILES,
    "inbox.ATTACHMENTS": inbox.ATTACHMENTS,
    "members.OF_CHAT": members.OF_CHAT,
    "members.REMOVE": members.REMOVE,
    "chats.WE_ARE_IN": chats.WE_ARE_IN,
    "contacts.PEOPLE": contacts.PEOPLE,
    "contacts.OTHER": contacts.OTHER,
    "contacts.NAMES": contacts.NAMES,
    "contacts.WITH_NUMBER": contacts.WITH_NUMBER,
    "chats.IS_SEEN": chats.IS_SEEN,
    "outbox.WAITING_CHATS": outbox.WAITING_CHATS,
    "outbox.OLDEST": outbox.OLDEST,
    "outbox.CLAIM": outbox.CLAIM,
    "outbox.MOVE": outbox.MOVE,
    "outbox.IN_FLIGHT": outbox.IN_FLIGHT,
    "outbox.TEXTS_REQUESTED": outbox.TEXTS_REQUESTED,
    "outbox.IS_OURS": outbox.IS_OURS,
    "outbox.IN_FLIGHT_OF_CHAT": outbox.IN_FLIGHT_OF_CHAT,
    "outbox.COUNT_UNTOLD_FAILURES": outbox.COUNT_UNTOLD_FAILURES,
    "outbox.MARK_UNTOLD": outbox.MARK_UNTOLD,
    "outbox.MARK_TOLD": outbox.MARK_TOLD,
    "outbox.TEXTS_AFTER": outbox.TEXTS_AFTER,
    "outbox.COUNT_WAITING": outbox.COUNT_WAITING,
    "outbox.COUNT_ALL_WAITING": outbox.COUNT_ALL_WAITING,
    "outbox.PRUNE": outbox.PRUNE,
    "outbox.LAST_ID": outbox.LAST_ID,
    "outbox.COUNT_FAILED": outbox.COUNT_FAILED,
    "outbox_files.ATTACH": outbox_files.ATTACH,
    "outbox_files.WAITING_BYTES": outbox_files.WAITING_BYTES,
    "outbox_files.IS_SPOOLED": outbox_files.IS_SPOOLED,
    "outbox_files.IS_KNOWN": outbox_files.IS_KNOWN,
    "outbox_files.ENDED": outbox_files.ENDED,
    "outbox_files.FORGET": outbox_files.FORGET,
    "requests.FIND": requests.FIND,
    "requests.BY_IDS": requests.BY_IDS,
    "groups.IS_REGISTERED": groups.IS_REGISTERED,
    "groups.REGISTERED": groups.REGISTERED,
    "requests.CLOSE": requests.CLOSE,
    "requests.CLOSE_BOX": requests.CLOSE_BOX,
    "requests.PRUNE": requests.PRUNE,
    "agents.MOVE": agents.MOVE,
    "agents.END": agents.END,
    "agents.GET": agents.GET,
    "agents.LIVE": agents.LIVE,
    "agents.CLAIM": agents.CLAIM,
    "agents.PENDING": agents.PENDING,
    "agents.PERMISSIONS": agents.PERMISSIONS,
    "lineage.CHILDREN": lineage.CHILDREN,
    "lineage.CHILD_IDS": lineage.CHILD_IDS,
    "lineage.SUBTREE": lineage.SUBTREE,
    "lineage.ANCESTORS": lineage.ANCESTORS,
    "lineage.OF_TREE": lineage.OF_TREE,
    "lineage.UNENDED": lineage.UNENDED,
    "lineage.COUNT_IN_TREE": lineage.COUNT_IN_TREE,
    "lineage.COUNT_CHILDREN": lineage.COUNT_CHILDREN,
    "lineage.COUNT_HOLDING": lineage.COUNT_HOLDING,
    "spawns.GET": spawns.GET,
    "spawns.SOME": spawns.SOME,
    "spawns.BY_KEY": spawns.BY_KEY,
    "spawns.NEWEST_OF_CALLER": spawns.NEWEST_OF_CALLER,
    "spawns.TO_TELL": spawns.TO_TELL,
    "restarts.LEFT": restarts.LEFT,
    "restarts.LEAVE_CHILDREN": restarts.LEAVE_CHILDREN,
    "trees.GET": trees.GET,
    "trees.COUNT_CHILD": trees.COUNT_CHILD,
    "trees.END": trees.END,
    "trees.PRUNE": trees.PRUNE,
    "waits.OF_WAITER": waits.OF_WAITER,
    "waits.MEET": waits.MEET,
    "waits.MEET_READY": waits.MEET_READY,
    "waits.END_OF_WAITER": waits.END_OF_WAITER,
    "agents.CHAT_AT_WORK": agents.CHAT_AT_WORK,
    "agents.LAST_OF_BOX": agents.LAST_OF_BOX,
    "agents.END_TURN": agents.END_TURN,
    "agents.TURN": agents.TURN,
    "agents.COUNT_EFFECT": agents.COUNT_EFFECT,
    "agent_pruning.OLD_AGENTS": agent_pruning.OLD_AGENTS,
    **{f"agent_pruning.{name}": sql for name, sql in agent_pruning.OF_AGENTS.items()},
    "agent_pruning.PRUNE_TURNS": agent_pruning.PRUNE_TURNS,
    "bounds.TRIGGERS": bounds.TRIGGERS,
    "bounds.TURNS": bounds.TURNS,
    "bounds.NEWEST_TURNS": bounds.NEWEST_TURNS,
    "questions.OPEN_IN": questions.OPEN_IN,
    "questions.OF_AGENT": questions.OF_AGENT,
    "questions.NEWEST_IN": questions.NEWEST_IN,
    "questions.MOVE": questions.MOVE,
    "groups.BY_JID": groups.BY_JID,
    "groups.BY_FOLDER": groups.BY_FOLDER,
    "groups.MAIN": groups.MAIN,
    "notices.TOLD": notices.TOLD,
    "notices.CLOSE": notices.CLOSE,
    "notices.OPENED": notices.OPENED,
    "notices.NAMES": notices.NAMES,
    "notices.FORGET": notices.FORGET,
    "sessions.GET": sessions.GET,
    "sessions.SET_RIGHTS": sessions.SET_RIGHTS,
    "proposals.GET": proposals.GET,
    "proposals.OPEN_OF_GROUP": proposals.OPEN_OF_GROUP,
    "proposals.LAPSED": proposals.LAPSED,
    "proposals.MOVE": proposals.MOVE,
    "proposals.PRUNE": proposals.PRUNE,
    "chats.KNOWN_OF_GROUP": chats.KNOWN_OF_GROUP,
    "tasks.GET": tasks.GET,
    "tasks.BY_ALIAS": tasks.BY_ALIAS,
    "tasks.OF_GROUP": tasks.OF_GROUP,
    "tasks.COUNT_ACTIVE": tasks.COUNT_ACTIVE,
    "tasks.NEXT_DUE": tasks.NEXT_DUE,
    "tasks.DUE": tasks.DUE,
    "tasks.WRITE": tasks.WRITE,
    "tasks.PRUNE": tasks.PRUNE,
    "task_runs.GET": task_runs.GET,
    "task_runs.OF_AGENT": task_runs.OF_AGENT,
    "task_runs.OPEN_OF_TASK": task_runs.OPEN_OF_TASK,
    "task_runs.CLAIMED_OF_TASK": task_runs.CLAIMED_OF_TASK,
    "task_runs.WAITING": task_runs.WAITING,
    "task_runs.WRITE": task_runs.WRITE,
    "task_runs.HISTORY": task_runs.HISTORY,
    "task_runs.PRUNE": task_runs.PRUNE,
    "sessions.DROP_ONE": sessions.DROP_ONE,
    "tokens.GET": tokens.GET,
    "tokens.REVOKE": tokens.REVOKE,
    "tokens.PRUNE": tokens.PRUNE,
    "api_keys.BY_FINGERPRINT": api_keys.BY_FINGERPRINT,
    "usage.SPENT": usage.SPENT,
    "usage.TURN_AT": usage.TURN_AT,
    "usage.LINES": usage.LINES,
    "usage.TURNS": usage.TURNS,
    "usage.PRUNE": usage.PRUNE,
    "event_log.BEHIND": event_log.BEHIND,
    "event_log.OF_TREE": event_log.OF_TREE,
    "event_log.NEWEST_OF_TREE": event_log.NEWEST_OF_TREE,
    "event_log.LAST_SEQ": event_log.LAST_SEQ,
    "event_log.LAST_OF_AGENTS": event_log.LAST_OF_AGENTS,
    "event_log.PRUNE": event_log.PRUNE,
    "event_log.PRUNE_OVER": event_log.PRUNE_OVER,
    "standing.WAITING": standing.WAITING,
    "standing.AT_WORK": standing.AT_WORK,
    "standing.TURNS": standing.TURNS,
    "standing.AGENTS": standing.AGENTS,
    "standing.TEXTS": standing.TEXTS,
    "standing.NEXT_TASKS": standing.NEXT_TASKS,
    "standing.OVERDUE_TASKS": standing.OVERDUE_TASKS,
    "standing.LATE": standing.LATE,
    "standing.USED": standing.USED,
}
# Partial indexes that hold only what waits: walking through one is as long as what waits is.
SMALL = (
    "messages_waiting",
    "messages_dispatched",
    "messages_at_work",
    "agents_live",
    "agents_unended",
    "agents_pending",
    "spawns_to_tell",
    "outbox_waiting",
    "task_runs_waiting",
    "proposals_open",
)


@pytest.fixture
async def crowded(tmp_path: Path) -> AsyncIterator[Database]:
    """A store that SQLite has statistics of, as a long-lived one may."""
    await asyncio.to_thread(lay_store, tmp_path / "store.db")
    database = await Database.open(tmp_path / "store.db", backups=tmp_path / "backups", on_wake=None)
    yield database
    await database.close()


def plan_of(tx: Transaction, sql: str) -> list[str]:
    """The steps of a query as SQLite means to run it."""
    names = {word.strip(":,();") for word in sql.replace("(", " ").split() if word.startswith(":")}
    return [row["detail"] for row in tx.all(f"EXPLAIN QUERY PLAN {sql}", dict.fromkeys(names))]


@pytest.mark.parametrize("name", HOT)
async def test_a_hot_query_walks_through_no_table(crowded: Database, name: str) -> None:
    plan = await crowded.run(lambda tx: plan_of(tx, HOT[name]))

    walks = [step for step in plan if step.startswith("SCAN") and not _is_harmless(step)]
    assert walks == [], plan


def _is_harmless(step: str) -> bool:
    # below, above: the part of a tree that a recursive query has gathered so far.
    inner = ("SCAN json_each", "SCAN (subquery", "SCAN CONSTANT", "SCAN person", "SCAN below", "SCAN above")
    is_inner = step.startswith(inner)
    return is_inner or any(step.endswith(f"INDEX {index}") for index in SMALL)


async def test_c2_a_batch_of_a_chat_with_100_000_rows_of_chatter_reads_no_more_than_it_may_hold(
    crowded: Database,
) -> None:
    """Case C2."""

    def fill(tx: Transaction) -> int:
        add_group(tx)
        tx.execute(_FILL, {"count": 100_000, "chat": CHAT, "status": "pending"})
        return add_message(tx, "trigger")

    trigger = await crowded.run(fill)

    def body(tx: Transaction) -> tuple[list[str], int]:
        steps = [0]
        connection = tx._connection  # the only place where SQLite tells what a query costs

        def count() -> int:
            steps[0] += 1
            return 0

        connection.set_progress_handler(count, 100)
        found = messages.pending_chatter(tx, CHAT, before_seq=trigger, count=200)
        triggers = messages.pending_triggers(tx, CHAT)
        waiting = messages.waiting_chats(tx, now=NOON, longest_wait=timedelta(minutes=5))
        connection.set_progress_handler(None, 0)
        assert (len(triggers), len(waiting)) == (1, 1)
        return [found[0].message_id, found[-1].message_id], steps[0] * 100

    ends, steps = await crowded.run(body)

    assert ends == ["c-99801", "c-100000"]
    assert steps < 20_000, f"{steps} steps of SQLite's machine for 201 rows"
