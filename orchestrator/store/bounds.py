"""What the bounds on triggers and turns count. Source: contracts.md section 6."""

import json
from collections.abc import Collection
from datetime import datetime
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import SenderRole
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction

TRIGGERS: Final = """
SELECT count(*) AS n
  FROM (SELECT 1 FROM messages
         WHERE sender_jid IN (SELECT value FROM json_each(:sender))
           AND is_trigger <> 0 AND sender_role <> 'operator'
           AND received_ms > :since_ms AND received_ms <= :now_ms
         LIMIT :count)
"""
TURNS: Final = """
SELECT count(*) AS n
  FROM (SELECT 1 FROM turns
         WHERE chat_jid = :chat AND set_off_by IN ('member', 'bot') AND set_off_by IS NOT NULL
           AND started_ms > :since_ms AND started_ms <= :now_ms
         LIMIT :count)
"""
NEWEST_TURNS: Final = """
SELECT set_off_by FROM turns
 WHERE chat_jid = :chat AND set_off_by IS NOT NULL AND started_ms > :since_ms AND started_ms <= :now_ms
 ORDER BY started_ms DESC, rowid DESC LIMIT :count
"""


def triggers_of_sender(
    tx: Transaction, sender: Collection[Jid], *, since: datetime, now: datetime, count: int
) -> int:
    """How often the person with these ids set it off since then, in all chats where he is no operator; at
    most `count`.
    """
    wanted = {
        "sender": json.dumps(sorted(sender)),
        "since_ms": to_ms(since),
        "now_ms": to_ms(now),
        "count": count,
    }
    row = tx.one(TRIGGERS, wanted)
    return 0 if row is None else int(row["n"])


def turns_of_chat(tx: Transaction, chat: Jid, *, since: datetime, now: datetime, count: int) -> int:
    """How many turns, follow-ups too, members and bots set off in `chat` since then, at most `count`."""
    wanted = {"chat": chat, "since_ms": to_ms(since), "now_ms": to_ms(now), "count": count}
    row = tx.one(TURNS, wanted)
    return 0 if row is None else int(row["n"])


def bot_turns_in_a_row(tx: Transaction, chat: Jid, *, since: datetime, now: datetime, count: int) -> int:
    """How many of the newest turns since then bots alone set off, at most `count`."""
    wanted = {"chat": chat, "since_ms": to_ms(since), "now_ms": to_ms(now), "count": count}
    in_a_row = 0
    for row in tx.all(NEWEST_TURNS, wanted):
        if row["set_off_by"] != SenderRole.BOT.value:
            break
        in_a_row += 1
    return in_a_row
