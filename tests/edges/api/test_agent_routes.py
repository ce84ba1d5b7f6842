"""Agents and trees over HTTP, for people's own programs. Source: agents.md section 1."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from tests.agreement.spawn_faces.faces import TOKEN, Faces
from tests.edges.commands.spawn_bench import SpawnBench


@pytest.fixture
async def client(faces: Faces) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.AsyncHTTPTransport(uds=str(faces.socket))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://dovecote", headers=headers) as each:
        yield each


async def test_a_tree_is_listed_shown_whole_and_stopped_from_its_root(
    client: httpx.AsyncClient, bench: SpawnBench
) -> None:
    child = await bench.started()
    grandchild = await bench.spawn(by=child)

    (listed,) = (await client.get("/api/v1/trees")).json()
    shown = (await client.get("/api/v1/trees/tree-root")).json()
    stopped = await client.post(f"/api/v1/agents/{child.agent_id}/stop")

    assert (listed["treeId"], listed["rootAgentId"], listed["status"], listed["totalAgents"]) == (
        "tree-root",
        "agent-root",
        "active",
        3,
    )
    assert [(each["id"], each["nestingDepth"], each["parentAgentId"]) for each in shown["agents"]] == [
        ("agent-root", 0, None),
        (child.agent_id, 1, "agent-root"),
        (grandchild, 2, child.agent_id),
    ]
    told = stopped.json()
    assert told.keys() == {"success", "terminated", "failed", "skipped", "totalProcessed", "outcomes"}
    # Nothing ran behind its record, so nobody saw it end: that is said, and not that all went well.
    assert (told["success"], told["terminated"], told["totalProcessed"]) == (False, [grandchild], 2)
    assert [each["agentId"] for each in told["failed"]] == [child.agent_id]


async def test_a_result_can_be_fetched_later_and_waited_for(
    client: httpx.AsyncClient, faces: Faces, bench: SpawnBench
) -> None:
    child = await bench.spawn()
    path = f"/api/v1/agents/{child}"

    soon = (await client.get(path, params={"wait": "result", "wait_s": "0"})).json()
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(client.get(path, params={"wait": "result"}, timeout=30))
        await faces.end(child)
        late = (await asking).json()

    assert (soon["status"], soon["lifecycle"], soon["askAgain"]) == ("running", "pending", True)
    assert "askAgain" not in late
    assert (late["status"], late["output"], late["exitCode"]) == ("completed", "four doves\n\nand a crow", 0)


async def test_an_operator_sees_what_a_token_says_and_not_the_token(
    client: httpx.AsyncClient, faces: Faces, bench: SpawnBench
) -> None:
    shown = (await client.get("/api/v1/agents/agent-root/token")).json()
    without = await client.get(f"/api/v1/agents/{await bench.spawn()}/token")

    assert shown.keys() == {
        "agentId",
        "treeId",
        "parentAgentId",
        "depth",
        "maxDepth",
        "issuedAt",
        "expiresAt",
        "permissions",
    }
    assert (shown["agentId"], shown["maxDepth"]) == ("agent-root", 2)
    assert shown["expiresAt"] - shown["issuedAt"] == 3_600_000
    assert shown["permissions"] == {"canSpawn": True, "inheritGitHubToken": True}
    assert faces.token not in str(shown)
    assert (without.status_code, without.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_what_is_not_there_is_told_so(client: httpx.AsyncClient) -> None:
    found = {
        path: (answer.status_code, answer.json()["error"]["code"])
        for method, path in (
            ("GET", "/api/v1/agents/nobody"),
            ("GET", "/api/v1/agents/nobody/token"),
            ("POST", "/api/v1/agents/nobody/stop"),
            ("GET", "/api/v1/trees/none"),
            ("GET", "/api/v1/agents/nobody?wait=sometimes"),
            ("GET", "/api/v1/agents/nobody?wait_s=26"),
        )
        for answer in [await client.request(method, path)]
    }

    assert found == {
        "/api/v1/agents/nobody": (404, "AGENT_NOT_FOUND"),
        "/api/v1/agents/nobody/token": (404, "AGENT_NOT_FOUND"),
        "/api/v1/agents/nobody/stop": (404, "AGENT_NOT_FOUND"),
        "/api/v1/trees/none": (404, "NOT_FOUND"),
        "/api/v1/agents/nobody?wait=sometimes": (400, "INVALID_REQUEST"),
        "/api/v1/agents/nobody?wait_s=26": (400, "INVALID_REQUEST"),
    }


async def test_a_body_that_nobody_would_read_is_refused_and_an_empty_one_is_none(
    client: httpx.AsyncClient, bench: SpawnBench
) -> None:
    child = await bench.spawn()
    path = f"/api/v1/agents/{child}/stop"

    meant = await client.post(path, json={"force": True})
    empty = await client.post(path, json={})

    assert (meant.status_code, meant.json()["error"]["code"]) == (400, "INVALID_REQUEST")
    assert empty.json()["terminated"] == [child]
