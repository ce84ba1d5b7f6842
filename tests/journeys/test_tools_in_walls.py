"""A client of the tools that runs where a model's program would: inside the walls, in an agent's turn."""

import json

import pytest

from orchestrator.contracts.records.launch import WORKSPACE_TARGET
from orchestrator.runners.catalog import RunnerOptions, make_runner
from tests.agreement.runners.conftest import WALLED, lacking
from tests.support.agent_image import IMAGE
from tests.support.home_on_disk import HomeOnDisk
from tests.support.model_runner import ModelRunner
from tests.support.spawned import agents_of, rule, scenario

# Knows only its environment, as a program of somebody else would.
CLIENT = """
import asyncio, json, os, sys
from pathlib import Path
sys.path.insert(0, os.environ["DOVECOTE_TOOLS"])
from mcp import Client, StdioServerParameters

server = StdioServerParameters(
    command=sys.executable, args=["-s", "-P", "-m", "container.mcp_server"], env=dict(os.environ)
)

async def main():
    told = {}
    async with Client(server) as client:
        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            told[name] = {"is_error": result.is_error, "content": result.structured_content}
        await call("send_message", text="from inside")
        await call("schedule_task", prompt="p", schedule_type="interval", schedule_value="3600000")
        await call("list_tasks")
        await call("cancel_task", task_id="task-none")
        await call("spawn_agent", task="say it", timeout_ms=60000)
    Path(os.environ["DOVECOTE_WORKSPACE"], "told.json").write_text(json.dumps(told))

asyncio.run(main())
"""


@pytest.mark.parametrize("kind", WALLED)
async def test_a_program_inside_the_walls_uses_the_tools(
    home: HomeOnDisk, kind: str, request: pytest.FixtureRequest
) -> None:
    if kind == "docker":
        request.getfixturevalue("docker_engine")
    await a_group_with_the_client(home)
    home.play(
        scenario(
            rule("work", {"run": ["python3", "-s", "-P", f"{WORKSPACE_TARGET}/client.py"]}, {"say": "done"}),
            rule("say it", {"say": "said"}),
        )
    )
    programs = home.path / "data" / "programs"
    real = make_runner(kind, RunnerOptions(image=IMAGE, programs_directory=programs))
    if (reason := await real.why_not()) is not None:
        await real.close()
        lacking(reason)

    async with home.running(runner=(ModelRunner(real), kind)):
        home.ask("work")
        await home.said("from inside", "done", within_s=100)

    told = json.loads((home.workspace() / "told.json").read_text())
    task = told["schedule_task"]["content"]
    assert not told["schedule_task"]["is_error"]
    assert [each["id"] for each in told["list_tasks"]["content"]["tasks"]] == [task["id"]]
    assert told["cancel_task"]["content"]["error"]["code"] == "TASK_NOT_FOUND"
    assert [row["task_id"] for row in home.rows("SELECT task_id FROM tasks")] == [task["id"]]
    (child,) = agents_of(home)
    spawned = told["spawn_agent"]["content"]
    assert (spawned["agent_id"], spawned["status"]) == (child["agent_id"], "completed")
    assert (spawned["output"], spawned["exit_code"]) == ("said", 0)


async def a_group_with_the_client(home: HomeOnDisk) -> None:
    """Its agent may have helpers, and the client lies in its workspace."""
    await home.add_group()
    client = home.workspace() / "client.py"
    client.write_text(CLIENT, encoding="utf-8")
    client.chmod(0o644)
    definition = home.opened().paths.groups / "kitchen" / "AGENT.md"
    definition.write_text("---\ntools: [chat, tasks, spawn]\n---\n", encoding="utf-8")
