"""Registering chats and changing how they behave. Source: contracts.md sections 4 and 6."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.commands.groups.groups import (
    NewGroup,
    add_group,
    change_group,
    list_groups,
    remove_group,
    show_group,
)
from orchestrator.commands.operator_requests import ask_as_operator
from orchestrator.contracts.callers import AgentCaller, Caller, HostCaller, OperatorCaller
from orchestrator.contracts.errors import Conflict, DovecoteError, Forbidden, InvalidRequest, NotFound
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid
from orchestrator.contracts.records.groups import TriggerPosition
from orchestrator.contracts.wire.task_requests import ResumeTask, ScheduleTask
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT

NEW_CHAT = Jid("console:garden")
MAIN_AGENT = AgentCaller(
    agent_id=AgentId("agent-1"),
    box=BoxName("family"),
    group=GroupFolder("family"),
    chat_jid=CHAT,
    is_main=True,
)


def new(folder: str = "garden", jid: Jid = NEW_CHAT, **fields: Any) -> NewGroup:
    return NewGroup(jid=jid, folder=folder, **fields)


def folder_of(desk: Desk, name: str) -> Path:
    return desk.services.paths.groups / name


async def test_a_new_group_gets_its_folder_and_the_defaults(desk: Desk) -> None:
    added = await add_group(desk.services, OperatorCaller(), new())

    assert await show_group(desk.services, "garden") == added
    assert (added.name, added.trigger, added.assistant_name) == ("garden", "@Assistant", "Assistant")
    assert (added.requires_trigger, added.is_main) == (True, False)
    assert (folder_of(desk, "garden") / "AGENT.md").read_text()
    assert (folder_of(desk, "garden") / "workspace" / "MEMORY.md").exists()


@pytest.mark.parametrize(
    ("taken", "names"),
    [
        pytest.param({"folder": "family"}, CHAT, id="the folder names the chat that has it"),
        pytest.param({"jid": CHAT}, "family", id="the chat names the folder it is registered as"),
    ],
)
async def test_a_second_registration_names_the_first(desk: Desk, taken: dict[str, Any], names: str) -> None:
    with pytest.raises(Conflict, match=names):
        await add_group(desk.services, HostCaller(), new(**taken))

    assert [each.folder for each in await list_groups(desk.services)] == ["family"]
    assert not folder_of(desk, "garden").exists()


@pytest.mark.parametrize(
    "folder", ["Family", "global", "errors", "con", "a b", "../x", "", "x" * 65, "-x", "x;id"]
)
async def test_h3_a_folder_keeps_the_rule_of_names(desk: Desk, folder: str) -> None:
    with pytest.raises(InvalidRequest):
        await add_group(desk.services, HostCaller(), new(folder))


async def test_a_folder_that_differs_by_case_only_is_refused(desk: Desk) -> None:
    (folder_of(desk, "Garden")).mkdir()

    with pytest.raises(Conflict, match="letter case"):
        await add_group(desk.services, HostCaller(), new())


async def test_a_folder_that_exists_is_taken_over_only_on_wish_and_kept_as_it_is(desk: Desk) -> None:
    existing = folder_of(desk, "garden")
    existing.mkdir()
    (existing / "AGENT.md").write_text("my own words")
    with pytest.raises(Conflict, match="already exists"):
        await add_group(desk.services, HostCaller(), new())

    await add_group(desk.services, HostCaller(), new(adopt=True))

    assert (existing / "AGENT.md").read_text() == "my own words"
    assert (existing / "workspace" / "MEMORY.md").exists()


async def test_j6_exactly_one_group_is_main(desk: Desk) -> None:
    """Case J6."""
    first = await add_group(desk.services, HostCaller(), new("one", Jid("console:1"), is_main=True))
    with pytest.raises(Conflict, match="one"):
        await add_group(desk.services, HostCaller(), new("two", Jid("console:2"), is_main=True))
    await add_group(desk.services, HostCaller(), new("two", Jid("console:2")))

    await change_group(desk.services, OperatorCaller(), "two", {"is_main": True})

    mains = [each.folder for each in await list_groups(desk.services) if each.is_main]
    assert first.is_main
    assert mains == ["two"]


async def test_the_main_group_can_be_neither_removed_nor_made_ordinary(desk: Desk) -> None:
    await add_group(desk.services, HostCaller(), new(is_main=True))

    with pytest.raises(InvalidRequest, match="main"):
        await remove_group(desk.services, OperatorCaller(), "garden")
    with pytest.raises(InvalidRequest, match="exactly one"):
        await change_group(desk.services, OperatorCaller(), "garden", {"is_main": False})

    assert (await show_group(desk.services, "garden")).is_main


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        pytest.param({"trigger": "(unclosed"}, "trigger", id="a trigger that does not compile"),
        pytest.param({"trigger": " "}, "empty", id="a trigger of nothing"),
        pytest.param({"timezone": "Mars/Olympus"}, "Mars/Olympus", id="an unknown timezone"),
        pytest.param({"trigger_position": "end"}, "end", id="an unknown position"),
        pytest.param({"name": "\x07"}, "name", id="a name with nothing to see"),
        pytest.param({"jid": Jid("nobody")}, "nobody", id="no chat of any network"),
    ],
)
async def test_what_can_not_work_is_refused_at_the_door(
    desk: Desk, fields: dict[str, Any], what: str
) -> None:
    with pytest.raises(InvalidRequest, match=what):
        await add_group(desk.services, HostCaller(), new(**fields))

    assert not folder_of(desk, "garden").exists()


@pytest.mark.parametrize("caller", [MAIN_AGENT], ids=["an agent, even of main"])
async def test_an_agent_manages_no_groups(desk: Desk, caller: Caller) -> None:
    attempts = [
        add_group(desk.services, caller, new()),
        change_group(desk.services, caller, "family", {"is_main": True}),
        remove_group(desk.services, caller, "family"),
    ]

    refused = []
    for attempt in attempts:
        with pytest.raises(Forbidden) as caught:
            await attempt
        refused.append(caught.value)

    assert len(refused) == 3
    assert [each.folder for each in await list_groups(desk.services)] == ["family"]


async def test_a_group_changes_in_what_is_named_and_in_nothing_else(desk: Desk) -> None:
    before = await show_group(desk.services, "family")

    after = await change_group(
        desk.services, OperatorCaller(), "FAMILY", {"trigger": "@Bot", "trigger_position": "anywhere"}
    )

    assert (after.trigger, after.trigger_position) == ("@Bot", TriggerPosition.ANYWHERE)
    assert (after.folder, after.jid, after.name, after.number) == (
        before.folder,
        before.jid,
        before.name,
        before.number,
    )


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"colour": "red"}, id="an unknown setting"),
        pytest.param({"folder": "other"}, id="a setting that can't change"),
        pytest.param({"requires_trigger": "yes"}, id="a value of another type"),
        pytest.param({"name": None}, id="nothing where something must be"),
        pytest.param({"trigger": "[a"}, id="a trigger that does not compile"),
    ],
)
async def test_a_change_that_can_not_work_changes_nothing(desk: Desk, changes: dict[str, object]) -> None:
    before = await show_group(desk.services, "family")

    with pytest.raises(InvalidRequest):
        await change_group(desk.services, OperatorCaller(), "family", changes)

    assert await show_group(desk.services, "family") == before


async def test_a_removed_groups_agent_is_stopped_and_its_messages_and_files_stay(desk: Desk) -> None:
    await add_group(desk.services, HostCaller(), new())
    await desk.hear("m-1", "@Assistant hello", chat_jid=NEW_CHAT)

    await remove_group(desk.services, OperatorCaller(), "garden")

    assert desk.control.stopped == [NEW_CHAT]
    assert await desk.statuses(NEW_CHAT) == {"m-1": "pending"}
    assert folder_of(desk, "garden").is_dir()


async def test_a_task_of_a_removed_group_is_resumed_once_the_group_is_there_again(desk: Desk) -> None:
    await add_group(desk.services, HostCaller(), new())
    asked = ScheduleTask(
        prompt="water", schedule_type="interval", schedule_value="3600000", group_folder=GroupFolder("garden")
    )
    task_id = str((await ask_as_operator(desk.services, asked))["id"])
    await remove_group(desk.services, OperatorCaller(), "garden")

    with pytest.raises(InvalidRequest, match="not registered any more") as caught:
        await ask_as_operator(desk.services, ResumeTask(task_id=task_id))
    await add_group(desk.services, HostCaller(), new(adopt=True))
    resumed = await ask_as_operator(desk.services, ResumeTask(task_id=task_id))

    assert str(caught.value.suggestion).endswith(f"dovecote group add garden --jid {NEW_CHAT} --adopt")
    assert resumed["status"] == "active"


async def test_what_is_not_there_is_not_found(desk: Desk) -> None:
    found: list[DovecoteError] = []

    for attempt in (
        show_group(desk.services, "nowhere"),
        change_group(desk.services, OperatorCaller(), "nowhere", {"name": "x"}),
        remove_group(desk.services, OperatorCaller(), "nowhere"),
    ):
        with pytest.raises(NotFound) as caught:
            await attempt
        found.append(caught.value)

    assert all("nowhere" in each.message for each in found)


@pytest.mark.parametrize("trigger", ["x?(a+)+$.", "x?(.*)*,(.*)*;."])
async def test_j4_an_expression_that_runs_away_holds_no_message_up_and_can_be_changed(
    desk: Desk, trigger: str
) -> None:
    """Case J4: a trigger may stand anywhere, and be an expression; none can hang the process."""
    changes = {"trigger": trigger, "trigger_position": "anywhere"}
    await change_group(desk.services, OperatorCaller(), "family", changes)
    await desk.hear("m-1", "a" * 65_535 + "b")

    await change_group(desk.services, OperatorCaller(), "family", {"trigger": "(?i)andy|anders"})
    await desk.hear("m-2", "I ask myself, Anders, where it is")

    assert await desk.statuses() == {"m-1": "pending", "m-2": "pending"}
    batch = await desk.batch()
    assert batch is not None
    assert batch.trigger_ids == ("m-2",)
