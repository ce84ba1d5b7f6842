"""One operation, four faces: box, the agent's own socket, HTTP, MCP. Source: agents.md section 1."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.wire.codec import camel
from orchestrator.ipc.parse import FileRefusal, parse_request
from tests.agreement.spawn_faces.faces import Outcome, open_faces
from tests.edges.commands.spawn_bench import SpawnBench

FIELDS = {"agent_id", "status", "exit_code", "output", "duration_ms", "quota_info"}
"""Of `SpawnResponse`, those that are always there."""


async def test_a_child_that_ends_well_is_told_the_same_by_every_face(bench: SpawnBench) -> None:
    told: dict[str, Mapping[str, Any]] = {}
    async with open_faces(bench) as faces:
        for name, ask in faces.all().items():
            outcome = await ask(task="count the doves", timeout_ms=60_000, restart_policy="on_failure")
            assert outcome.code == "done", (name, outcome)
            told[name] = outcome.told

    for name, each in told.items():
        assert each.keys() >= FIELDS, name
    first = {field: told["box"][field] for field in FIELDS - {"agent_id"}}
    assert first == {
        "status": "completed",
        "exit_code": 0,
        "output": "four doves\n\nand a crow",
        "duration_ms": 2_000,
        "quota_info": {"tree_agents_remaining": 8, "depth_remaining": 1},
    }
    for name, each in told.items():
        assert {field: each[field] for field in first} == first, name
    assert len({each["agent_id"] for each in told.values()}) == 4
    assert {each["tree_id"] for each in told.values()} == {"tree-root"}
    assert {each["depth"] for each in told.values()} == {1}
    kept = await bench.desk.run(lambda tx: tx.all("SELECT restart_policy FROM spawns"))
    assert [row["restart_policy"] for row in kept] == ["on_failure"] * 4


Case = tuple[dict[str, Any], str, int]
"""What is asked for, the code, and the status over HTTP."""
REFUSALS: dict[str, tuple[dict[str, Any], list[Case]]] = {
    "words": (
        {},
        [
            ({"task": "  "}, "MISSING_TASK", 400),
            ({"timeout_ms": 0}, "INVALID_TIMEOUT", 400),
            ({"timeout_ms": 86_400_001}, "INVALID_TIMEOUT", 400),
            ({"workspace_path": "src"}, "INVALID_WORKSPACE", 400),
            ({"workspace_path": "/usr"}, "WORKSPACE_NOT_ALLOWED", 403),
            ({"wait": "sometimes"}, "INVALID_REQUEST", 400),
            ({"restart_policy": "sometimes"}, "INVALID_REQUEST", 400),
        ],
    ),
    "disabled": ({"enabled": False}, [({}, "SPAWN_DISABLED", 403)]),
    "too deep": ({"max_depth": 0}, [({}, "DEPTH_EXCEEDED", 403)]),
    "tree full": ({"max_agents_per_tree": 1}, [({}, "QUOTA_EXCEEDED", 403)]),
    "all full": ({"max_live": 1}, [({}, "LIMIT_EXCEEDED", 503)]),
}
"""By what stands in the way: the settings, and the cases."""
WITHOUT_TOKEN = {"disabled", "too deep"}
"""There an agent is given no token."""


@pytest.mark.parametrize("why", REFUSALS)
async def test_a_refusal_has_one_code_and_one_sentence_by_every_face(bench: SpawnBench, why: str) -> None:
    settings, cases = REFUSALS[why]
    bench.set(**settings)

    async with open_faces(bench) as faces:
        ways = faces.all()
        if why in WITHOUT_TOKEN:
            del ways["agent"]
        for given, code, status in cases:
            asked = {"task": "count the doves", **given}
            outcomes = {name: await ask(**asked) for name, ask in ways.items()}
            assert {name: each.code for name, each in outcomes.items()} == dict.fromkeys(ways, code), given
            check_refusals(outcomes, status)

    assert await bench.desk.run(lambda tx: tx.all("SELECT 1 FROM spawns")) == []


def _in_camel_case(sentence: object) -> str:
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), str(sentence))


def check_refusals(outcomes: Mapping[str, Outcome], status: int) -> None:
    """The same sentence by every face, in the shape of `SpawnErrorResponse` where it is HTTP.

    Each names a field as it is spelled there: in camelCase in a box.
    """
    sentence = _in_camel_case(outcomes["box"].told["error"])
    for name, each in outcomes.items():
        assert _in_camel_case(each.told["error"]).startswith(sentence), (name, each.told)
        assert each.told.get("quota_info") == outcomes["box"].told.get("quota_info"), name
        if name in {"agent", "http"}:
            assert each.status == status, name
            assert each.told.keys() - {"quota_info"} == {"error", "code"}, name
    is_of_tree = outcomes["box"].code in {"DEPTH_EXCEEDED", "QUOTA_EXCEEDED"}
    assert ("quota_info" in outcomes["box"].told) == is_of_tree


async def test_a_field_that_nobody_knows_is_refused_by_every_face_with_the_one_that_was_meant(
    bench: SpawnBench,
) -> None:
    asked = {"task": "count", "wait": "none", "time_out_ms": 1}
    file = {"type": "spawn_agent", "task": "count", "timeOutMs": 1}

    by_box = parse_request("agents", json.dumps(file).encode())
    async with open_faces(bench) as faces:
        outcomes = [await face(**asked) for face in (faces.agent, faces.http, faces.mcp)]

    assert isinstance(by_box, FileRefusal)
    assert by_box.code.value == "INVALID_REQUEST"
    assert "'timeOutMs' is not known (did you mean 'timeoutMs'?)." in by_box.message
    for each in outcomes:
        assert each.code == "INVALID_REQUEST"
        assert "'time_out_ms' is not known (did you mean 'timeout_ms'?)" in str(each.told["error"])
    assert await bench.desk.run(lambda tx: tx.all("SELECT 1 FROM spawns")) == []


async def test_every_field_has_two_spellings_and_each_is_taken_once(bench: SpawnBench) -> None:
    fields = {
        "task": "count",
        "writable_paths": ["out/"],
        "timeout_ms": 1_000,
        "wait": "none",
        "profile": "standard",
        "on_parent_exit": "stop",
        "restart_policy": "never",
        "permissions": {"canSpawn": False},
        "name": "counter",
        "idempotency_key": "k-1",
    }
    async with open_faces(bench) as faces:
        first = await faces.http(**fields)
        again = await faces.http(**{camel(name): value for name, value in fields.items()})
        twice = await faces.http(**fields, timeoutMs=2_000)

    assert (first.code, again.code) == ("done", "done")
    assert first.told["agent_id"] == again.told["agent_id"]
    assert twice.code == "INVALID_REQUEST"


async def test_one_key_is_one_child_for_each_caller_and_the_same_answer_again(bench: SpawnBench) -> None:
    async with open_faces(bench) as faces:
        asked = {"task": "count", "idempotency_key": "k-1", "timeout_ms": 60_000, "wait": "none"}
        first, again = await faces.agent(**asked), await faces.agent(**asked)
        outside = [await faces.http(**asked), await faces.mcp(**asked)]
        other = await faces.http(**{**asked, "task": "another"})

    assert first.told["agent_id"] == again.told["agent_id"]
    assert outside[0].told["agent_id"] == outside[1].told["agent_id"] != first.told["agent_id"]
    assert (other.status, other.code) == (400, "INVALID_REQUEST")


async def test_who_spawns_too_often_is_told_when_to_come_again_and_others_are_not(bench: SpawnBench) -> None:
    bench.set(per_minute=2)
    async with open_faces(bench) as faces:
        mine = [await faces.agent(task="count", wait="none") for _ in range(3)]
        other = await faces.http(task="count", wait="none")

    assert [each.code for each in mine] == ["done", "done", "RATE_LIMITED"]
    assert mine[2].status == 429
    assert mine[2].headers is not None
    assert 1 <= int(mine[2].headers["retry-after"]) <= 60
    assert other.code == "done"


async def test_what_one_face_began_the_others_show_and_stop(bench: SpawnBench) -> None:
    async with open_faces(bench) as faces:
        begun = await faces.http(task="count", wait="none", parent_agent_id=None)
        agent_id = AgentId(str(begun.told["agent_id"]))
        async with faces.tools() as tools:
            shown = (await tools.call_tool("get_agent_status", {"agent_id": agent_id})).structured_content
            stopped = (await tools.call_tool("terminate_agent", {"agent_id": agent_id})).structured_content
            again = (await tools.call_tool("terminate_agent", {"agent_id": agent_id})).structured_content
            absent = await tools.call_tool("terminate_agent", {"agent_id": "agent-nobody"})

    assert shown is not None
    assert [each["id"] for each in shown["agents"]] == [agent_id]
    assert stopped == {
        "success": True,
        "terminated": [agent_id],
        "failed": [],
        "skipped": [],
        "totalProcessed": 1,
        "outcomes": [{"agentId": agent_id, "outcome": "terminated", "wasStarted": False, "endedAs": None}],
    }
    assert again is not None
    assert (again["terminated"], again["skipped"]) == ([], [agent_id])
    assert absent.is_error
    assert absent.structured_content is not None
    assert absent.structured_content["code"] == "AGENT_NOT_FOUND"
