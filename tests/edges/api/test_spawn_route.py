"""`POST /api/v1/spawn` as seed 000 has it: each code with its status and shape; what a leak is good for."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import structlog.testing

from orchestrator.api.agent_face import AgentFace
from orchestrator.commands.agents.tokens import prepare_token_dir, renew_tokens
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.egress import AgentCall
from orchestrator.contracts.records.rights import Rights
from orchestrator.engine.event_feed import EventFeed
from orchestrator.settings.api import ApiSettings
from orchestrator.settings.tree import Settings
from orchestrator.store import agents, trees
from tests.agreement.spawn_faces.faces import TOKEN, Faces, open_faces
from tests.edges.commands.spawn_bench import SpawnBench
from tests.support.eventually import eventually

ASKED = {"task": "count the doves", "wait": "none"}


async def post(
    socket: Path, body: object = None, *, token: str | None = TOKEN, content: bytes | None = None
) -> httpx.Response:
    """What comes back. content: instead of a body of JSON."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    transport = httpx.AsyncHTTPTransport(uds=str(socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://dovecote", timeout=30) as client:
        if content is not None:
            return await client.post("/api/v1/spawn", content=content, headers=headers)
        return await client.post("/api/v1/spawn", json=ASKED if body is None else body, headers=headers)


