"""The routes, asked over a real socket."""

import asyncio
import json
import re
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from orchestrator.api.chat_watch import chat_start
from orchestrator.api.render_errors import STATUS
from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.messages import OutboxStatus, SpooledFile, TextSource
from orchestrator.contracts.seams import Topic
from orchestrator.store import outbox, outbox_files
from orchestrator.store.group_folders import group_workspace
from orchestrator.store.transaction import Transaction
from tests.edges.api.conftest import MAIN, Served
from tests.support.listening import until_open

DAILY = {
    "groupFolder": "main",
    "prompt": "water the plants",
    "scheduleType": "cron",
    "scheduleValue": "0 9 * * *",
}
AT = datetime(2026, 1, 1, tzinfo=UTC)


async def put_text(served: Served, text: str, *, key: str, status: OutboxStatus = OutboxStatus.SENT) -> int:
    """A text in the outbox of the main chat, as the engine would leave it."""

    def body(tx: Transaction) -> int:
        (outbox_id,) = outbox.add(
            tx, chat_jid=MAIN, parts=[text], source=TextSource.PAIR, source_key=key, at=AT, status=status
        )
        tx.wake(Topic.CHAT_VIEW)
        return outbox_id

    return await served.services.db.run(body)


async def test_health_needs_no_token_and_says_the_version(served: Served) -> None:
    async with served.client(token="") as client:
        answer = await client.get("/api/health")

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "version": "0.1.0"}


async def test_every_other_route_needs_the_operators_token(served: Served) -> None:
    bearers = [b"", b"Bearer wrong", "Bearer ключ".encode(), b"Basic " + served.token.encode(), b"Bearer"]
    answers = {}

    async with served.client() as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
    routes = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    routes.remove(("GET", "/api/health"))
    async with served.client(token="") as client:
        for method, path in routes:
            for bearer in bearers:
                headers = {b"Authorization": bearer} if bearer else {}
                answer = await client.request(
                    method, re.sub(r"{\w+}", "x", path), headers=headers, content=b"not even json"
                )
                told = answer.json()
                # One route speaks as its document does.
                error = told if path == "/api/v1/spawn" else told["error"]
                answers[method, path, bearer] = (answer.status_code, error["code"])

    assert ("DELETE", "/api/v1/groups/{folder}") in routes
    assert {key: found for key, found in answers.items() if found != (401, "UNAUTHORIZED")} == {}


async def test_only_this_user_can_reach_the_socket_and_the_token(served: Served) -> None:
    assert stat.S_IMODE(served.paths.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(served.paths.operator_token.stat().st_mode) == 0o600


async def test_a_message_is_stored_when_the_post_is_answered_and_once_for_one_id(served: Served) -> None:
    path = f"/api/v1/chats/{MAIN}/messages"
    async with served.client() as client:
        first = await client.post(path, json={"text": "hello", "message_id": "m1"})
        again = await client.post(path, json={"text": "hello", "message_id": "m1"})
        other = await client.post(path, json={"text": "hello"})

    assert (first.status_code, first.json()) == (201, {"message_id": "m1"})
    assert again.json() == {"message_id": "m1"}
    assert other.json()["message_id"] != "m1"
    async with served.services.db.reader() as reader:
        rows = await reader.all("SELECT message_id FROM messages ORDER BY seq")
    assert [row["message_id"] for row in rows] == ["m1", other.json()["message_id"]]


async def test_files_of_the_operator_go_with_a_message_into_the_groups_inbox(
    served: Served, tmp_path: Path
) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"jpg")
    path = f"/api/v1/chats/{MAIN}/messages"
    async with served.client() as client:
        taken = await client.post(path, json={"files": [str(tmp_path / "photo.jpg")], "message_id": "m1"})
        again = await client.post(path, json={"files": [str(tmp_path / "photo.jpg")], "message_id": "m1"})
        absent = await client.post(path, json={"text": "look", "files": ["/nothing/there"]})
        relative = await client.post(path, json={"text": "look", "files": ["photo.jpg"]})
        empty = await client.post(path, json={"text": ""})

    assert [answer.status_code for answer in (taken, again, absent, relative, empty)] == [201, 201] + [
        400
    ] * 3
    workspace = group_workspace(served.paths.groups, GroupFolder("main"))
    assert [(each.name, each.read_bytes()) for each in (workspace / "inbox").iterdir()] == [
        ("photo.jpg", b"jpg")
    ]
    async with served.services.db.reader() as reader:
        [row] = await reader.all("SELECT text, attachments FROM messages")
    assert (row["text"], json.loads(row["attachments"])) == (
        "",
        [["photo.jpg", "image/jpeg", 3, "/workspace/group/inbox/photo.jpg"]],
    )


