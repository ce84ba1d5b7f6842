"""The requests about tasks, and what they store. Source: contracts.md section 4 and 7."""

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import TaskStatus
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    ListTasks,
    PauseTask,
    UpdateTask,
)
from orchestrator.settings.tree import Settings, TaskSettings
from tests.edges.commands.conftest import Desk
from tests.edges.commands.task_askers import CLUB, NAMED, Asker, hourly, stored
from tests.edges.commands.task_askers import club as club
from tests.edges.commands.task_askers import family as family
from tests.edges.commands.task_askers import main as main
from tests.support.store_rows import CHAT


async def test_a_task_is_stored_for_the_callers_group_with_its_next_run(desk: Desk, family: Asker) -> None:
    view = await family.ask(hourly(title="Plants", context_mode="isolated", catch_up="skip", notify=False))

    task = await stored(desk, view["id"])
    assert (task.group, task.chat_jid, task.title, task.status) == ("family", CHAT, "Plants", "active")
    assert (task.context_mode, task.catch_up, task.notify) == ("isolated", "skip", False)
    assert task.next_run_at == desk.later(3600)
    assert task.rights is Rights.OPERATOR


async def test_d_d_what_was_just_scheduled_is_listed_and_what_was_just_cancelled_is_not(
    family: Asker,
) -> None:
    """Case D-d."""
    task_id = await family.schedule()
    shown = await family.ask(ListTasks())
    await family.ask(CancelTask(task_id=task_id))

    assert [each["id"] for each in shown["tasks"]] == [task_id]
    assert await family.ask(ListTasks()) == {"tasks": []}


async def test_a_group_has_so_many_tasks_and_no_more_until_one_is_cancelled(
    desk: Desk, family: Asker, club: Asker
) -> None:
    desk.set_settings(Settings(tasks=TaskSettings(max_per_group=3)))
    ids = [await family.schedule() for _ in range(3)]
    await family.ask(PauseTask(task_id=ids[0]))

    assert await family.ask(hourly()) == {"code": "LIMIT_EXCEEDED"}
    assert await club.schedule()
    await family.ask(CancelTask(task_id=ids[0]))
    assert await family.schedule()


def test_a_hundred_active_tasks_a_group_is_the_rule() -> None:
    assert Settings().tasks.max_per_group == 100


async def test_the_id_that_an_agent_of_1x_gave_its_task_names_it_in_its_own_group_only(
    desk: Desk, family: Asker, club: Asker, main: Asker
) -> None:
    mine = await family.schedule(task_id="task-17-abc")
    theirs = await club.schedule(task_id="task-17-abc")

    assert await family.ask(hourly(task_id="task-17-abc")) == {"code": "INVALID_REQUEST"}
    assert (await family.ask(PauseTask(task_id="task-17-abc")))["id"] == mine
    assert (await stored(desk, theirs)).status is TaskStatus.ACTIVE
    assert await main.ask(PauseTask(task_id="task-17-abc")) == {"code": "TASK_NOT_FOUND"}
    assert (await main.ask(PauseTask(task_id="task-17-abc", group_folder=CLUB)))["id"] == theirs


@pytest.mark.parametrize("name", ["", "../up", "a b", ".hidden", "x" * 129])
async def test_an_id_that_is_no_name_is_refused(family: Asker, name: str) -> None:
    assert await family.ask(hourly(task_id=name)) == {"code": "INVALID_REQUEST"}


async def test_an_update_changes_what_is_given_and_keeps_the_rest(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule(title="Plants", notify=False)
    before = await stored(desk, task_id)
    desk.clock.advance(600)

    await family.ask(UpdateTask(task_id=task_id, prompt="Feed the cat"))

    assert await stored(desk, task_id) == replace(before, prompt="Feed the cat")


async def test_a_refused_update_changes_nothing(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule()
    before = await stored(desk, task_id)

    for changes in ({"prompt": ""}, {"schedule_value": "1"}, {"timezone": "Mars/Base"}, {"catch_up": "x"}):
        answer = await family.ask(UpdateTask(task_id=task_id, title="New", **changes))  # type: ignore[arg-type]
        assert answer["code"] in ("INVALID_REQUEST", "INVALID_SCHEDULE")

    assert await stored(desk, task_id) == before


@pytest.mark.parametrize("request_type", NAMED)
async def test_a_task_that_is_not_there_is_said_so(family: Asker, request_type: Any) -> None:
    assert await family.ask(request_type(task_id="task-none")) == {"code": "TASK_NOT_FOUND"}


async def test_titles_and_prompts_are_cleaned(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule(prompt="Water\u202e the\x00 plants", title="Pla\nnts\x1b[31m")

    task = await stored(desk, task_id)
    assert task.prompt == "Water the plants"
    assert "\n" not in task.title
    assert "\x1b" not in task.title
