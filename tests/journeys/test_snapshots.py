"""The snapshots in the box of a running agent: fresh at its start, and after each change.

Source: contracts.md section 4.
"""

import json
from typing import Any

from orchestrator.commands.groups.groups import NewGroup, add_group
from orchestrator.commands.operator_requests import ask_as_operator
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.wire.task_requests import CancelTask, ScheduleTask
from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk

_COPY = 'cp "$DOVECOTE_BOX"/current_tasks.json "$DOVECOTE_BOX"/available_groups.json . && touch copied'
COPIES_AND_WAITS = {
    "default": [{"run": ["sh", "-c", _COPY]}, {"wait_for_file": "go"}, {"say": "done"}],
}


def bins(group: str = "kitchen") -> ScheduleTask:
    """The bins, every Monday."""
    return ScheduleTask(
        prompt="bins", schedule_type="cron", schedule_value="0 9 * * 1", group_folder=GroupFolder(group)
    )


def in_box(home: HomeOnDisk, name: str, folder: str = "kitchen") -> Any:
    """What a snapshot in the box says now."""
    return json.loads((home.path / "data" / "ipc" / folder / name).read_text())


async def test_an_agent_finds_its_tasks_and_groups_in_its_box_when_it_starts(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(COPIES_AND_WAITS)
    (home.workspace() / "go").touch()

    async with home.running() as app:
        await ask_as_operator(app.services, bins())
        await ask_as_operator(app.services, bins("main"))
        home.ask("hello")
        await home.said("done")

    tasks = json.loads((home.workspace() / "current_tasks.json").read_text())
    groups = json.loads((home.workspace() / "available_groups.json").read_text())
    assert [(task["groupFolder"], task["prompt"]) for task in tasks] == [("kitchen", "bins")]
    assert [group["folder"] for group in groups["groups"]] == ["kitchen"]


async def test_a_running_agents_snapshots_follow_each_change(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(COPIES_AND_WAITS)

    async with home.running() as app:
        home.ask("hello")
        await eventually((home.workspace() / "copied").exists, what=home.story)
        before = in_box(home, "current_tasks.json")
        task = await ask_as_operator(app.services, bins())
        await eventually(lambda: [each["id"] for each in in_box(home, "current_tasks.json")] == [task["id"]])
        await ask_as_operator(app.services, CancelTask(task_id=str(task["id"])))
        await eventually(lambda: in_box(home, "current_tasks.json") == [])
        (home.workspace() / "go").touch()
        await home.said("done")

    assert before == []


async def test_the_main_agent_sees_a_group_that_was_registered_while_it_ran(home: HomeOnDisk) -> None:
    home.play(COPIES_AND_WAITS, "main")

    async with home.running() as app:
        await app.console.receive(Jid("console:main"), "hello")
        await eventually((home.workspace("main") / "copied").exists, what=home.story)
        await add_group(app.services, OperatorCaller(), NewGroup(jid=Jid("file:club"), folder="club"))

        def folders() -> list[str]:
            return [each["folder"] for each in in_box(home, "available_groups.json", "main")["groups"]]

        await eventually(lambda: "club" in folders())
        (home.workspace("main") / "go").touch()
        await home.quiet()