def shape(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of a refusal that has the fields of `SpawnErrorResponse` and no others."""
    told = answer.json()
    assert told.keys() - {"quota_info"} == {"error", "code"}
    assert isinstance(told["error"], str)
    assert told["error"]
    if "quota_info" in told:
        assert told["quota_info"].keys() == {"tree_agents_remaining", "depth_remaining"}
    return answer.status_code, told["code"]


async def test_a_refusal_names_a_field_as_it_was_sent(faces: Faces) -> None:
    bodies: list[tuple[dict[str, object], str]] = [
        ({"timeout_ms": 0}, "timeout_ms is 0"),
        ({"timeoutMs": 0}, "timeoutMs is 0"),
        ({"timeout_ms": 0.5}, "timeout_ms is"),
        ({"writable_paths": 5}, "wrong field: writable_paths:"),
        ({"writablePaths": 5}, "wrong field: writablePaths:"),
        ({"on_parent_exit": "x"}, "Set on_parent_exit right"),
        ({"idempotency_key": ""}, "idempotency_key is not"),
    ]
    for body, words in bodies:
        told = (await post(faces.socket, {"task": "count the doves", **body})).json()["error"]

        assert words in told


async def test_a_refusal_is_kept_in_the_words_that_its_caller_used(faces: Faces, bench: SpawnBench) -> None:
    for name in ("timeout_ms", "timeoutMs"):
        told = (await post(faces.socket, {"task": "count the doves", name: 0})).json()["error"]

        (kept,) = await bench.desk.run(lambda tx: tx.all("SELECT message FROM refused_spawns"))
        assert kept["message"].startswith(f"{name} is 0")
        assert kept["message"].startswith(told)


async def test_what_no_operator_is_asked_for_is_refused_in_the_callers_words_too(
    faces: Faces, bench: SpawnBench
) -> None:
    await bench.desk.run(lambda tx: agents.set_rights(tx, bench.root.agent_id, Rights.MEMBER))
    wish = {"task": "count the doves", "workspace_path": "/srv/elsewhere", "timeout_ms": 0}

    told = (await post(faces.egress_socket, wish, token=faces.token)).json()["error"]

    assert told.startswith("timeout_ms is 0")


async def test_an_agent_that_is_queued_is_said_to_be_pending(faces: Faces) -> None:
    told = (await post(faces.socket)).json()

    assert (told["status"], told["lifecycle"]) == ("running", "pending")


async def test_fp8_a_body_that_is_none_has_the_code_of_its_fault(faces: Faces) -> None:
    bodies: list[tuple[bytes, str]] = [
        (b"", "INVALID_REQUEST"),
        (b"not json", "INVALID_REQUEST"),
        (b"[]", "INVALID_REQUEST"),
        (b'"task"', "INVALID_REQUEST"),
        (b"\xff\xfe", "INVALID_REQUEST"),
        (b'{"task": "a", "task": "b"}', "INVALID_REQUEST"),
        (b'{"task": 5}', "INVALID_REQUEST"),
        (b'{"task": "x", "writable_paths": "src"}', "INVALID_REQUEST"),
        (b'{"task": "x", "parent_agent_id": 5}', "INVALID_REQUEST"),
        (b"{}", "MISSING_TASK"),
        (b'{"task": null}', "MISSING_TASK"),
        (b'{"task": "", "timeout_ms": 0}', "MISSING_TASK"),
        (b'{"task": "x", "timeout_ms": "5"}', "INVALID_TIMEOUT"),
        (b'{"task": "x", "timeout_ms": true}', "INVALID_TIMEOUT"),
        (b'{"task": "x", "timeout_ms": 1.5}', "INVALID_TIMEOUT"),
        (b'{"task": "x", "workspace_path": 5}', "INVALID_WORKSPACE"),
        (b'{"task": "x", "workspace_path": "src"}', "INVALID_WORKSPACE"),
    ]
    for content, code in bodies:
        outside = await post(faces.socket, content=content)
        inside = await post(faces.egress_socket, content=content, token=faces.token)
        assert shape(outside) == shape(inside) == (400, code), content


async def test_a_body_that_is_too_long_is_refused_before_anything_is_looked_at(faces: Faces) -> None:
    long = b'{"task": "' + b"x" * 1_100_000 + b'"}'

    outside = await post(faces.socket, content=long)
    inside = await post(faces.egress_socket, content=long, token=faces.token)

    assert (outside.status_code, inside.status_code) == (413, 413)


async def test_fp8_each_code_of_a_credential_has_its_status_and_shape(
    faces: Faces, bench: SpawnBench
) -> None:
    desk, token = bench.desk, faces.token
    found = {
        "no header": shape(await post(faces.socket, token=None)),
        "no header inside": shape(await post(faces.egress_socket, token=None)),
        "stranger": shape(await post(faces.socket, token="wrong")),
        "no token": shape(await post(faces.egress_socket, token="wrong")),
        "changed": shape(
            await post(faces.egress_socket, token=token[:-1] + ("0" if token[-1] != "0" else "1"))
        ),
        "the operator's own": shape(await post(faces.egress_socket, token=TOKEN)),
    }
    desk.clock.advance(3_600)
    found["expired"] = shape(await post(faces.egress_socket, token=token))
    await renew_tokens(desk.services)
    fresh = (desk.services.paths.tokens / bench.root.agent_id / "session").read_text("ascii")
    found["renewed"] = ((await post(faces.egress_socket, token=fresh)).status_code, "")
    root = bench.root.agent_id
    await desk.run(lambda tx: agents.move(tx, root, was=AgentStatus.RUNNING, now=AgentStatus.STOPPING))
    found["stopping"] = shape(await post(faces.egress_socket, token=fresh))
    await desk.run(lambda tx: trees.end(tx, bench.root.tree_id, at=desk.now))
    found["tree over"] = shape(await post(faces.egress_socket, token=fresh))

    assert found == {
        "no header": (401, "UNAUTHORIZED"),
        "no header inside": (401, "UNAUTHORIZED"),
        "stranger": (401, "UNAUTHORIZED"),
        "no token": (401, "TOKEN_INVALID"),
        "changed": (401, "TOKEN_INVALID"),
        "the operator's own": (401, "TOKEN_INVALID"),
        "expired": (401, "TOKEN_EXPIRED"),
        "renewed": (200, ""),
        "stopping": (401, "TOKEN_PARENT_INVALID"),
        "tree over": (401, "TOKEN_TREE_INVALID"),
    }


async def test_a_parent_that_is_none_or_has_ended_is_told_to_a_good_caller(
    faces: Faces, bench: SpawnBench
) -> None:
    child = await bench.started()
    await bench.end(child.agent_id)

    absent = await post(faces.socket, {**ASKED, "parent_agent_id": "agent-nobody"})
    ended = await post(faces.socket, {**ASKED, "parent_agent_id": child.agent_id})
    inside = await post(faces.egress_socket, {**ASKED, "parent_agent_id": child.agent_id}, token=faces.token)

    assert shape(absent) == (403, "PARENT_NOT_FOUND")
    assert shape(ended) == shape(inside) == (403, "PARENT_NOT_RUNNING")


async def test_a_fault_of_ours_is_told_as_one_and_as_no_more(faces: Faces, bench: SpawnBench) -> None:
    await bench.desk.run(lambda tx: tx.execute("ALTER TABLE spawns RENAME TO gone"))

    with structlog.testing.capture_logs() as logged:
        outside = await post(faces.socket)
        inside = await post(faces.egress_socket, token=faces.token)

    assert {each["event"] for each in logged} >= {"api.failed", "api.agent_call_failed"}
    assert shape(outside) == shape(inside) == (500, "INTERNAL_ERROR")
    assert "spawns" not in outside.text + inside.text


async def test_fp10_a_caller_who_hangs_up_loses_nothing(faces: Faces, bench: SpawnBench) -> None:
    key = {"task": "count", "timeout_ms": 600_000, "idempotency_key": "k"}
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(post(faces.egress_socket, key, token=faces.token))
        await eventually_reserved(bench)
        asking.cancel()
    await no_wait_is_left(bench)
    (agent_id,) = await reserved(bench)
    await faces.end(agent_id)

    again = (await post(faces.egress_socket, key, token=faces.token)).json()

    assert (again["agent_id"], again["output"]) == (agent_id, "four doves\n\nand a crow")
    replies = await bench.desk.run(lambda tx: tx.all("SELECT agent_id FROM spawns WHERE reply_state = 1"))
    assert [row["agent_id"] for row in replies] == [agent_id]


async def test_a_caller_stays_until_the_child_has_ended_and_waits_in_everybodys_sight(
    faces: Faces, bench: SpawnBench
) -> None:
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(post(faces.egress_socket, {"task": "count"}, token=faces.token))
        await eventually_reserved(bench)
        (agent_id,) = await reserved(bench)
        await eventually_waiting(bench, agent_id)
        assert not asking.done()
        await faces.end(agent_id)
        told = (await asking).json()

    assert (told["status"], told["exit_code"]) == ("completed", 0)
    await no_wait_is_left(bench)


async def test_fp11_attack_a_leaked_token_is_good_for_nothing_outside_of_its_own_socket(
    faces: Faces, bench: SpawnBench
) -> None:
    sibling = await bench.started()
    directory = await prepare_token_dir(bench.desk.services, sibling.agent_id, None)
    assert directory is not None
    leaked = (directory / "session").read_text("ascii")

    by_sibling = await post(faces.egress_socket, token=leaked)
    outside = await post(faces.socket, token=leaked)
    parent = await post(faces.egress_socket, {**ASKED, "parent_agent_id": "agent-other"}, token=faces.token)

    assert shape(by_sibling) == (401, "TOKEN_INVALID")
    assert shape(outside) == (401, "UNAUTHORIZED")
    assert shape(parent) == (403, "PARENT_NOT_FOUND")
    kinds = [kind for kind, _ in await bench.logged(bench.root.tree_id)]
    assert kinds[-1] == "token.validation_failed"


async def test_attack_an_agent_that_tries_tokens_without_end_is_slowed_and_fills_no_log(
    bench: SpawnBench,
) -> None:
    bench.desk.set_settings(Settings(api=ApiSettings(refusals_per_minute=3)))
    async with open_faces(bench) as faces:
        answers = [await post(faces.egress_socket, token="wrong") for _ in range(5)]
        good = await post(faces.egress_socket, token=faces.token)

    statuses = [each.status_code for each in answers]
    assert statuses == [401] * 3 + [429] * 2
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert good.status_code == 429
    rows = await bench.desk.run(
        lambda tx: tx.all("SELECT 1 FROM event_log WHERE type = 'token.validation_failed'")
    )
    assert len(rows) == 3


async def test_fp8_attack_who_tries_tokens_without_end_shuts_out_nobody_else(bench: SpawnBench) -> None:
    bench.desk.set_settings(Settings(api=ApiSettings(refusals_per_minute=3)))
    services, sibling = bench.desk.services, await bench.started()
    directory = await prepare_token_dir(services, sibling.agent_id, None)
    assert directory is not None
    good = (directory / "session").read_text("ascii")
    face = AgentFace(services, await EventFeed.open(services))

    async def status(agent_id: AgentId, token: str) -> int:
        body = json.dumps(ASKED).encode()
        call = AgentCall(agent_id=agent_id, method="POST", authorization=f"Bearer {token}", body=body)
        return (await face.answer(call)).status

    tried = [await status(bench.root.agent_id, "wrong") for _ in range(4)]

    assert tried == [401, 401, 401, 429]
    assert await status(sibling.agent_id, good) == 200


async def test_only_post_is_answered_at_an_agents_own_socket_and_no_other_route(faces: Faces) -> None:
    transport = httpx.AsyncHTTPTransport(uds=str(faces.egress_socket))
    headers = {"Authorization": f"Bearer {faces.token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://dovecote", headers=headers) as client:
        got = await client.get("/api/v1/spawn")
        others = [
            (await client.get(path)).status_code
            for path in ("/api/v1/agents", "/api/v1/groups", "/api/health", "/api/v1/spawn/", "/mcp/spawn")
        ]

    assert (got.status_code, got.json()["code"]) == (400, "INVALID_REQUEST")
    assert others == [403] * 5


async def test_a_programs_key_reaches_what_it_started_and_nothing_else(
    faces: Faces, bench: SpawnBench
) -> None:
    keys: dict[str, str] = {}
    async with client_of(faces) as operator:
        for name, scopes in (("a", ["spawn", "stop"]), ("b", ["spawn", "stop"]), ("c", ["read"])):
            made = await operator.post("/api/v1/api-keys", json={"name": name, "scopes": scopes})
            keys[name] = made.json()["key"]
    mine = (await post(faces.socket, token=keys["a"])).json()["agent_id"]
    await bench.run_it(AgentId(mine))

    found: dict[str, Any] = {}
    for name, key in keys.items():
        async with client_of(faces, key) as client:
            listed = [each["id"] for each in (await client.get("/api/v1/agents")).json()["agents"]]
            found[name] = (
                sorted(listed),
                (await client.get(f"/api/v1/agents/{mine}")).status_code,
                (await post(faces.socket, {**ASKED, "parent_agent_id": mine}, token=key)).status_code,
                (
                    await post(faces.socket, {**ASKED, "parent_agent_id": bench.root.agent_id}, token=key)
                ).status_code,
                (await client.post(f"/api/v1/agents/{bench.root.agent_id}/stop")).status_code,
            )
    async with client_of(faces, keys["b"]) as client:
        found["b stops"] = (await client.post(f"/api/v1/agents/{mine}/stop")).status_code
    async with client_of(faces, keys["a"]) as client:
        found["a stops"] = (await client.post(f"/api/v1/agents/{mine}/stop")).status_code

    child = [each for each in found["c"][0] if each not in (mine, bench.root.agent_id)]
    assert len(child) == 1
    assert found == {
        "a": ([mine], 200, 200, 403, 404),
        "b": ([], 404, 403, 403, 404),
        "c": (sorted([mine, bench.root.agent_id, *child]), 200, 403, 403, 403),
        "b stops": 404,
        "a stops": 200,
    }


@contextlib.asynccontextmanager
async def client_of(faces: Faces, token: str = TOKEN) -> AsyncIterator[httpx.AsyncClient]:
    """A program outside."""
    transport = httpx.AsyncHTTPTransport(uds=str(faces.socket))
    headers: Mapping[str, str] = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://dovecote", headers=headers) as each:
        yield each


async def reserved(bench: SpawnBench) -> list[AgentId]:
    """The agents that wait for their place to run."""
    rows = await bench.desk.run(lambda tx: tx.all("SELECT agent_id FROM agents WHERE status = 'pending'"))
    return [AgentId(row["agent_id"]) for row in rows]


async def eventually_reserved(bench: SpawnBench) -> None:
    """Wait until one is."""
    await until(lambda: reserved(bench), bool)


async def eventually_waiting(bench: SpawnBench, agent_id: AgentId) -> None:
    """Wait until the family's agent is held for it."""
    await until(lambda: waits(bench), lambda held: [row["awaited"] for row in held] == [agent_id])


async def no_wait_is_left(bench: SpawnBench) -> None:
    """Wait until nobody is held for anybody."""
    await until(lambda: waits(bench), lambda held: not held)


async def until(look: Callable[[], Awaitable[list[Any]]], is_so: Callable[[list[Any]], bool]) -> None:
    """Wait until what is seen is so."""

    async def is_so_now() -> bool:
        return is_so(await look())

    await eventually(is_so_now)


async def waits(bench: SpawnBench) -> list[Any]:
    """Who is held for whom."""
    return await bench.desk.run(lambda tx: tx.all("SELECT waiter, awaited FROM waits"))
