"""A model's program, its tool server and the orchestrator: MCP by standard input, requests by the box."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from tests.support.home_on_disk import HomeOnDisk

WORKING = {
    "rules": [
        {
            "match": "work",
            "steps": [
                {"write_file": {"path": "begun", "text": ""}},
                {"wait_for_file": "go"},
                {"say": "done"},
            ],
        }
    ],
    "default": [{"say": "ran: {text}"}],
}
SERVER = ("-s", "-P", "-m", "container.mcp_server")


@asynccontextmanager
async def a_working_agent(
    home: HomeOnDisk, *, mode: Literal["legacy", "auto"] = "auto"
) -> AsyncIterator[Client]:
    """The orchestrator, an agent of the kitchen in its turn, and a client of that agent's tools."""
    await home.add_group()
    home.play(WORKING)
    async with home.running():
        home.ask("work")
        await home.begun()
        async with Client(server(home), mode=mode) as client:
            yield client
        (home.workspace() / "go").touch()


def server(home: HomeOnDisk) -> StdioServerParameters:
    """How a driver starts the server, in the places that the process runner gives."""
    return StdioServerParameters(
        command=sys.executable,
        args=list(SERVER),
        env={
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TZ": "Europe/Berlin",
            "DOVECOTE_BOX": str(home.opened().paths.ipc / "kitchen"),
            "DOVECOTE_CHAT": "file:kitchen",
            "DOVECOTE_WORKSPACE": str(home.workspace()),
        },
        cwd=str(home.workspace()),
    )


async def call(client: Client, name: str, **arguments: object) -> CallToolResult:
    result = await client.call_tool(name, dict(arguments))
    assert isinstance(result, CallToolResult)
    return result


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


async def done(client: Client, name: str, **arguments: object) -> Mapping[str, Any]:
    """The structured answer of a call that has to succeed."""
    result = await call(client, name, **arguments)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refused(client: Client, name: str, **arguments: object) -> Mapping[str, Any]:
    """The error of a call that has to fail."""
    result = await call(client, name, **arguments)
    assert result.is_error
    assert isinstance(result.structured_content, dict)
    error = result.structured_content["error"]
    assert text_of(result).startswith(f"{error['code']}: {error['message']}")
    return dict(error)