async def test_a_sent_file_is_shown_with_its_size_and_the_place_where_it_lies(served: Served) -> None:
    number = await put_text(served, "The figures.", key="a")
    file = SpooledFile(name="report.pdf", media_type="application/pdf", size_bytes=7, spool_name="x")
    await served.services.db.run(lambda tx: outbox_files.attach(tx, number, file))

    async with served.client() as client:
        [text] = (await client.get(f"/api/v1/chats/{MAIN}/texts?after=0")).json()["texts"]

    assert (text["text"], text["file"]) == (
        "The figures.",
        {
            "name": "report.pdf",
            "media_type": "application/pdf",
            "size_bytes": 7,
            "path": str(served.paths.console_file(number, "report.pdf")),
        },
    )


async def test_texts_come_in_order_from_the_place_that_was_asked_for(served: Served) -> None:
    first = await put_text(served, "one", key="a")
    second = await put_text(served, "two", key="b")
    await put_text(served, "waits", key="c", status=OutboxStatus.QUEUED)

    async with served.client() as client:
        now = (await client.get(f"/api/v1/chats/{MAIN}/now")).json()
        all_of_it = (await client.get(f"/api/v1/chats/{MAIN}/texts?after=0")).json()
        rest = (await client.get(f"/api/v1/chats/{MAIN}/texts?after={first}")).json()

    assert now["last_id"] == second
    assert [text["text"] for text in all_of_it["texts"]] == ["one", "two"]
    assert [text["id"] for text in rest["texts"]] == [second]
    assert (rest["last_id"], rest["outbox"], rest["is_quiet"]) == (second, 1, False)
    assert not rest["texts"][0]["is_notice"]


async def test_a_long_poll_is_answered_as_soon_as_a_text_is_sent(served: Served) -> None:
    async with served.client() as client, asyncio.TaskGroup() as tasks:
        seen = (await client.get(f"/api/v1/chats/{MAIN}/texts?after=0")).json()["version"]
        started = served.services.clock.monotonic()
        query = {"after": "0", "wait_s": "20", "seen": seen}
        waiting = tasks.create_task(client.get(f"/api/v1/chats/{MAIN}/texts", params=query, timeout=30))
        await asyncio.sleep(0.1)
        assert not waiting.done()

        await put_text(served, "here", key="a")
        news = (await waiting).json()

    assert [text["text"] for text in news["texts"]] == ["here"]
    assert served.services.clock.monotonic() - started < 15


async def test_a_long_poll_is_answered_when_the_assistant_begins_to_type(served: Served) -> None:
    async with served.client() as client, asyncio.TaskGroup() as tasks:
        seen = (await client.get(f"/api/v1/chats/{MAIN}/texts?after=0")).json()["version"]
        query = {"after": "0", "wait_s": "20", "seen": seen}
        waiting = tasks.create_task(client.get(f"/api/v1/chats/{MAIN}/texts", params=query, timeout=30))

        await served.console.set_typing(MAIN, is_typing=True)
        news = (await waiting).json()

    assert news["typing"] is True
    assert news["version"] != seen


async def test_a_long_poll_without_news_ends_with_the_state_as_it_is(served: Served) -> None:
    async with served.client() as client:
        first = (await client.get(f"/api/v1/chats/{MAIN}/texts?after=0")).json()
        query = {"after": "0", "wait_s": "0.2", "seen": first["version"]}
        second = (await client.get(f"/api/v1/chats/{MAIN}/texts", params=query)).json()

    assert second == first
    assert second["is_quiet"]


async def test_groups_can_be_made_seen_changed_and_removed(served: Served) -> None:
    new = {"jid": "console:garden", "folder": "garden", "requires_trigger": False, "name": "Garden"}
    async with served.client() as client:
        made = await client.post("/api/v1/groups", json=new)
        changed = await client.patch("/api/v1/groups/garden", json={"timezone": "Asia/Tokyo"})
        shown = await client.get("/api/v1/groups/garden")
        listed = await client.get("/api/v1/groups")
        removed = await client.delete("/api/v1/groups/garden")
        gone = await client.get("/api/v1/groups/garden")

    assert made.status_code == 201
    assert made.json()["name"] == "Garden"
    assert changed.json()["timezone"] == "Asia/Tokyo"
    assert shown.json() == changed.json()
    assert [group["folder"] for group in listed.json()] == ["main", "garden"]
    assert removed.json()["folder"] == "garden"
    assert gone.status_code == 404
    assert (served.paths.groups / "garden" / "AGENT.md").is_file()


