"""What each face answers has the fields of seed 000 with their types, rows P1 to P24 of its interfaces."""

from collections.abc import Mapping
from typing import Any, Final

import httpx
import pytest

from orchestrator.api.render_errors import STATUS
from orchestrator.commands.spawning.spawn_ends import note_orphan
from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.wire.agent_requests import GetAgentStatus
from orchestrator.settings.tree import Settings
from orchestrator.store import agents, trees
from orchestrator.store.transaction import Transaction
from tests.agreement.spawn_faces.faces import TOKEN, Faces, open_faces
from tests.edges.commands.spawn_bench import SpawnBench
from tests.support.store_rows import agent

Shape = Mapping[str, Any]
"""A type, a set of words, a list of one shape, or a shape by field; one that may be missing ends in `?`."""
QUOTA_INFO: Final[Shape] = {"tree_agents_remaining": int, "depth_remaining": int}
SPAWN_RESPONSE: Final[Shape] = {
    "agent_id": str,
    "status": {"completed", "failed", "timeout"},
    "exit_code": int,
    "output": str,
    "duration_ms": int,
    "files_modified?": [str],
    "error?": str,
    "quota_info?": QUOTA_INFO,
}
AGENT_METADATA: Final[Shape] = {
    "id": str,
    "task": str,
    "workspacePath": str,
    "writablePaths": [str],
    "startedAt": str,
    "status": {"running", "completed", "failed"},
    "exitCode?": int,
    "endedAt?": str,
    "output?": str,
    "parentAgentId": (str, type(None)),
    "childAgentIds": [str],
    "nestingDepth": int,
    "treeId": str,
}
CASCADE_RESULT: Final[Shape] = {
    "success": bool,
    "terminated": [str],
    "failed": [{"agentId": str, "error": str}],
    "totalProcessed": int,
}
SPAWN_TREE: Final[Shape] = {
    "treeId": str,
    "rootAgentId": str,
    "totalAgents": int,
    "maxDepthReached": int,
    "createdAt": str,
    "status": {"active", "terminated"},
}
NESTED_SPAWN_CONFIG: Final[Shape] = {
    "maxNestingDepth": int,
    "maxAgentsPerTree": int,
    "enableRecursiveSpawn": bool,
    "maxConcurrentAgents": int,
}
SESSION_TOKEN: Final[Shape] = {
    "agentId": str,
    "treeId": str,
    "parentAgentId?": (str, type(None)),
    "depth": int,
    "maxDepth": int,
    "issuedAt": int,
    "expiresAt": int,
    "permissions": {"canSpawn": bool, "inheritGitHubToken": bool},
}
STATUSES: Final[Mapping[int, set[str]]] = {
    400: {"INVALID_REQUEST", "MISSING_TASK", "INVALID_TIMEOUT", "INVALID_WORKSPACE"},
    401: {"UNAUTHORIZED", "TOKEN_INVALID", "TOKEN_EXPIRED", "TOKEN_TREE_INVALID", "TOKEN_PARENT_INVALID"},
    403: {
        "SPAWN_DISABLED",
        "DEPTH_EXCEEDED",
        "QUOTA_EXCEEDED",
        "PARENT_NOT_FOUND",
        "PARENT_NOT_RUNNING",
        "WORKSPACE_NOT_ALLOWED",
    },
    429: {"RATE_LIMITED"},
    500: {"INTERNAL_ERROR"},
}


def check(told: object, shape: Any, where: str = "answer") -> None:
    """Fail unless `told` has at least what the shape names, of the types that it names."""
    if isinstance(shape, Mapping):
        assert isinstance(told, Mapping), where
        for name, inner in shape.items():
            field = name.removesuffix("?")
            assert field in told or name.endswith("?"), f"{where} lacks {field}"
            if field in told:
                check(told[field], inner, f"{where}.{field}")
    elif isinstance(shape, list):
        assert isinstance(told, list | tuple), where
        for each in told:
            check(each, shape[0], f"{where}[]")
    elif isinstance(shape, set):
        assert told in shape, f"{where} is {told!r}"
    else:
        assert isinstance(told, shape), f"{where} is {told!r}"
        assert shape is bool or not isinstance(told, bool), f"{where} is {told!r}"


async def get(faces: Faces, path: str, *, method: str = "GET") -> Any:
    """What the operator is answered."""
    transport = httpx.AsyncHTTPTransport(uds=str(faces.socket))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://dovecote", headers=headers) as client:
        return (await client.request(method, path, timeout=30)).json()


