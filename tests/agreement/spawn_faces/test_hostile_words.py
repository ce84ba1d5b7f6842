"""Words that no caller means well: refused by each face with a code, and nobody is started by them."""

import json
from typing import Any, Final

import httpx
import pytest

from orchestrator.ipc.parse import FileRefusal, parse_request
from tests.agreement.spawn_faces.faces import TOKEN, Faces, open_faces
from tests.edges.commands.spawn_bench import SpawnBench

REFUSED: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "ten thousand writable paths": ({"writable_paths": ["x/"] * 10_000}, "INVALID_WORKSPACE"),
    "a path of dots": ({"writable_paths": ["a/../../b"]}, "INVALID_WORKSPACE"),
    "the whole workspace": ({"writable_paths": ["/workspace/group/"]}, "INVALID_WORKSPACE"),
    "another place of the container": ({"writable_paths": ["/workspace/ipc/agents/"]}, "INVALID_WORKSPACE"),
    "a path with a zero": ({"writable_paths": ["a\0b"]}, "INVALID_WORKSPACE"),
    "its own box": ({"workspace_path": "/workspace/ipc"}, "WORKSPACE_NOT_ALLOWED"),
    "the session home": ({"workspace_path": "/home/agent"}, "WORKSPACE_NOT_ALLOWED"),
    "a longer time than there is": ({"timeout_ms": 2**62}, "INVALID_TIMEOUT"),
    "an empty key": ({"idempotency_key": ""}, "INVALID_REQUEST"),
    "a key of a kilobyte": ({"idempotency_key": "k" * 1_000}, "INVALID_REQUEST"),
    "a task that is too long": ({"task": "x" * 500_000}, "INVALID_REQUEST"),
}


async def test_words_that_cannot_be_meant_well_are_refused_by_every_face_with_one_code(
    bench: SpawnBench,
) -> None:
    async with open_faces(bench) as faces:
        for words, (given, code) in REFUSED.items():
            asked = {"task": "count", **given}
            found = {name: (await ask(**asked)).code for name, ask in faces.all().items()}
            assert found == dict.fromkeys(found, code), words

    assert await bench.desk.run(lambda tx: tx.all("SELECT 1 FROM spawns")) == []


@pytest.mark.parametrize("rights", [{"can_spawn": False}, {"canSpawn": "no"}, {"canSpawn": False, "x": True}])
async def test_a_right_that_is_not_understood_is_refused_and_not_passed_over(
    bench: SpawnBench, rights: dict[str, Any]
) -> None:
    body = {"type": "spawn_agent", "task": "count", "permissions": rights}
    by_box = parse_request("agents", json.dumps(body).encode())
    async with open_faces(bench) as faces:
        asked = {"task": "count", "permissions": rights}
        found = [(await ask(**asked)).code for ask in (faces.agent, faces.http, faces.mcp)]

    assert isinstance(by_box, FileRefusal)
    assert [by_box.code, *found] == ["INVALID_REQUEST"] * 4
    assert await bench.desk.run(lambda tx: tx.all("SELECT 1 FROM spawns")) == []


async def test_a_body_of_ten_megabytes_and_half_a_sign_are_no_fault_of_ours(bench: SpawnBench) -> None:
    long = b'{"task": "' + b"x" * 10_000_000 + b'"}'
    half = b'{"task": "half a sign: \\ud800", "wait": "none"}'
    async with open_faces(bench) as faces:
        spawn = [await answers(faces, "spawn", body) for body in (long, half)]
        tool = [await answers(faces, "mcp", body) for body in (long, half)]

    assert [status for status, _ in (*spawn, *tool)] == [413, 200, 413, 400]
    tasks = await bench.desk.run(lambda tx: tx.all("SELECT task FROM spawns"))
    assert [row["task"] for row in tasks] == ["half a sign: \ufffd"]


async def answers(faces: Faces, path: str, body: bytes) -> tuple[int, str]:
    """What comes back from a route, or from the tool that does the same."""
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    transport = httpx.AsyncHTTPTransport(uds=str(faces.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://dovecote", headers=headers) as client:
        if path == "spawn":
            told = await client.post("/api/v1/spawn", content=body, timeout=30)
        else:
            call = {"name": "spawn_docker_agent", "arguments": "HERE"}
            raw = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
            told = await client.post("/mcp/spawn", content=raw.replace(b'"HERE"', body), timeout=30)
    return told.status_code, told.text
