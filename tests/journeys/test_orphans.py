"""The net below the events: who lost its parent without anybody being told is found all the same (FP2)."""

import contextlib
import json
import sqlite3

from tests.support.home_on_disk import HomeOnDisk
from tests.support.spawned import ended, rule, running, scenario, spawn

FOREVER = {"wait_for_file": "never"}


async def test_fp2_an_orphan_of_which_no_event_told_is_swept_up_and_the_audit_has_it(
    home: HomeOnDisk,
) -> None:
    home.set(agent__stop_grace_s=0.2, shutdown_grace_s=0, message_poll_s=0.1)
    await home.add_group()
    home.play(
        scenario(
            rule("ask around", spawn("middle"), FOREVER),
            rule("middle", spawn("leaf"), FOREVER),
            rule("leaf", FOREVER),
        )
    )

    async with home.running():
        home.ask("ask around")
        middle, leaf = await running(home, "middle", "leaf")
        lose(home, middle)
        (row,) = await ended(home, "leaf")

    assert (row["status"], row["stop_reason"]) == ("terminated", "orphan_cleanup")
    assert audited(home, leaf, "terminate.orphan") == [
        {"parentAgentId": middle, "reason": "parent_terminated"}
    ]
    assert audited(home, leaf, "terminate.cascade") == [{"reason": "orphan_cleanup", "terminatedCount": 1}]


def audited(home: HomeOnDisk, agent_id: str, event: str) -> list[dict[str, object]]:
    """What the audit has of such events of an agent, but for their type and whose they are."""
    asked = f"SELECT body FROM event_log WHERE type = '{event}' AND agent_id = '{agent_id}'"
    bodies = [json.loads(row["body"]) for row in home.rows(asked)]
    return [{name: each[name] for name in each if name not in ("type", "agentId")} for each in bodies]


def lose(home: HomeOnDisk, agent_id: str) -> None:
    """Its record says that it ended long ago, and nobody is told of it."""
    path = home.path / "data" / "store" / "dovecote.db"
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as database, database:
        database.execute(
            "UPDATE agents SET status = 'lost', ended_ms = started_ms - 3600000 WHERE agent_id = ?",
            (agent_id,),
        )
