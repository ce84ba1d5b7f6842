"""`GET /api/v1/events` and `/api/v1/overview`: pages to go on from, for those who may read."""

import asyncio
from collections.abc import Mapping
from typing import Any

from orchestrator.commands.setup.api_keys import add_api_key
from orchestrator.contracts.events import AgentLogged, TreeTerminated
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.store import event_log
from tests.edges.api.conftest import Served

TREE, OTHER, ROOT = TreeId("tree-a"), TreeId("tree-b"), AgentId("agent-1")


async def happen(served: Served, *texts: str, tree: TreeId = TREE) -> None:
    """Let these lines have been logged."""
    at = served.services.clock.now()
    for text in texts:
        event = AgentLogged(agent_id=ROOT, tree_id=tree, depth=0, message=text)
        await served.services.db.run(lambda tx, event=event: event_log.append(tx, tree, event, at))  # type: ignore[misc]  # a lambda


async def page_of(served: Served, **query: object) -> Mapping[str, Any]:
    async with served.client() as client:
        words = {key: str(each) for key, each in query.items()}
        answer = await client.get("/api/v1/events", params=words, timeout=60)
    assert answer.status_code == 200, answer.text
    plain: Mapping[str, Any] = answer.json()
    return plain


async def test_pages_of_a_tree_and_of_all_trees_follow_on_each_other_without_a_hole(served: Served) -> None:
    await happen(served, "one", "two")
    await happen(served, "elsewhere", tree=OTHER)
    await happen(served, "three")

    first = await page_of(served, tree=TREE, since=0, count=2)
    second = await page_of(served, tree=TREE, since=first["since"], count=2)
    newest = await page_of(served, count=2)
    behind = await page_of(served, since=newest["since"])

    assert [each["message"] for each in first["events"] + second["events"]] == ["one", "two", "three"]
    assert (first["more"], second["more"]) == (True, False)
    assert [each["message"] for each in newest["events"]] == ["elsewhere", "three"]
    assert behind["events"] == []


async def test_an_answer_waits_for_what_happens_and_leaves_out_what_was_not_asked_for(served: Served) -> None:
    over = TreeTerminated(tree_id=TREE, root_agent_id=ROOT, total_agents=1)
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(page_of(served, **{"since": 0, "wait_s": 60, "class": "audit"}))
        await happen(served, "one")
        at = served.services.clock.now()
        await served.services.db.run(lambda tx: event_log.append(tx, TREE, over, at))

    assert [each["type"] for each in waiting.result()["events"]] == ["tree.terminated"]


async def test_only_who_may_read_gets_events_and_the_overview(served: Served) -> None:
    spawner = await add_api_key(served.services, "spawner", ["spawn"])
    reader = await add_api_key(served.services, "reader", ["read"])

    for path in ("/api/v1/events", "/api/v1/overview"):
        async with served.client(token="") as nobody, served.client(token=str(spawner["key"])) as other:
            assert (await nobody.get(path)).status_code == 401
            assert (await other.get(path)).status_code == 403
        async with served.client(token=str(reader["key"])) as allowed:
            assert (await allowed.get(path)).status_code == 200


async def test_a_query_that_is_off_is_an_error_with_the_name_of_the_field(served: Served) -> None:
    async with served.client() as client:
        answer = await client.get("/api/v1/events", params={"count": "0"})

    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["field"] == "count"
