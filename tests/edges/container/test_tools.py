"""The tools over a real box, when nobody answers in time."""

import json
import shutil

import pytest

from container.tools import ALL_TOOLS, TOOLSETS, ToolBelt
from orchestrator.contracts.ids import Jid
from tests.edges.container.agent_process import Home

EXAMPLES = {
    name: {key: given.example for key, given in tool.inputs.items()} for name, tool in ALL_TOOLS.items()
}


def belt(home: Home) -> ToolBelt:
    return ToolBelt(box=home.box, chat=Jid("1@g.us"), toolsets=tuple(TOOLSETS), reply_wait_s=0.05)


@pytest.mark.parametrize("name", [name for name, tool in ALL_TOOLS.items() if not tool.only_reads])
async def test_no_answer_in_time_is_an_error_that_leaves_the_outcome_open(home: Home, name: str) -> None:
    answer = await belt(home).call(name, EXAMPLES[name])

    tool = ALL_TOOLS[name]
    assert answer.is_error
    assert answer.text.startswith("TIMEOUT: ")
    assert "is unknown" in answer.text
    assert answer.text.endswith(tool.doubt)
    [request] = home.requests(tool.request.directory)  # type: ignore[attr-defined]  # of every request
    assert json.loads(request.read_text())["type"] == tool.request.type_name  # type: ignore[attr-defined]


async def test_without_an_answer_the_tasks_are_those_last_written_down_and_it_is_said(home: Home) -> None:
    task = {"id": "task-1", "status": "active", "title": "Bins", "nextRun": None}
    (home.box / "current_tasks.json").write_text(json.dumps([task]))

    answer = await belt(home).call("list_tasks", {})

    assert not answer.is_error
    assert answer.content == {"tasks": [task], "isSnapshot": True}
    assert answer.text.startswith(
        "The orchestrator does not answer; this is how it last wrote them down. Tasks: 1."
    )
    assert "- task-1 (active): Bins;" in answer.text
    assert answer.text.endswith("next none")


async def test_of_a_long_prompt_a_list_shows_the_beginning(home: Home) -> None:
    tasks = [{"id": "a", "prompt": "x" * 1_000}, {"id": "b", "prompt": "y" * 32_000}]
    (home.box / "current_tasks.json").write_text(json.dumps(tasks))

    answer = await belt(home).call("list_tasks", {})

    assert answer.content["tasks"] == [tasks[0], {"id": "b", "prompt": "y" * 1_000 + "…"}]


@pytest.mark.parametrize("content", [None, "{", "{}"], ids=["absent", "broken", "not a list"])
async def test_without_an_answer_and_a_good_snapshot_the_list_is_an_error(
    home: Home, content: str | None
) -> None:
    if content is not None:
        (home.box / "current_tasks.json").write_text(content)

    answer = await belt(home).call("list_tasks", {})

    assert answer.is_error
    assert "TIMEOUT: No answer to list_tasks within 0.05 s. It changes nothing" in answer.text


async def test_a_box_that_takes_no_file_is_an_error_with_its_code(home: Home) -> None:
    shutil.rmtree(home.box / "tasks")

    answer = await belt(home).call("pause_task", {"task_id": "task-1"})

    assert answer.is_error
    error = answer.content["error"]
    assert isinstance(error, dict)
    assert error["code"] == "STORE_UNAVAILABLE"
