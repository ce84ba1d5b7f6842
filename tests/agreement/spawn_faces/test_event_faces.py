"""Events over a WebSocket: an agent's by its own socket are the operator's, less what is not below it.

Source: agents.md section 1, seed document 000.
"""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from container.forwarder import forward, listen
from orchestrator.commands.agents.event_writing import note_said
from orchestrator.commands.agents.tokens import prepare_token_dir, revoke_tokens
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent
from tests.agreement.spawn_faces.faces import TOKEN, Faces, open_faces
from tests.edges.commands.spawn_bench import SpawnBench

UNAUTHORIZED, TOO_MANY = 401, 429
SOCKETS = 4
LOOKED_AT_S = 60
"""Longer than a credential counts as good without a look."""
UPGRADE = ("Connection: Upgrade", "Upgrade: websocket")


def opened(socket: Path, token: str, path: str = "/ws", **headers: str) -> connect:
    """A WebSocket of whoever has the token."""
    sent = {"Authorization": f"Bearer {token}", **headers}
    return unix_connect(str(socket), f"ws://localhost{path}", additional_headers=sent, proxy=None)


async def ask(socket: ClientConnection, **message: object) -> Mapping[str, Any]:
    await socket.send(json.dumps(message))
    return await hear(socket)


async def hear(socket: ClientConnection) -> Mapping[str, Any]:
    plain: Mapping[str, Any] = json.loads(await socket.recv())
    return plain


async def say(bench: SpawnBench, agent: Agent, text: str) -> None:
    await bench.desk.run(lambda tx: note_said(tx, agent, text, at=bench.desk.now))


async def other_tree(bench: SpawnBench) -> Agent:
    """An agent that the operator started."""
    answer = await bench.ask_as_operator("sing")
    return await bench.agent(AgentId(str(answer["agentId"])))


async def test_both_faces_tell_the_same_events_of_a_tree_in_the_same_words(bench: SpawnBench) -> None:
    child = await bench.started("count")
    async with open_faces(bench) as faces:
        told: list[list[Mapping[str, Any]]] = []
        for socket_path, token in ((faces.egress_socket, faces.token), (faces.socket, TOKEN)):
            async with opened(socket_path, token, "/") as socket:
                before = [await ask(socket, type="getBufferedEvents", treeId=bench.root.tree_id)]
                assert (await ask(socket, type="subscribe", treeId=bench.root.tree_id))[
                    "type"
                ] == "subscribed"
                await say(bench, child, "one")
                told.append([*before[0]["events"], await hear(socket)])

    of_agent, of_operator = told
    assert of_agent[-1]["message"] == "one"
    assert of_operator[: len(of_agent)] == of_agent


async def test_an_agent_follows_what_came_of_it_and_nothing_else(bench: SpawnBench) -> None:
    lead = await bench.started("lead")
    sister, stranger = await bench.started("sing"), await other_tree(bench)
    async with (
        open_faces(SpawnBench(bench.desk, lead)) as faces,
        opened(faces.egress_socket, faces.token) as socket,
    ):
        await ask(socket, type="subscribe", treeId="*")
        refused = await ask(socket, type="subscribe", treeId=stranger.tree_id)

        for agent in (sister, stranger, bench.root):
            await say(bench, agent, "not for you")
        await say(bench, lead, "mine")
        helper = await bench.agent(await bench.spawn("help", by=lead))
        await say(bench, helper, "the last")
        heard = [await hear(socket)]
        while heard[-1].get("message") != "the last":
            heard.append(await hear(socket))

    assert (refused["type"], refused["code"]) == ("error", "NOT_FOUND")
    assert {each["agentId"] for each in heard} == {lead.agent_id, helper.agent_id}
    assert "spawn.nested" in [each["type"] for each in heard]


async def test_an_agent_follows_events_through_the_forwarder_of_its_container(bench: SpawnBench) -> None:
    async with open_faces(bench) as faces, asyncio.TaskGroup() as tasks:
        listener = listen(0)
        uri = f"ws://127.0.0.1:{listener.getsockname()[1]}/ws"
        forwarding = tasks.create_task(forward(listener, faces.egress_socket))
        headers = {"Authorization": f"Bearer {faces.token}"}
        async with connect(uri, additional_headers=headers, proxy=None) as socket:
            await ask(socket, type="subscribe", treeId="*")
            await say(bench, bench.root, "one")
            heard = await hear(socket)
        forwarding.cancel()

    assert heard["message"] == "one"