async def a_task(client: Client, **changed: object) -> str:
    call = {"prompt": "water the plants", "schedule_type": "cron", "schedule_value": "0 9 * * 1-5"}
    return str((await done(client, "schedule_task", **(call | changed)))["id"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_any_age_finds_the_tools(home: HomeOnDisk, mode: Literal["legacy", "auto"]) -> None:
    async with a_working_agent(home, mode=mode) as client:
        listed = await client.list_tools()
        about = client.instructions

    names = [tool.name for tool in listed.tools]
    assert names[:3] == ["send_message", "send_file", "schedule_task"]
    assert set(names) >= {"update_task", "pause_task", "resume_task", "cancel_task", "run_task"}
    reading = {tool.name for tool in listed.tools if tool.annotations and tool.annotations.read_only_hint}
    assert reading == {"list_tasks"}
    assert about is not None
    assert "Europe/Berlin" in about


async def test_a_message_of_a_tool_is_in_the_chat_before_the_turns_answer(home: HomeOnDisk) -> None:
    async with a_working_agent(home) as client:
        assert await done(client, "send_message", text="half way") == {"status": "queued"}
        (home.workspace() / "go").touch()
        await home.said("half way", "done")


async def test_a_file_of_a_tool_is_in_the_chat_with_its_caption_before_the_turns_answer(
    home: HomeOnDisk,
) -> None:
    async with a_working_agent(home) as client:
        (home.workspace() / "out").mkdir()
        (home.workspace() / "out" / "report.pdf").write_bytes(b"figures")
        assert await done(client, "send_file", path="out/report.pdf", caption="November") == {
            "status": "queued"
        }
        await done(client, "send_file", path=str(home.workspace() / "out" / "report.pdf"))
        await done(client, "send_file", path="/workspace/group/out/report.pdf")
        (home.workspace() / "go").touch()
        await home.said("November", "", "", "done")

    sent = [home.file_of(line) for line in home.sends()]
    assert sent == [("report.pdf", "application/pdf", b"figures")] * 3 + [None]


async def test_a_file_that_is_not_sent_is_a_tool_error_that_says_what_to_do(home: HomeOnDisk) -> None:
    async with a_working_agent(home) as client:
        (home.workspace() / "link").symlink_to("/etc/hostname")
        absent = await refused(client, "send_file", path="absent.pdf")
        outside = await refused(client, "send_file", path="/etc/hostname")
        link = await refused(client, "send_file", path="link")
        directory = await refused(client, "send_file", path=".")
        nothing = await refused(client, "send_file", caption="look")

    errors = (absent, outside, link, directory)
    assert [error["code"] for error in errors] == ["ATTACHMENT_REFUSED"] * 4
    assert all(error["suggestion"] for error in errors)
    assert "is not there" in absent["message"]
    assert "symbolic link" in link["message"]
    assert nothing["code"] == "INVALID_REQUEST"
    assert all(home.file_of(line) is None for line in home.sends())


async def test_a_task_is_scheduled_listed_changed_paused_resumed_and_cancelled(home: HomeOnDisk) -> None:
    async with a_working_agent(home) as client:
        task = await a_task(client)
        [listed] = (await done(client, "list_tasks"))["tasks"]
        changed = await done(client, "update_task", task_id=task, prompt="feed cat", timezone="Asia/Tokyo")
        paused = await done(client, "pause_task", task_id=task)
        resumed = await done(client, "resume_task", task_id=task)
        ended = await call(client, "cancel_task", task_id=task)
        left = await done(client, "list_tasks")

    assert (listed["id"], listed["prompt"], listed["contextMode"]) == (task, "water the plants", "group")
    assert (changed["prompt"], changed["timezone"]) == ("feed cat", "Asia/Tokyo")
    assert changed["scheduleValue"] == "0 9 * * 1-5"
    assert changed["nextRun"].endswith("T09:00:00+09:00")
    assert (paused["status"], resumed["status"]) == ("paused", "active")
    assert text_of(ended) == f"{task} is cancelled and will not run again."
    assert left == {"tasks": []}


async def test_a_task_that_is_run_now_speaks_in_the_chat(home: HomeOnDisk) -> None:
    async with a_working_agent(home) as client:
        task = await a_task(client, context_mode="isolated")
        run = await done(client, "run_task", task_id=task)
        assert run["taskId"] == task
        await home.said("ran: water the plants")


async def test_a_refusal_of_the_orchestrator_keeps_its_code_and_suggestion(home: HomeOnDisk) -> None:
    async with a_working_agent(home) as client:
        absent = await refused(client, "pause_task", task_id="task-none")
        past = await refused(
            client, "schedule_task", prompt="p", schedule_type="once", schedule_value="2020-01-01T09:00"
        )
        empty = await refused(client, "send_message", text=" ")
        lists = await done(client, "list_tasks")

    assert (absent["code"], "list_tasks" in absent["suggestion"]) == ("TASK_NOT_FOUND", True)
    assert (past["code"], "run_task" in past["suggestion"]) == ("INVALID_SCHEDULE", True)
    assert past["details"]["value"] == "2020-01-01T09:00"
    assert empty["code"] == "INVALID_REQUEST"
    assert lists == {"tasks": []}


async def test_a_call_that_makes_no_sense_is_refused_before_anything_is_asked(home: HomeOnDisk) -> None:
    async with a_working_agent(home) as client:
        wrong = [
            await refused(client, "send_message", text="hi", chat_jid="file:attic"),
            await refused(client, "schedule_task", prompt="p", schedule_type="daily", schedule_value="9"),
            await refused(client, "send_email", to="ada"),
        ]
        (home.workspace() / "go").touch()
        await home.said("done")

    assert [error["code"] for error in wrong] == ["INVALID_REQUEST", "INVALID_REQUEST", "NOT_FOUND"]
    assert "cron, interval, once" in wrong[1]["suggestion"]


async def test_many_calls_at_once_are_each_answered(home: HomeOnDisk) -> None:
    async with a_working_agent(home) as client:
        async with asyncio.TaskGroup() as asking:
            calls = [asking.create_task(a_task(client, prompt=f"p{n}")) for n in range(20)]
        listed = (await done(client, "list_tasks"))["tasks"]

    assert {made.result() for made in calls} == {task["id"] for task in listed}
    assert len(listed) == 20
