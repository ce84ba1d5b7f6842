"""Live events over a real WebSocket on the Unix socket. Source: agents.md section 1, seed document 000."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect, unix_connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol

from orchestrator.commands.setup.api_keys import add_api_key
from orchestrator.contracts.events import AgentLogged, AgentStarted, Event, TreeTerminated
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.paths import Paths
from orchestrator.settings.events import EventSettings
from orchestrator.store import event_log, trees
from tests.edges.api.conftest import UNIX_ONLY, Served, served_at

TREE, OTHER, ROOT = TreeId("tree-a"), TreeId("tree-b"), AgentId("agent-1")


@pytest.fixture
async def served(served: Served) -> Served:
    """With two trees in which nothing has happened yet."""
    await begin(served)
    return served


async def begin(served: Served) -> None:
    """Let the two trees be there."""
    at = served.services.clock.now()
    for tree in (TREE, OTHER):
        await served.services.db.run(lambda tx, tree=tree: trees.add(tx, tree, ROOT, at=at))  # type: ignore[misc]  # a lambda


def line(text: str, tree: TreeId = TREE) -> AgentLogged:
    return AgentLogged(agent_id=ROOT, tree_id=tree, depth=0, message=text)


async def happen(served: Served, *events: Event) -> None:
    """Let these things have happened."""
    at = served.services.clock.now()
    for event in events:
        tree = getattr(event, "tree_id", None)
        await served.services.db.run(lambda tx, e=event, t=tree: event_log.append(tx, t, e, at))  # type: ignore[misc]  # a lambda


def opened(served: Served, path: str = "/ws", token: str | None = None) -> connect:
    """A connection of the operator, or of whoever has `token`."""
    headers = {"Authorization": f"Bearer {token or served.token}"}
    uri = f"ws://localhost{path}"
    return unix_connect(str(served.paths.socket), uri, additional_headers=headers, proxy=None)


async def ask(socket: ClientConnection, **message: object) -> None:
    await socket.send(json.dumps(message))


async def hear(socket: ClientConnection) -> Mapping[str, Any]:
    plain: Mapping[str, Any] = json.loads(await socket.recv())
    return plain


async def subscribed(socket: ClientConnection, **message: object) -> list[Mapping[str, Any]]:
    """Subscribe; what came before it was confirmed."""
    await ask(socket, type="subscribe", **message)
    before: list[Mapping[str, Any]] = []
    while (heard := await hear(socket))["type"] != "subscribed":
        before.append(heard)
    return before


async def test_a_subscriber_of_a_tree_gets_its_events_flat_as_they_happen_and_no_others(
    served: Served,
) -> None:
    async with opened(served) as socket:
        await subscribed(socket, treeId=TREE)

        started = AgentStarted(agent_id=ROOT, tree_id=TREE, depth=0, task="look", workspace_path="/w")
        await happen(served, line("elsewhere", OTHER), started)
        heard = dict(await hear(socket))

    timestamp, cursor = heard.pop("timestamp"), heard.pop("cursor")
    assert timestamp.endswith("Z")
    assert len(timestamp) == len("2026-01-15T10:30:00.000Z")
    assert cursor == 2
    assert heard == {
        "type": "agent.started",
        "agentId": "agent-1",
        "treeId": "tree-a",
        "depth": 0,
        "task": "look",
        "workspacePath": "/w",
        "seq": 1,
        "class": "agent",
    }


async def test_a_subscriber_of_all_trees_gets_every_event_once_at_the_documents_address(
    served: Served,
) -> None:
    async with opened(served, "/") as socket:
        await subscribed(socket, treeId="*")
        await subscribed(socket, treeId=TREE)

        await happen(served, line("one"), line("two", OTHER), line("three"))
        heard = [(await hear(socket))["message"] for _ in range(3)]

    assert heard == ["one", "two", "three"]


async def test_who_unsubscribes_hears_no_more_of_that_tree(served: Served) -> None:
    async with opened(served) as socket:
        await subscribed(socket, treeId=TREE)
        await subscribed(socket, treeId=OTHER)
        await ask(socket, type="unsubscribe", treeId=TREE)
        assert (await hear(socket))["type"] == "unsubscribed"

        await happen(served, line("one"), line("two", OTHER))

        assert (await hear(socket))["message"] == "two"


async def test_fp16_the_events_of_a_tree_are_read_after_its_end(served: Served) -> None:
    await happen(served, line("one"), TreeTerminated(tree_id=TREE, root_agent_id=ROOT, total_agents=1))

    async with opened(served) as socket:
        await ask(socket, type="getBufferedEvents", treeId=TREE)
        heard = await hear(socket)

    assert (heard["type"], heard["treeId"]) == ("bufferedEvents", TREE)
    assert [each["type"] for each in heard["events"]] == ["agent.log", "tree.terminated"]


async def test_who_comes_back_with_a_number_gets_what_he_missed_and_goes_on_live(served: Served) -> None:
    await happen(served, line("one"), line("two"), line("three"))

    async with opened(served) as socket:
        missed = await subscribed(socket, treeId=TREE, since=1)
        await happen(served, line("four"))
        live = await hear(socket)

    assert [each["seq"] for each in (*missed, live)] == [2, 3, 4]


async def test_who_comes_back_to_all_trees_goes_on_behind_his_cursor(served: Served) -> None:
    await happen(served, line("one"), line("two", OTHER), line("three"))

    async with opened(served) as socket:
        missed = await subscribed(socket, treeId="*", since=1)
        await happen(served, line("four", OTHER))
        live = await hear(socket)

    assert [each["message"] for each in (*missed, live)] == ["two", "three", "four"]


async def test_a_message_that_is_off_gets_an_error_and_the_next_one_is_answered(served: Served) -> None:
    off = (
        "no json",
        "[]",
        '{"type": "shout"}',
        '{"type": "subscribe"}',
        '{"type": "subscribe", "treeId": "*", "since": -1}',
        '{"type": "subscribe", "treeId": "*", "since": true}',
        '{"type": "getBufferedEvents", "treeId": "*"}',
        '{"type": "subscribe", "treeId": "*", "snice": 1}',
        b"{}",
    )
    async with opened(served) as socket:
        for message in off:
            await socket.send(message)
            heard = await hear(socket)
            assert (heard["type"], heard["code"]) == ("error", "INVALID_REQUEST"), message

        assert await subscribed(socket, treeId=TREE) == []


async def closing_code(socket: ClientConnection) -> int | None:
    """Listen until the connection is ended by the other side; why it was."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            await socket.recv()
    return socket.close_code