async def test_attack_a_session_token_opens_nothing_on_our_listeners(bench: SpawnBench) -> None:
    async with open_faces(bench) as faces:
        with pytest.raises(InvalidStatus):
            async with opened(faces.socket, faces.token):
                pass


async def test_attack_the_token_of_another_agent_opens_nothing(bench: SpawnBench) -> None:
    child = await bench.started("count")
    async with open_faces(bench) as faces:
        directory = await prepare_token_dir(bench.desk.services, child.agent_id, None)
        assert directory is not None
        stolen = (directory / "session").read_text("ascii")
        for token in (stolen, TOKEN, "nonsense"):
            with pytest.raises(InvalidStatus) as refused:
                async with opened(faces.egress_socket, token):
                    pass
            assert refused.value.response.status_code == UNAUTHORIZED
        async with opened(faces.egress_socket, faces.token) as socket:
            assert (await ask(socket, type="subscribe", treeId="*"))["type"] == "subscribed"


async def test_attack_bad_tokens_do_not_keep_the_stream_of_a_revoked_one(bench: SpawnBench) -> None:
    async with open_faces(bench) as faces, opened(faces.egress_socket, faces.token) as socket:
        await ask(socket, type="subscribe", treeId="*")
        await bench.desk.run(lambda tx: revoke_tokens(tx, [bench.root.agent_id], at=bench.desk.now))
        bench.desk.clock.advance(LOOKED_AT_S)
        status = UNAUTHORIZED
        while status != TOO_MANY:
            with pytest.raises(InvalidStatus) as refused:
                async with opened(faces.egress_socket, "nonsense"):
                    pass
            status = refused.value.response.status_code
        await say(bench, bench.root, "a word")

        with pytest.raises(ConnectionClosed, match="not good any more"):
            await hear(socket)


async def test_attack_an_agent_holds_no_more_than_four_sockets(bench: SpawnBench) -> None:
    async with open_faces(bench) as faces, contextlib.AsyncExitStack() as stack:
        held = [
            await stack.enter_async_context(opened(faces.egress_socket, faces.token)) for _ in range(SOCKETS)
        ]
        with pytest.raises(InvalidStatus) as refused:
            await stack.enter_async_context(opened(faces.egress_socket, faces.token))

        assert refused.value.response.status_code == TOO_MANY
        assert (await ask(held[-1], type="subscribe", treeId="*"))["type"] == "subscribed"


async def test_messages_in_pieces_and_pings_are_understood_and_bytes_are_refused(bench: SpawnBench) -> None:
    async with open_faces(bench) as faces, opened(faces.egress_socket, faces.token) as socket:
        await socket.send(['{"type": "subscribe", ', '"treeId": "*"}'])
        assert (await hear(socket))["type"] == "subscribed"

        await (await socket.ping())
        await socket.send(b"\xff\xfe")
        refused = await hear(socket)

    assert (refused["type"], refused["code"]) == ("error", "INVALID_REQUEST")


async def test_attack_a_message_beyond_the_bound_ends_the_connection(bench: SpawnBench) -> None:
    async with open_faces(bench) as faces:
        async with opened(faces.egress_socket, faces.token) as socket:
            await socket.send("x" * 70_000)
            with pytest.raises(ConnectionClosed):
                await socket.recv()
        async with opened(faces.egress_socket, faces.token) as socket:
            assert (await ask(socket, type="subscribe", treeId="*"))["type"] == "subscribed"


async def test_what_is_no_handshake_is_refused(bench: SpawnBench) -> None:
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
    asks = (
        ["Sec-WebSocket-Version: 8", key],
        ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: short"],
        ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: ä"],
        ["Sec-WebSocket-Version: 13"],
        ["Sec-WebSocket-Version: 13", key, key],
    )
    async with open_faces(bench) as faces:
        answers = [await raw(faces, "GET /ws HTTP/1.1", "Host: x", *UPGRADE, *ask) for ask in asks]

    assert answers == [b"HTTP/1.1 400 \r\n"] * len(asks)


async def raw(faces: Faces, *lines: str) -> bytes:
    """The first line of the answer to a request that was written by hand."""
    reader, writer = await asyncio.open_unix_connection(str(faces.egress_socket))
    writer.write("\r\n".join([*lines, "", ""]).encode())
    answer = await reader.readline()
    writer.close()
    return answer
