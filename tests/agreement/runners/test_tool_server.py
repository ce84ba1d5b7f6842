"""A client and the tool server inside each runner's walls, with what the runner laid out for them."""

import json
from pathlib import Path

import pytest

from orchestrator.runners.catalog import DescribedRunner, RunnerOptions, make_runner
from tests.agreement.runners.conftest import KINDS, lacking
from tests.agreement.runners.stage import Stage, run
from tests.support.agent_image import IMAGE

# Played by the Python inside: it knows only the environment that the plan gives it.
CLIENT = """
import asyncio, json, os, sys
sys.path.insert(0, os.environ["DOVECOTE_TOOLS"])
from mcp import Client, StdioServerParameters
from pathlib import Path

sys.stdin.readline()
server = StdioServerParameters(
    command=sys.executable, args=["-s", "-P", "-m", "container.mcp_server"], env=dict(os.environ)
)

async def answer(box):
    while not (found := [each for each in box.joinpath("tasks").iterdir() if each.suffix == ".json"]):
        await asyncio.sleep(0.02)
    return json.loads(found[0].read_text())

async def main():
    async with Client(server) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        asking = asyncio.ensure_future(client.call_tool("pause_task", {"task_id": "task-1"}))
        asked = await answer(Path(os.environ["DOVECOTE_BOX"]))
        asking.cancel()
        print(json.dumps([names, asked]))

asyncio.run(main())
"""


@pytest.mark.parametrize("kind", KINDS)
async def test_a_client_inside_finds_the_tools_and_what_it_calls_lies_in_the_box(
    kind: str, programs: Path, stage: Stage, request: pytest.FixtureRequest
) -> None:
    if kind == "docker" and (reason := request.getfixturevalue("agent_image")) is not None:
        lacking(reason)
    runner: DescribedRunner = make_runner(
        kind, RunnerOptions(image=IMAGE, programs_directory=programs, allow_unisolated=True)
    )
    try:
        if (reason := await runner.why_not()) is not None:
            lacking(reason)
        plan = stage.plan(CLIENT, runs_model_commands=True)

        ran = await run(runner, plan)
    finally:
        await runner.close()

    assert ran.status.code == 0, ran.log.decode()
    names, asked = json.loads(ran.output)
    assert names[0] == "send_message"
    assert (asked["type"], asked["taskId"]) == ("pause_task", "task-1")
    [lies] = [path for path in (stage.places.box / "tasks").iterdir() if path.suffix == ".json"]
    assert json.loads(lies.read_text()) == asked