async def test_attack_a_huge_message_ends_the_connection(served: Served) -> None:
    async with opened(served) as socket:
        await socket.send("x" * 100_000)

        # Closed with the rest of it unread, the system may take back the reason on its way.
        assert await closing_code(socket) in (1009, 1006)


async def test_attack_a_flood_of_messages_ends_the_connection(served: Served) -> None:
    async with opened(served) as socket:
        with contextlib.suppress(ConnectionClosed):
            for _ in range(1_000):
                await ask(socket, type="subscribe", treeId=TREE)

        assert await closing_code(socket) == 1008


def denied(refusal: InvalidStatus) -> tuple[int, str]:
    """Status and code of a handshake that was refused with words for whoever opened it."""
    error = json.loads(refusal.response.body)["error"]
    assert error["message"]
    return refusal.response.status_code, error["code"]


async def test_attack_without_a_good_credential_there_are_no_events(served: Served) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}):
        with pytest.raises(InvalidStatus) as caught:
            await unix_connect(
                str(served.paths.socket), "ws://localhost/ws", additional_headers=headers, proxy=None
            )

        assert denied(caught.value) == (401, "UNAUTHORIZED")


async def test_a_client_that_is_refused_is_no_error_of_ours(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    spawner = await add_api_key(served.services, "spawner", ["spawn"])

    for token in ("dvk_wrong", str(spawner["key"])):
        with pytest.raises(InvalidStatus):
            await opened(served, token=token)

    assert [each.message for each in caplog.records if each.levelname == "ERROR"] == []


async def test_a_reader_too_many_is_told_so_and_what_to_do(tmp_path: Path) -> None:
    paths = Paths(home=tmp_path)
    paths.ensure()
    settings = UNIX_ONLY.model_copy(update={"events": EventSettings(max_readers=1)})
    async with served_at(paths, settings) as served, opened(served):
        with pytest.raises(InvalidStatus) as caught:
            await opened(served)

    assert denied(caught.value) == (422, "LIMIT_EXCEEDED")
    assert "max_readers" in json.loads(caught.value.response.body)["error"]["suggestion"]


async def test_attack_a_page_of_another_site_opens_no_websocket_even_with_the_token(served: Served) -> None:
    connection = unix_connect(
        str(served.paths.socket),
        "ws://localhost/ws",
        origin=Origin("http://evil.example"),
        subprotocols=[Subprotocol("bearer"), Subprotocol(served.token)],
        proxy=None,
    )

    with pytest.raises(InvalidStatus) as caught:
        await connection

    assert denied(caught.value) == (403, "FORBIDDEN")


async def test_a_page_which_can_set_no_header_names_its_token_as_a_subprotocol(served: Served) -> None:
    connection = unix_connect(
        str(served.paths.socket),
        "ws://localhost/ws",
        subprotocols=[Subprotocol("bearer"), Subprotocol(served.token)],
        proxy=None,
    )
    async with connection as socket:
        assert socket.subprotocol == "bearer"
        assert await subscribed(socket, treeId="*") == []


async def test_a_key_without_the_right_to_read_gets_no_events_and_one_with_it_does(served: Served) -> None:
    spawner = await add_api_key(served.services, "spawner", ["spawn"])
    reader = await add_api_key(served.services, "reader", ["read"])

    with pytest.raises(InvalidStatus) as caught:
        await opened(served, token=str(spawner["key"]))
    assert denied(caught.value) == (403, "FORBIDDEN")
    async with opened(served, token=str(reader["key"])) as socket:
        assert await subscribed(socket, treeId="*") == []


async def test_a_tree_that_is_not_there_is_not_watched_but_refused_by_name(served: Served) -> None:
    async with opened(served) as socket:
        for kind in ("subscribe", "getBufferedEvents"):
            await ask(socket, type=kind, treeId="tree-nobody")
            heard = await hear(socket)

            assert (heard["type"], heard["code"]) == ("error", "NOT_FOUND")
            assert heard["error"] == "There is no tree 'tree-nobody'."
            assert "dovecote agent tree" in heard["suggestion"]
        assert await subscribed(socket, treeId=TREE) == []
    async with served.client() as client:
        page = await client.get("/api/v1/events?tree=tree-nobody")

    assert page.status_code == 404
