"""Who may ask for which task. Source: contracts.md section 4."""

import json
from typing import Any

import pytest

from orchestrator.commands.groups.snapshots import box_snapshots
from orchestrator.commands.tasks.task_records import show_task
from orchestrator.contracts.ids import GroupFolder, Jid, TaskId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.task_requests import (
    ListTasks,
    PauseTask,
    ResumeTask,
    UpdateTask,
)
from tests.edges.commands.conftest import Desk
from tests.edges.commands.task_askers import CLUB, NAMED, Asker, hourly, runs, stored
from tests.edges.commands.task_askers import club as club
from tests.edges.commands.task_askers import family as family
from tests.edges.commands.task_askers import main as main
from tests.support.store_rows import CHAT, OTHER_CHAT


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        pytest.param({"group_folder": CLUB}, "FORBIDDEN", id="another group"),
        pytest.param({"group_folder": GroupFolder("nobody")}, "FORBIDDEN", id="no group"),
        pytest.param({"chat_jid": OTHER_CHAT}, "FORBIDDEN", id="another chat"),
        pytest.param({"chat_jid": Jid("nobody@g.us")}, "FORBIDDEN", id="no chat"),
        pytest.param({"chat_jid": CHAT}, None, id="own chat"),
        pytest.param({"group_folder": GroupFolder("family")}, None, id="own group"),
    ],
)
async def test_an_agent_schedules_for_its_own_group_only(
    family: Asker, club: Asker, fields: dict[str, Any], code: str | None
) -> None:
    assert (await family.ask(hourly(**fields))).get("code") == code
    assert (await club.ask(ListTasks())) == {"tasks": []}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"group_folder": CLUB}, id="by its folder"),
        pytest.param({"chat_jid": OTHER_CHAT}, id="by its chat, as agents of 1.x do"),
        pytest.param({"group_folder": CLUB, "chat_jid": OTHER_CHAT}, id="by both"),
    ],
)
async def test_main_schedules_for_any_group(main: Asker, club: Asker, fields: dict[str, Any]) -> None:
    task_id = await main.schedule(**fields)

    task = await stored(main.desk, task_id)
    assert (task.group, task.chat_jid) == (CLUB, OTHER_CHAT)
    assert [each["id"] for each in (await club.ask(ListTasks()))["tasks"]] == [task_id]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"group_folder": GroupFolder("nobody")}, "NOT_REGISTERED"),
        ({"chat_jid": Jid("nobody@g.us")}, "NOT_REGISTERED"),
        ({"group_folder": CLUB, "chat_jid": CHAT}, "INVALID_REQUEST"),
    ],
)
async def test_f15_a_task_speaks_in_its_own_groups_chat_and_no_other(
    main: Asker, club: Asker, fields: dict[str, Any], code: str
) -> None:
    """Case F15."""
    assert await main.ask(hourly(**fields)) == {"code": code}


@pytest.mark.parametrize("request_type", NAMED)
async def test_a_task_of_another_group_looks_to_an_agent_like_none(
    desk: Desk, family: Asker, club: Asker, request_type: Any
) -> None:
    task_id = await club.schedule()
    before = await stored(desk, task_id)

    plain = await family.refused(request_type(task_id=task_id))
    pretending = await family.refused(request_type(task_id=task_id, group_folder=GroupFolder("family")))
    absent = await family.refused(request_type(task_id="task-none"))
    naming = await family.refused(request_type(task_id=task_id, group_folder=CLUB))
    naming_absent = await family.refused(request_type(task_id="task-none", group_folder=CLUB))

    alike = {each.message.replace(task_id, "task-none") for each in (plain, pretending, absent)}
    assert [each.code for each in (plain, pretending, absent)] == ["TASK_NOT_FOUND"] * 3
    assert alike == {absent.message}
    assert (naming.code, naming) == ("FORBIDDEN", naming_absent)
    assert await stored(desk, task_id) == before
    assert await runs(desk, task_id) == []


@pytest.mark.parametrize("request_type", NAMED)
async def test_a_group_that_is_not_its_own_is_refused_even_with_its_own_task(
    desk: Desk, family: Asker, club: Asker, request_type: Any
) -> None:
    task_id = await family.schedule()

    assert await family.ask(request_type(task_id=task_id, group_folder=CLUB)) == {"code": "FORBIDDEN"}


@pytest.mark.parametrize("request_type", NAMED)
@pytest.mark.parametrize("folder", [None, CLUB, GroupFolder("main")])
async def test_main_reaches_tasks_of_every_group(
    main: Asker, club: Asker, request_type: Any, folder: GroupFolder | None
) -> None:
    task_id = await club.schedule()

    answer = await main.ask(request_type(task_id=task_id, group_folder=folder))

    assert answer.get("id", answer.get("taskId")) == task_id