async def test_the_status_counts_what_waits(served: Served) -> None:
    async with served.client() as client:
        await client.post(f"/api/v1/chats/{MAIN}/messages", json={"text": "hello"})
        await put_text(served, "waits", key="c", status=OutboxStatus.QUEUED)
        status = (await client.get("/api/v1/status")).json()

    assert (status["messages_waiting"], status["texts_waiting"]) == (1, 1)
    assert [group["folder"] for group in status["groups"]] == ["main"]
    assert status["live_agents"] == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/api/v1/groups", {"jid": "console:a"}, 400, "INVALID_REQUEST"),
        ("POST", "/api/v1/groups", {"jid": "console:a", "folder": "../x"}, 400, "INVALID_REQUEST"),
        ("POST", "/api/v1/groups", {"jid": "console:a", "folder": "a", "x": 1}, 400, "INVALID_REQUEST"),
        ("POST", "/api/v1/groups", {"jid": "console:main", "folder": "a"}, 409, "ALREADY_REGISTERED"),
        ("PATCH", "/api/v1/groups/main", {"colour": "red"}, 400, "INVALID_REQUEST"),
        ("PATCH", "/api/v1/groups/main", {"is_main": "yes"}, 400, "INVALID_REQUEST"),
        ("PATCH", "/api/v1/groups/main", [1], 400, "INVALID_REQUEST"),
        ("DELETE", "/api/v1/groups/none", None, 404, "NOT_FOUND"),
        ("POST", "/api/v1/chats/1203@g.us/messages", {"text": "x"}, 404, "NOT_FOUND"),
        ("POST", "/api/v1/chats/console:main/messages", {"text": ""}, 400, "INVALID_REQUEST"),
        ("POST", "/api/v1/chats/console:main/messages", {"text": " "}, 400, "INVALID_REQUEST"),
        (
            "POST",
            "/api/v1/chats/console:main/messages",
            {"text": "x", "message_id": "../x"},
            400,
            "INVALID_REQUEST",
        ),
        ("GET", "/api/v1/chats/console:main/texts", None, 400, "INVALID_REQUEST"),
        ("GET", "/api/v1/chats/console:main/texts?after=-1", None, 400, "INVALID_REQUEST"),
        ("GET", "/api/v1/chats/console:main/texts?after=0&wait_s=26", None, 400, "INVALID_REQUEST"),
        ("GET", "/api/v1/chats/console:main/texts?after=0&wait_s=nan", None, 400, "INVALID_REQUEST"),
        ("POST", "/api/v1/tasks", {"groupFolder": "main"}, 400, "INVALID_REQUEST"),
        ("POST", "/api/v1/tasks", {**DAILY, "colour": "red"}, 400, "INVALID_REQUEST"),
        ("POST", "/api/v1/tasks", {**DAILY, "scheduleValue": "61 * * * *"}, 400, "INVALID_SCHEDULE"),
        ("POST", "/api/v1/tasks", {**DAILY, "groupFolder": "none"}, 404, "NOT_REGISTERED"),
        ("GET", "/api/v1/tasks/none", None, 404, "TASK_NOT_FOUND"),
        ("GET", "/api/v1/tasks/none/runs", None, 404, "TASK_NOT_FOUND"),
        ("PATCH", "/api/v1/tasks/none", {"title": "x"}, 404, "TASK_NOT_FOUND"),
        ("POST", "/api/v1/tasks/none/pause", None, 404, "TASK_NOT_FOUND"),
        ("GET", "/api/v1/messages?count=0", None, 400, "INVALID_REQUEST"),
        ("GET", "/api/v1/errors?count=1001", None, 400, "INVALID_REQUEST"),
        ("GET", "/api/v1/nothing", None, 404, "NOT_FOUND"),
        ("PUT", "/api/v1/status", None, 405, "INVALID_REQUEST"),
    ],
)
async def test_what_is_wrong_is_answered_with_a_code_and_a_sentence(
    served: Served, method: str, path: str, body: Any, status: int, code: str
) -> None:
    async with served.client() as client:
        answer = await client.request(method, path, json=body)

    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert error["message"].endswith((".", "?"))


