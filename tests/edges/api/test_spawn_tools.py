"""`/mcp/spawn` with a real client: what it offers, who may call it, what `manage_config` does."""

from typing import Any

import httpx
import pytest
from mcp import Client

from orchestrator.commands.spawning.workspaces import approve_workspace
from orchestrator.contracts.callers import OperatorCaller
from tests.agreement.spawn_faces.faces import TOKEN, Faces
from tests.edges.commands.spawn_bench import SpawnBench


async def call(tools: Client, tool: str, **given: Any) -> dict[str, Any]:
    """What a tool answers, refusals too."""
    result = await tools.call_tool(tool, given)
    assert result.structured_content is not None
    return dict(result.structured_content)


async def key_for(faces: Faces, *scopes: str) -> str:
    """A new API key."""
    transport = httpx.AsyncHTTPTransport(uds=str(faces.socket))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://dovecote", headers=headers) as client:
        body = {"name": "-".join(scopes), "scopes": list(scopes)}
        return str((await client.post("/api/v1/api-keys", json=body)).json()["key"])


async def test_it_offers_the_tools_of_the_source_document_with_their_inputs(faces: Faces) -> None:
    async with faces.tools() as tools:
        offered = {tool.name: tool for tool in (await tools.list_tools()).tools}

    assert offered.keys() == {"spawn_docker_agent", "get_agent_status", "terminate_agent", "manage_config"}
    spawn = offered["spawn_docker_agent"].input_schema
    assert spawn["required"] == ["task"]
    assert spawn["properties"].keys() >= {
        "task",
        "workspace_path",
        "writable_paths",
        "timeout_ms",
        "parent_agent_id",
    }
    assert offered["terminate_agent"].input_schema["required"] == ["agent_id"]
    annotations = {name: tool.annotations for name, tool in offered.items()}
    assert annotations["get_agent_status"] is not None
    assert annotations["get_agent_status"].read_only_hint
    assert annotations["terminate_agent"] is not None
    assert annotations["terminate_agent"].destructive_hint


async def test_an_argument_that_a_tool_does_not_have_is_refused_with_the_one_that_was_meant(
    faces: Faces, bench: SpawnBench
) -> None:
    child = await bench.started()
    async with faces.tools() as tools:
        misspelled = await call(tools, "get_agent_status", agent=child.agent_id)
        in_camel_case = await call(tools, "get_agent_status", agentId=child.agent_id)
        nothing_like_it = await call(tools, "terminate_agent", agent_id=child.agent_id, hard=True)

    assert misspelled["code"] == "INVALID_REQUEST"
    assert misspelled["error"] == "The argument 'agent' is not known (did you mean 'agent_id'?)."
    assert in_camel_case["code"] == "INVALID_REQUEST"
    assert "'agent_id'" in in_camel_case["error"]
    assert nothing_like_it["error"] == "The argument 'hard' is not known."
    assert (await bench.agent(child.agent_id)).ended_at is None


async def test_a_status_has_the_fields_of_agent_metadata_for_one_and_for_all(
    faces: Faces, bench: SpawnBench
) -> None:
    child = await bench.started()
    async with faces.tools() as tools:
        every = (await call(tools, "get_agent_status"))["agents"]
        (one,) = (await call(tools, "get_agent_status", agent_id=child.agent_id))["agents"]
        absent = await call(tools, "get_agent_status", agent_id="agent-nobody")

    assert {each["id"] for each in every} == {bench.root.agent_id, child.agent_id}
    assert one.keys() >= {
        "id",
        "task",
        "workspacePath",
        "writablePaths",
        "startedAt",
        "status",
        "parentAgentId",
        "childAgentIds",
        "nestingDepth",
        "treeId",
    }
    assert (one["status"], one["parentAgentId"], one["nestingDepth"], one["treeId"]) == (
        "running",
        bench.root.agent_id,
        1,
        "tree-root",
    )
    root = next(each for each in every if each["id"] == bench.root.agent_id)
    assert (root["parentAgentId"], root["childAgentIds"]) == (None, [child.agent_id])
    assert (absent["code"], absent["suggestion"]) == (
        "AGENT_NOT_FOUND",
        "See which there are: get_agent_status without an agent_id.",
    )


async def test_a_program_proposes_a_directory_and_only_the_operator_allows_it(
    faces: Faces, bench: SpawnBench, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = str(tmp_path_factory.mktemp("project"))
    asked = {"task": "count", "wait": "none", "workspace_path": place}
    async with faces.tools(await key_for(faces, "spawn")) as tools:
        before = await call(tools, "spawn_docker_agent", **asked)
        proposed = await call(tools, "manage_config", section="workspaces", action="propose", path=place)
        itself = await call(tools, "manage_config", section="workspaces", action="approve", path=place)
        listed = await call(tools, "manage_config", section="workspaces", action="list")
        await approve_workspace(bench.desk.services, OperatorCaller(), place)
        after = await call(tools, "spawn_docker_agent", **asked)
    async with faces.tools() as tools:
        rejected = await call(tools, "manage_config", section="workspaces", action="reject", path=place)
        removed = await call(tools, "manage_config", section="workspaces", action="remove", path=place)
        gone = await call(tools, "spawn_docker_agent", **asked)

    assert (before["code"], itself["code"], gone["code"]) == (
        "WORKSPACE_NOT_ALLOWED",
        "FORBIDDEN",
        "WORKSPACE_NOT_ALLOWED",
    )
    assert "manage_config" in before["suggestion"]
    assert (proposed["path"], proposed["status"]) == (place, "proposed")
    assert [each["path"] for each in listed["workspaces"]] == [place]
    assert after["status"] == "running"
    assert (rejected["status"], removed["status"]) == ("rejected", "removed")


async def test_limits_and_the_audit_are_shown_to_those_who_may_see_them(faces: Faces) -> None:
    async with faces.tools() as tools:
        limits = await call(tools, "manage_config", section="nestedspawn", action="show")
        audit = await call(tools, "manage_config", section="audit", action="recent")
        unknown = await call(tools, "manage_config", section="nestedspawn", action="set")
        tool = await call(tools, "spawn_claude", name="x")
    async with faces.tools(await key_for(faces, "stop")) as tools:
        hidden = await call(tools, "manage_config", section="audit", action="recent")
        spawn = await call(tools, "spawn_docker_agent", task="x")

    assert (limits["maxNestingDepth"], limits["maxAgentsPerTree"], limits["enableRecursiveSpawn"]) == (
        2,
        10,
        True,
    )
    assert [each["type"] for each in audit["events"]] == ["token.generated"]
    assert (unknown["code"], tool["code"]) == ("INVALID_REQUEST", "INVALID_REQUEST")
    assert (hidden["code"], spawn["code"]) == ("FORBIDDEN", "FORBIDDEN")


async def test_nobody_speaks_to_a_toolset_without_a_credential(faces: Faces) -> None:
    transport = httpx.AsyncHTTPTransport(uds=str(faces.socket))
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(transport=transport, base_url="http://dovecote", headers=accept) as client:
        bare = await client.post("/mcp/spawn", json=body)
        wrong = await client.post("/mcp/spawn", json=body, headers={"Authorization": f"Bearer {faces.token}"})
        page = await client.post(
            "/mcp/spawn",
            json=body,
            headers={"Authorization": f"Bearer {TOKEN}", "Origin": "https://evil.example"},
        )

    assert (bare.status_code, wrong.status_code, page.status_code) == (401, 401, 403)
    assert bare.json()["error"]["code"] == "UNAUTHORIZED"