@pytest.mark.parametrize("request_type", NAMED)
@pytest.mark.parametrize("folder", [None, CLUB, GroupFolder("main")])
@pytest.mark.parametrize("rights", [Rights.MEMBER, Rights.BOT])
async def test_main_only_proposes_to_touch_a_foreign_task_when_others_than_operators_spoke_to_it(
    main: Asker, club: Asker, request_type: Any, folder: GroupFolder | None, rights: Rights
) -> None:
    foreign, own = await club.schedule(), await main.schedule()
    await main.set_rights(rights)
    before = await stored(main.desk, foreign)

    answer = await main.ask(request_type(task_id=foreign, group_folder=folder))

    assert answer == {"code": "CONFIRMATION_NEEDED"}
    assert await stored(main.desk, foreign) == before
    assert await runs(main.desk, foreign) == []
    answer = await main.ask(request_type(task_id=own))
    assert answer.get("id", answer.get("taskId")) == own


async def test_main_sees_all_tasks_and_only_its_own_when_others_spoke_to_it(
    main: Asker, club: Asker, family: Asker
) -> None:
    foreign, own = await club.schedule(), await main.schedule()
    of_all = await main.ask(ListTasks())
    of_club = await main.ask(ListTasks(group_folder=CLUB))
    await main.set_rights(Rights.MEMBER)

    assert {each["id"] for each in of_all["tasks"]} == {own, foreign}
    assert [each["id"] for each in of_club["tasks"]] == [foreign]
    assert [each["id"] for each in (await main.ask(ListTasks()))["tasks"]] == [own]
    assert await main.ask(ListTasks(group_folder=CLUB)) == {"code": "FORBIDDEN"}
    assert await family.ask(ListTasks()) == {"tasks": []}
    assert await family.ask(ListTasks(group_folder=CLUB)) == {"code": "FORBIDDEN"}


async def test_a_task_keeps_the_rights_of_the_turn_that_made_or_last_changed_it(
    desk: Desk, family: Asker
) -> None:
    await family.set_rights(Rights.MEMBER)
    task_id = await family.schedule()
    made = (await stored(desk, task_id)).rights
    await family.set_rights(Rights.OPERATOR)
    await family.ask(PauseTask(task_id=task_id))
    await family.ask(ResumeTask(task_id=task_id))
    rested = (await stored(desk, task_id)).rights
    await family.ask(UpdateTask(task_id=task_id, prompt="Feed the cat"))
    changed = (await stored(desk, task_id)).rights
    await family.set_rights(Rights.BOT)
    await family.ask(UpdateTask(task_id=task_id, title="Cat"))

    assert (made, rested, changed) == (Rights.MEMBER, Rights.MEMBER, Rights.OPERATOR)
    assert (await stored(desk, task_id)).rights is Rights.BOT


@pytest.mark.parametrize(
    ("changes", "rights"),
    [
        ({"title": "Watering"}, Rights.MEMBER),
        ({"schedule_value": "7200000"}, Rights.MEMBER),
        ({"prompt": "Water the plants"}, Rights.MEMBER),
        ({"prompt": "Water the plants", "title": "Watering"}, Rights.OPERATOR),
    ],
)
async def test_what_a_member_wrote_in_a_task_gets_no_operators_rights_by_his_change_of_the_rest(
    desk: Desk, family: Asker, changes: dict[str, Any], rights: Rights
) -> None:
    await family.set_rights(Rights.MEMBER)
    task_id = await family.schedule(title="Register the garden chat")
    await family.set_rights(Rights.OPERATOR)

    await family.ask(UpdateTask(task_id=task_id, **changes))

    assert (await stored(desk, task_id)).rights is rights


async def test_a_title_that_was_the_beginning_of_the_prompt_goes_with_it(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule(prompt="Water the plants")

    await family.ask(UpdateTask(task_id=task_id, prompt="Feed the cat"))

    assert (await stored(desk, task_id)).title == "Feed the cat"


@pytest.mark.parametrize(("rights", "is_read"), [(Rights.OPERATOR, True), (Rights.MEMBER, False)])
async def test_main_is_not_given_the_words_of_people_who_may_not_set_it_off(
    main: Asker, club: Asker, rights: Rights, is_read: bool
) -> None:
    await club.set_rights(rights)
    task_id = await club.schedule(prompt="Register the chat of Mallory.")

    listed = (await main.ask(ListTasks()))["tasks"]
    paused = await main.ask(PauseTask(task_id=TaskId(task_id)))
    snapshot = json.loads((await box_snapshots(main.desk.services, main.caller)).tasks)
    own = (await club.ask(ListTasks()))["tasks"]

    assert [each["id"] for each in (*listed, *snapshot, *own)] == [task_id] * 3
    assert {("Mallory" in each["prompt"]) for each in (*listed, *snapshot, paused)} == {is_read}
    assert "Mallory" in own[0]["prompt"]
    assert "Mallory" in str((await show_task(main.desk.services, task_id))["prompt"])