async def test_a_body_that_is_too_long_is_refused_announced_or_not(served: Served) -> None:
    async def chunks() -> Any:
        for _ in range(20):
            yield b'{"text":"' + b"x" * 100_000

    path = f"/api/v1/chats/{MAIN}/messages"
    async with served.client() as client:
        announced = await client.post(path, content=b"x" * 1_100_000)
    async with served.client() as client:
        streamed = await client.post(path, content=chunks())
    async with served.client() as client:
        after = await client.get("/api/health")

    assert (announced.status_code, streamed.status_code) == (413, 413)
    assert announced.json()["error"]["code"] == "LIMIT_EXCEEDED"
    assert after.status_code == 200


async def test_the_longest_text_that_is_allowed_is_taken(served: Served) -> None:
    async with served.client() as client:
        answer = await client.post(f"/api/v1/chats/{MAIN}/messages", json={"text": "x" * 512 * 1024})

    assert answer.status_code == 201


async def test_what_a_crash_left_at_the_sockets_place_is_replaced_and_nothing_stays(served: Served) -> None:
    other = served.paths.run / "second.sock"
    other.write_text("left by a crash")
    second = type(served.server)(
        services=served.services,
        door=served.console,
        credentials=served.server._credentials,
        socket_path=other,
        live=served.server._live,
    )

    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(second.run())
        await until_open(other)
        serving.cancel()

    assert not other.exists()


async def test_a_stop_does_not_wait_for_a_long_poll(served: Served) -> None:
    other = served.paths.run / "second.sock"
    second = type(served.server)(
        services=served.services,
        door=served.console,
        credentials=served.server._credentials,
        socket_path=other,
        live=served.server._live,
    )
    started = served.services.clock.monotonic()

    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(second.run())
        await until_open(other)
        reader, writer = await asyncio.open_unix_connection(str(other))
        head = f"GET /api/v1/chats/{MAIN}/texts?after=0&wait_s=25&seen=0.0.0.0.0.0 HTTP/1.1\r\nHost: x\r\n"
        writer.write(f"{head}Authorization: Bearer {served.token}\r\n\r\n".encode())
        await writer.drain()
        await asyncio.sleep(0.2)
        serving.cancel()
        await asyncio.wait([serving])
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert served.services.clock.monotonic() - started < 20
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b'"NOT_RUNNING"' in answer


async def test_the_place_of_a_chat_says_how_the_assistant_is_called_there(served: Served) -> None:
    jid = Jid("console:garden")
    new = NewGroup(jid=jid, folder="garden", trigger="@Gardener", assistant_name="Gardener")
    await add_group(served.services, HostCaller(), new)

    main, garden = [await chat_start(served.services, served.console, each) for each in (MAIN, jid)]

    assert (garden.last_id, garden.last_seq) == (0, 0)
    assert (garden.trigger, garden.assistant_name) == ("@Gardener", "Gardener")
    assert (garden.requires_trigger, main.requires_trigger) == (True, False)


def test_every_error_code_has_its_status() -> None:
    assert set(STATUS) == set(ErrorCode)


async def test_what_people_write_is_news_for_every_terminal(served: Served) -> None:
    async with served.client() as client:
        await client.post(
            f"/api/v1/chats/{MAIN}/messages",
            json={"text": "hello", "message_id": "m1", "sender_name": "Ann"},
        )
        first = (await client.get(f"/api/v1/chats/{MAIN}/texts?after=0")).json()
        place = {"after": "0", "heard_seq": str(first["heard_seq"])}
        second = (await client.get(f"/api/v1/chats/{MAIN}/texts", params=place)).json()

    assert first["heard"] == [
        {"message_id": "m1", "sender_name": "Ann", "text": "hello", "is_context": False}
    ]
    assert second["heard"] == []


async def test_an_unregistered_chat_is_answered_with_the_command_that_registers_it(served: Served) -> None:
    async with served.client() as client:
        answer = await client.get("/api/v1/chats/console:nope/now")

    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (404, "NOT_REGISTERED")
    assert error["suggestion"] == "Register it: dovecote group add FOLDER --jid console:nope"