async def test_p1_p3_p6_the_result_of_a_spawn_has_the_types_of_the_source_document(
    bench: SpawnBench,
) -> None:
    async with open_faces(bench) as faces:
        told = {name: (await ask(task="count", timeout_ms=60_000)).told for name, ask in faces.all().items()}

    # In the box what is not known is null; the tool inside leaves it out.
    told["box"] = {field: value for field, value in told["box"].items() if value is not None}
    for name, each in told.items():
        check(each, SPAWN_RESPONSE, name)


async def test_p4_p20_how_agents_stand_has_the_types_of_the_source_document_and_no_token(
    bench: SpawnBench,
) -> None:
    child = await bench.started()
    ended = await bench.started("ends", by=child)
    await bench.end(ended.agent_id)
    async with open_faces(bench) as faces:
        box = (await bench.by_box(GetAgentStatus())).result
        http = (await get(faces, "/api/v1/agents"))["agents"]
        async with faces.tools() as tools:
            mcp = (await tools.call_tool("get_agent_status", {})).structured_content
        token = faces.token

    assert box is not None
    assert mcp is not None
    for name, found in {"box": box["agents"], "http": http, "mcp": mcp["agents"]}.items():
        check(found, [AGENT_METADATA], name)
        assert {each["id"] for each in found} == {bench.root.agent_id, child.agent_id, ended.agent_id}, name
        assert all("exitCode" in each for each in found if each["id"] == ended.agent_id), name
        assert all(each["startedAt"].endswith("Z") for each in found), name
        assert not {key for each in found for key in each} & {"sessionToken", "tokenFilePath"}, name
    assert token not in str([box, http, mcp])


async def test_p5_p21_what_a_stop_says_has_the_types_of_the_source_document(bench: SpawnBench) -> None:
    first, second = await bench.started("first"), await bench.spawn("second")
    async with open_faces(bench) as faces:
        http = await get(faces, f"/api/v1/agents/{first.agent_id}/stop", method="POST")
        async with faces.tools() as tools:
            mcp = (await tools.call_tool("terminate_agent", {"agent_id": second})).structured_content

    check(http, CASCADE_RESULT, "http")
    check(mcp, CASCADE_RESULT, "mcp")
    # Nothing runs behind the first one's record: nobody saw it end, and that is said.
    assert ([each["agentId"] for each in http["failed"]], http["success"]) == ([first.agent_id], False)


async def test_p17_p24_the_limits_have_the_types_of_the_source_document(bench: SpawnBench) -> None:
    async with open_faces(bench) as faces, faces.tools() as tools:
        call = {"section": "nestedspawn", "action": "show"}
        shown = (await tools.call_tool("manage_config", call)).structured_content

    check(shown, NESTED_SPAWN_CONFIG)


def test_p7_p17_the_limits_are_by_default_those_of_the_source_document() -> None:
    spawn = Settings().spawn

    assert (spawn.max_depth, spawn.max_agents_per_tree, spawn.enabled) == (2, 10, True)
    assert (spawn.per_minute, spawn.default_timeout_s, spawn.absolute_max_timeout_s) == (10, 3_600, 86_400)


async def test_p18_p19_a_token_and_a_tree_have_the_types_of_the_source_document(bench: SpawnBench) -> None:
    await bench.spawn()
    async with open_faces(bench) as faces:
        token = await get(faces, "/api/v1/agents/agent-root/token")
        listed = await get(faces, "/api/v1/trees")
        shown = await get(faces, "/api/v1/trees/tree-root")

    check(token, SESSION_TOKEN)
    check([*listed, shown], [SPAWN_TREE])
    assert (shown["totalAgents"], shown["maxDepthReached"], shown["status"]) == (2, 1, "active")


@pytest.mark.parametrize("reason", ["parent_not_found", "parent_terminated", "tree_terminated"])
async def test_p22_an_orphan_has_the_reasons_of_the_source_document(bench: SpawnBench, reason: str) -> None:
    parent = AgentId("agent-nobody") if reason == "parent_not_found" else bench.root.agent_id
    tree = TreeId("tree-root")
    orphan = agent("agent-orphan", tree_id=tree, parent_agent_id=parent, status=AgentStatus.RUNNING)

    def body(tx: Transaction) -> None:
        agents.add(tx, orphan)
        if reason == "tree_terminated":
            trees.end(tx, tree, at=bench.desk.now)
        note_orphan(tx, orphan, at=bench.desk.now)

    await bench.desk.run(body)

    assert (await bench.logged(tree))[-1] == (
        "terminate.orphan",
        {"type": "terminate.orphan", "agentId": "agent-orphan", "parentAgentId": parent, "reason": reason},
    )


def test_each_of_the_17_codes_has_the_status_of_the_source_document() -> None:
    assert sum(len(codes) for codes in STATUSES.values()) == 17
    for status, codes in STATUSES.items():
        assert {STATUS[ErrorCode(code)] for code in codes} == {status}
