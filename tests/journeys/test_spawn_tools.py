"""A model starts, watches and stops agents: by MCP, in the shapes of seed 000. agents.md section 1, P1–P5."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.spawned import agents_of, ended, rule, running, scenario

SERVER = ("-s", "-P", "-m", "container.mcp_server")
WORKS_ON = ({"write_file": {"path": "begun", "text": ""}}, {"wait_for_file": "go"}, {"say": "done"})
LONG = rule("long", {"wait_for_file": "help"}, {"say": "helped"})


@asynccontextmanager
async def a_model(home: HomeOnDisk, **settings: object) -> AsyncIterator[Client]:
    """A client of the tools `spawn` of an agent in its turn, whose children do as their task says."""
    home.set(shutdown_grace_s=0, **settings)
    await home.add_group()
    home.play(
        scenario(
            rule("work", *WORKS_ON),
            LONG,
            rule("write", {"write_file": {"path": "out/a.txt", "text": "a"}}, {"say": "one"}, {"say": "two"}),
            rule("break", {"say": "half"}, {"exit": 3}),
        )
    )
    async with home.running():
        home.ask("work")
        await home.begun()
        async with Client(server(home)) as client:
            yield client
        (home.workspace() / "go").touch()
        await home.said("done")


def server(home: HomeOnDisk) -> StdioServerParameters:
    """As a driver starts it, in the places that the process runner gives."""
    environment = {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "DOVECOTE_BOX": str(home.opened().paths.ipc / "kitchen"),
        "DOVECOTE_CHAT": "file:kitchen",
        "DOVECOTE_TOOLSETS": "chat,spawn",
        "DOVECOTE_WORKSPACE": str(home.workspace()),
    }
    return StdioServerParameters(
        command=sys.executable, args=list(SERVER), env=environment, cwd=str(home.workspace())
    )


def content(result: CallToolResult) -> dict[str, Any]:
    """What the tool answered, which was no error."""
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def error(result: CallToolResult) -> dict[str, Any]:
    """Why the tool was refused."""
    assert result.is_error
    assert isinstance(result.structured_content, dict)
    told: dict[str, Any] = result.structured_content["error"]
    assert isinstance(result.content[0], TextContent)
    assert result.content[0].text.startswith(f"{told['code']}: ")
    return told


async def test_a_spawn_waits_for_its_result_and_has_the_fields_of_the_source_document(
    home: HomeOnDisk,
) -> None:
    async with a_model(home) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        good = content(
            await client.call_tool(
                "spawn_agent", {"task": "write", "writable_paths": ["out/"], "timeout_ms": 60_000}
            )
        )
        broken = content(await client.call_tool("spawn_agent", {"task": "break"}))
        late = content(await client.call_tool("spawn_agent", {"task": "long", "timeout_ms": 1}))

    assert set(tools) == {
        *("send_message", "send_file"),
        *("spawn_agent", "get_agent_status", "terminate_agent", "report_progress"),
    }
    assert good["agent_id"] == agents_of(home, task="write")[0]["agent_id"]
    assert {key: good[key] for key in ("status", "exit_code", "output", "files_modified")} == {
        "status": "completed",
        "exit_code": 0,
        "output": "one\n\ntwo",
        "files_modified": ["out/a.txt"],
    }
    assert isinstance(good["duration_ms"], int)
    assert good["quota_info"] == {"tree_agents_remaining": 8, "depth_remaining": 1}
    assert "error" not in good
    assert (broken["status"], broken["exit_code"], broken["output"]) == ("failed", 3, "half")
    assert broken["error"]
    assert (late["status"], late["exit_code"]) == ("timeout", None)


async def test_a_call_that_is_cut_off_ends_the_wait_and_not_the_agent(home: HomeOnDisk) -> None:
    async with a_model(home) as client:
        async with asyncio.TaskGroup() as calls:
            call = calls.create_task(client.call_tool("spawn_agent", {"task": "long"}))
            (agent_id,) = await running(home, "long")
            call.cancel()
        (home.workspace() / "help").touch()
        await ended(home, "long")
        told = content(await client.call_tool("get_agent_status", {"agent_id": agent_id}))

    assert call.cancelled()
    (agent,) = told["agents"]
    assert (agent["id"], agent["status"], agent["output"]) == (agent_id, "completed", "helped")
    assert (agent["nestingDepth"], agent["childAgentIds"], agent["exitCode"]) == (1, [], 0)


async def test_an_agent_that_nobody_waits_for_is_seen_and_stopped(home: HomeOnDisk) -> None:
    async with a_model(home) as client:
        begun = content(await client.call_tool("spawn_agent", {"task": "long", "wait": "ready"}))
        at_work = content(await client.call_tool("spawn_agent", {"task": "long too", "wait": "none"}))
        await running(home, "long too")
        seen = content(await client.call_tool("get_agent_status"))["agents"]
        stop = content(await client.call_tool("terminate_agent", {"agent_id": begun["agent_id"]}))
        again = content(await client.call_tool("terminate_agent", {"agent_id": begun["agent_id"]}))
        (stopped,) = agents_of(home, task="long")
        (root,) = (each["id"] for each in seen if each["parentAgentId"] is None)
        itself = error(await client.call_tool("terminate_agent", {"agent_id": root}))
        (home.workspace() / "help").touch()
        await ended(home, "long too")

    assert (begun["status"], at_work["status"], at_work["output"]) == ("running", "running", "")
    assert {each["id"]: each["status"] for each in seen} == {
        root: "running",
        begun["agent_id"]: "running",
        at_work["agent_id"]: "running",
    }
    assert stop == {
        "success": True,
        "terminated": [begun["agent_id"]],
        "failed": [],
        "skipped": [],
        "totalProcessed": 1,
    }
    assert stopped["status"] == "terminated"
    assert (again["success"], again["terminated"], again["skipped"]) == (True, [], [begun["agent_id"]])
    assert itself["code"] == "INVALID_REQUEST"


async def test_progress_is_an_event_of_the_agents_tree(home: HomeOnDisk) -> None:
    async with a_model(home) as client:
        told = content(
            await client.call_tool("report_progress", {"progress": 40, "description": "4 of 10 files"})
        )
        beyond = error(await client.call_tool("report_progress", {"progress": 101}))

        def events() -> list[dict[str, Any]]:
            rows = home.rows("SELECT body FROM event_log WHERE type = 'agent.progress'")
            return [json.loads(row["body"]) for row in rows]

        await eventually(lambda: len(events()) == 1)

    assert told == {"progress": 40}
    assert beyond["code"] == "INVALID_REQUEST"
    assert (events()[0]["progress"], events()[0]["description"]) == (40, "4 of 10 files")


async def test_a_refusal_has_its_code_and_says_what_the_source_document_says(home: HomeOnDisk) -> None:
    refused: dict[str, tuple[dict[str, object], str]] = {
        "WORKSPACE_NOT_ALLOWED": ({"workspace_path": "/srv/elsewhere"}, "Workspace not allowed. "),
        "INVALID_TIMEOUT": ({"timeout_ms": 0}, "timeoutMs is 0"),
        "MISSING_TASK": ({"task": " "}, "A spawn without a task"),
        "QUOTA_EXCEEDED": ({}, "Tree agent limit exceeded. "),
    }

    async with a_model(home, spawn__max_agents_per_tree=1) as client:
        told = {
            code: error(await client.call_tool("spawn_agent", {"task": "write", **call}))
            for code, (call, _) in refused.items()
        }

    assert [each["code"] for each in told.values()] == list(refused)
    assert all(told[code]["message"].startswith(text) for code, (_, text) in refused.items())
    assert all(each["suggestion"] for each in told.values())
    assert told["QUOTA_EXCEEDED"]["details"]["quota_info"] == {
        "tree_agents_remaining": 0,
        "depth_remaining": 1,
    }
    assert agents_of(home) == []
