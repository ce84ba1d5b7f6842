"""How the whole stands, over a real socket: who may see it, and that its numbers are those of the store."""

from datetime import timedelta

import pytest

from orchestrator.commands.setup.api_keys import add_api_key
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.messages import MessageStatus, TextSource
from orchestrator.store import agents, chats, notices, outbox, tasks
from orchestrator.store.transaction import Transaction
from tests.edges.api.conftest import MAIN, Served
from tests.support.store_rows import CHAT, add_group, add_message, agent
from tests.support.task_rows import task

ROUTES = ("/api/v1/standing", "/metrics")


def fill(tx: Transaction, served: Served) -> None:
    """One of everything that is counted, and beside each one that is not."""
    now = served.services.clock.now()
    add_group(tx)
    chats.see(tx, CHAT, channel="whatsapp", name=None, is_group=True, at=now - timedelta(hours=1))
    add_message(tx, "m-1", at=now - timedelta(hours=2))
    add_message(tx, "m-2", at=now - timedelta(hours=1))
    add_message(tx, "m-3", is_trigger=False, at=now)
    add_message(tx, "m-4", status=MessageStatus.SETTLED, at=now)
    add_message(tx, "m-5", status=MessageStatus.DISPATCHED, at=now)
    agents.add(tx, agent(status=AgentStatus.RUNNING, started_at=now))
    for key in ("queued", "failed", "sent"):
        outbox.add(tx, chat_jid=MAIN, parts=["x"], source=TextSource.REQUEST, source_key=key, at=now)
        tx.execute("UPDATE outbox SET status = :key WHERE source_key = :key", {"key": key})
    tasks.add(tx, task("late", next_run_at=now - timedelta(hours=3)))
    tasks.add(tx, task("next", next_run_at=now + timedelta(hours=3)))
    notices.count_one(tx, f"provider:{CHAT}", at=now)
    notices.mark_told(tx, f"provider:{CHAT}", at=now)
    notices.count_one(tx, f"start:{CHAT}", at=now)


async def test_every_number_is_the_stores(served: Served) -> None:
    await served.services.db.run(lambda tx: fill(tx, served))
    served.services.troubles["whatsapp"] = "away"

    async with served.client() as client:
        report = (await client.get("/api/v1/standing")).json()

    found = report["standing"]
    assert report["troubles"] == {"whatsapp": "away"}
    assert [each["folder"] for each in found["groups"]] == ["main", "family"]
    assert [(each["channel"], each["is_group"], each["chats"]) for each in found["heard"]] == [
        ("whatsapp", True, 1)
    ]
    assert (found["waiting"]["count"], found["waiting"]["chat"]) == (2, CHAT)
    assert found["at_work"]["count"] == 1
    assert found["agents"] == {"running": 1}
    assert found["outgoing"]["by_status"] == {"queued": 1}
    assert (found["outgoing"]["waiting"]["chat"], found["outgoing"]["failed"]["count"]) == (MAIN, 1)
    schedule = found["schedule"]
    assert (schedule["by_status"], schedule["late"]) == ({"active": 2}, 1)
    assert [each["task_id"] for each in schedule["overdue"]] == ["late"]
    assert [each["task_id"] for each in schedule["next_tasks"]] == ["late", "next"]
    assert [each["name"] for each in found["incidents"]] == [f"provider:{CHAT}"]


async def test_the_metrics_say_the_same_numbers(served: Served) -> None:
    await served.services.db.run(lambda tx: fill(tx, served))

    async with served.client() as client:
        answer = await client.get("/metrics")

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    told = set(answer.text.splitlines())
    assert {
        "dovecote_messages_waiting 2.0",
        "dovecote_messages_at_work 1.0",
        'dovecote_agents{status="running"} 1.0',
        'dovecote_outbox_texts{status="queued"} 1.0',
        "dovecote_outbox_failed_last_day 1.0",
        "dovecote_tasks_overdue 1.0",
        'dovecote_incidents{kind="provider"} 1.0',
    } <= told


@pytest.mark.parametrize("route", ROUTES)
async def test_it_is_for_operators_and_for_keys_that_may_read(served: Served, route: str) -> None:
    reads = await add_api_key(served.services, "watcher", ["read"])
    spawns = await add_api_key(served.services, "editor", ["spawn", "stop"])

    statuses = []
    for token in (served.token, str(reads["key"]), str(spawns["key"]), "wrong", ""):
        async with served.client(token=token) as client:
            statuses.append((await client.get(route)).status_code)

    assert statuses == [200, 200, 403, 401, 401]
