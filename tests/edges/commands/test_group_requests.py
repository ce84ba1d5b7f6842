"""Groups registered, and chats looked up, at the wish of an agent. Source: contracts.md section 4."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.commands.execute import execute_request
from orchestrator.commands.groups.group_chats import note_chats
from orchestrator.commands.groups.group_requests import make_missing_folders
from orchestrator.commands.groups.snapshots import box_snapshots
from orchestrator.commands.operator_requests import ask_as_operator
from orchestrator.contracts.errors import Conflict
from orchestrator.contracts.ids import BoxName, GroupFolder, Jid, RequestId
from orchestrator.contracts.records.groups import Chat, Group
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.codec import parse_json
from orchestrator.contracts.wire.group_requests import RefreshGroups, RegisterGroup
from orchestrator.contracts.wire.task_requests import ListTasks
from orchestrator.settings.tree import Settings
from orchestrator.shipped import template_for
from orchestrator.store import groups
from orchestrator.store.requests import RequestKey
from tests.edges.commands.conftest import Desk
from tests.edges.commands.task_askers import Asker, hourly
from tests.edges.commands.task_askers import club as club
from tests.edges.commands.task_askers import family as family
from tests.edges.commands.task_askers import main as main
from tests.support.store_rows import OTHER_CHAT

CHOIR = Jid("77@g.us")


def choir(**fields: Any) -> RegisterGroup:
    """A wish to register the choir."""
    plain: dict[str, Any] = {"jid": CHOIR, "name": "Choir", "folder": "choir", "trigger_pattern": "@Andy"}
    return RegisterGroup(**(plain | fields))


async def registered(desk: Desk, folder: str = "choir") -> Group | None:
    """The group as it is stored."""
    return await desk.run(lambda tx: groups.by_folder(tx, folder))


async def known_to(desk: Desk, asker: Asker) -> Any:
    """What `available_groups.json` of an agent says."""
    return parse_json((await box_snapshots(desk.services, asker.caller)).groups)


async def test_d_g_a_group_registered_by_an_agent_has_its_agent_file(main: Asker) -> None:
    """Case D-g."""
    answer = await main.ask(choir(requires_trigger=False, assistant_name="Ada"))

    folder = main.desk.services.paths.groups / "choir"
    group = await registered(main.desk)
    assert group is not None
    assert (folder / "AGENT.md").read_text() == template_for(is_main=False)
    assert (folder / "workspace" / "MEMORY.md").read_bytes() == b""
    assert answer == {
        "jid": CHOIR,
        "folder": "choir",
        "name": "Choir",
        "trigger": "@Andy",
        "requiresTrigger": False,
        "assistantName": "Ada",
    }
    assert (group.jid, group.trigger, group.requires_trigger, group.is_main) == (CHOIR, "@Andy", False, False)


async def test_a_crash_before_the_folder_was_made_is_made_up_for_when_the_file_is_met_again(
    main: Asker,
) -> None:
    services, folder = main.desk.services, main.desk.services.paths.groups / "choir"
    key = RequestKey(
        box=BoxName("main"), directory="tasks", name="1.json", inode=1, ctime_ns=1, sha256=b"\1" * 32
    )

    async def meet() -> Any:
        return await execute_request(services, main.caller, choir(), key=key, request_id=RequestId("r"))

    first = await meet()
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()

    assert await meet() == first
    assert (folder / "AGENT.md").exists()


@pytest.mark.parametrize(
    ("asker", "register_from", "code"),
    [
        pytest.param("main", (), None, id="main"),
        pytest.param("family", (), "FORBIDDEN", id="any group"),
        pytest.param("family", ("family",), None, id="a group that may"),
        pytest.param("family", ("club",), "FORBIDDEN", id="a group beside one that may"),
    ],
)
async def test_main_and_named_groups_may_register(
    request: pytest.FixtureRequest,
    main: Asker,
    family: Asker,
    asker: str,
    register_from: Any,
    code: str | None,
) -> None:
    wishing = {"main": main, "family": family}[asker]
    wishing.desk.set_settings(Settings(register_group_from=register_from))

    answer = await wishing.ask(choir())

    assert answer.get("code") == code
    assert (await registered(wishing.desk) is not None) == (code is None)
    assert (wishing.desk.services.paths.groups / "choir").exists() == (code is None)


@pytest.mark.parametrize(
    ("fields", "code", "named"),
    [
        pytest.param({"jid": OTHER_CHAT}, "ALREADY_REGISTERED", "club", id="a chat that is registered"),
        pytest.param({"folder": "club"}, "ALREADY_REGISTERED", OTHER_CHAT, id="a folder that is registered"),
        pytest.param({"folder": "CLUB"}, "INVALID_REQUEST", "CLUB", id="a folder in other letters"),
        pytest.param({"folder": "left"}, "ALREADY_REGISTERED", "left", id="a directory that is there"),
        pytest.param({"folder": "../out"}, "INVALID_REQUEST", "out", id="a way out"),
        pytest.param({"folder": "global"}, "INVALID_REQUEST", "global", id="a folder of ours"),
        pytest.param({"folder": "con"}, "INVALID_REQUEST", "con", id="a device"),
        pytest.param({"jid": Jid("nobody")}, "INVALID_REQUEST", "nobody", id="no chat id"),
        pytest.param({"trigger_pattern": "(a+"}, "INVALID_REQUEST", "", id="no expression"),
        pytest.param({"trigger_pattern": ""}, "INVALID_REQUEST", "", id="no trigger"),
        pytest.param({"name": "\x1b\n"}, "INVALID_REQUEST", "", id="no name"),
    ],
)
async def test_what_cannot_be_registered_is_refused_by_name_and_leaves_nothing(
    main: Asker, club: Asker, fields: dict[str, Any], code: str, named: str
) -> None:
    paths = main.desk.services.paths
    (paths.groups / "left").mkdir()
    before = sorted(path.name for path in paths.groups.iterdir())

    refused = await main.refused(choir(**fields))

    assert (refused.code, named in f"{refused.message} {refused.suggestion}") == (code, True)
    assert sorted(path.name for path in paths.groups.iterdir()) == before
    assert await main.desk.run(lambda tx: groups.by_jid(tx, CHOIR)) is None


async def test_a_link_in_the_place_of_the_folder_is_refused(main: Asker, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (main.desk.services.paths.groups / "choir").symlink_to(outside)

    refused = await main.refused(choir())

    assert refused.code == "ALREADY_REGISTERED"
    assert list(outside.iterdir()) == []
    assert await registered(main.desk) is None


async def test_a_name_of_many_lines_is_one_clean_line(main: Asker) -> None:
    await main.ask(choir(name="Cho\nir\x1b[2K\u202e"))

    group = await registered(main.desk)
    assert group is not None
    assert group.name == "Cho ir[2K"


async def test_with_others_in_the_conversation_it_waits_and_makes_no_folder(main: Asker) -> None:
    await main.set_rights(Rights.MEMBER)

    assert await main.ask(choir()) == {"code": "CONFIRMATION_NEEDED"}

    assert await registered(main.desk) is None
    assert not (main.desk.services.paths.groups / "choir").exists()


async def test_a_confirmed_registration_has_its_folder(main: Asker) -> None:
    await main.set_rights(Rights.MEMBER)
    await main.ask(choir())

    await main.desk.hear("y-1", "/yes 1", chat_jid=main.caller.chat_jid)

    assert await registered(main.desk) is not None
    assert (main.desk.services.paths.groups / "choir" / "AGENT.md").exists()


async def test_an_operator_registers_by_the_same_command(main: Asker) -> None:
    await ask_as_operator(main.desk.services, choir())

    with pytest.raises(Conflict):
        await ask_as_operator(main.desk.services, choir())
    assert (main.desk.services.paths.groups / "choir" / "AGENT.md").exists()


async def test_a_registration_wakes_who_writes_snapshots(main: Asker) -> None:
    listener = main.desk.wakeups.listen(Topic.SNAPSHOTS)

    await main.ask(choir())

    assert await listener.wait(at_most_s=30)
    known = await known_to(main.desk, main)
    assert [(each["jid"], each["isRegistered"]) for each in known["groups"] if each["folder"] == "choir"] == [
        (CHOIR, True)
    ]


async def test_refreshing_has_the_channels_asked_and_says_when_it_was_done_last(main: Asker) -> None:
    desk = main.desk
    listener = desk.wakeups.listen(Topic.CHATS)
    first = await main.ask(RefreshGroups())
    woken = await listener.wait(at_most_s=30)
    found = [Chat(jid=CHOIR, channel="test", name="Choir\n", is_group=True)]
    await desk.run(lambda tx: note_chats(tx, "test", found, at=desk.now))

    second = await main.ask(RefreshGroups(group_folder=GroupFolder("main")))

    assert (woken, first) == (True, {"status": "asked", "lastSync": None})
    assert second["lastSync"] == desk.now.isoformat(timespec="seconds")


@pytest.mark.parametrize(
    ("register_from", "folder", "code"),
    [
        ((), None, "FORBIDDEN"),
        (("family",), None, None),
        (("family",), "family", None),
        (("family",), "main", "FORBIDDEN"),
    ],
)
async def test_who_may_register_may_refresh_for_himself(
    family: Asker, register_from: Any, folder: str | None, code: str | None
) -> None:
    family.desk.set_settings(Settings(register_group_from=register_from))
    wish = RefreshGroups(group_folder=None if folder is None else GroupFolder(folder))

    assert (await family.ask(wish)).get("code") == code


async def test_main_finds_the_chats_that_a_channel_knows_in_its_snapshot(main: Asker, family: Asker) -> None:
    desk = main.desk
    found = [
        Chat(jid=CHOIR, channel="test", name="Choir", is_group=True),
        Chat(jid=Jid("78@g.us"), channel="test", name=None, is_group=True),
    ]

    await desk.run(lambda tx: note_chats(tx, "test", found, at=desk.now))
    await desk.run(lambda tx: note_chats(tx, "test", [replace(found[0], name=None), found[1]], at=desk.now))

    known = await known_to(desk, main)
    shown = {each["jid"]: (each["name"], each["isRegistered"]) for each in known["groups"]}
    assert shown[CHOIR] == ("Choir", False)
    assert shown["78@g.us"] == ("78@g.us", False)
    assert known["lastSync"] == desk.now.isoformat()
    assert {each["jid"] for each in (await known_to(desk, family))["groups"]} == {family.caller.chat_jid}


async def test_with_nothing_registered_an_agent_reaches_nothing_and_main_may_begin(
    main: Asker, family: Asker
) -> None:
    await main.desk.run(lambda tx: tx.execute("DELETE FROM groups"))

    for asker in (family, main):
        own = SendMessage(chat_jid=asker.caller.chat_jid, text="hello")
        assert await asker.ask(own) == {"code": "NOT_REGISTERED"}
        assert await asker.ask(hourly()) == {"code": "NOT_REGISTERED"}
        assert await asker.ask(ListTasks()) == {"tasks": []}
    assert await family.ask(choir()) == {"code": "FORBIDDEN"}
    assert (await main.ask(choir()))["folder"] == "choir"


@pytest.mark.parametrize("left", ["nothing", "an empty folder"])
async def test_a_folder_that_a_crash_kept_from_being_made_is_made_at_the_next_start(
    main: Asker, left: str
) -> None:
    await main.ask(choir())
    folder = main.desk.services.paths.groups / "choir"
    shutil.rmtree(folder)
    if left == "an empty folder":
        folder.mkdir()

    await make_missing_folders(main.desk.services)

    assert (folder / "AGENT.md").read_text() == template_for(is_main=False)
    assert (folder / "workspace" / "MEMORY.md").exists()


async def test_what_lies_in_a_missing_folders_place_keeps_nobody_from_a_start(main: Asker) -> None:
    await main.ask(choir())
    folder = main.desk.services.paths.groups / "choir"
    shutil.rmtree(folder)
    folder.write_text("mine")

    await make_missing_folders(main.desk.services)

    assert folder.read_text() == "mine"
