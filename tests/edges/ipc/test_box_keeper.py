"""Boxes come and go: owner and modes, follow-ups, the close sentinel, what earlier runs left."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from orchestrator.contracts.ids import AgentId, BoxName, RequestId, TurnId
from orchestrator.contracts.wire.boxes import BOX_DIRECTORIES, WRITABLE_DIRECTORIES, Answer, FollowUp
from orchestrator.contracts.wire.replies import Reply
from orchestrator.ipc.acks import MAX_ACKS
from orchestrator.ipc.box import is_box_name
from orchestrator.ipc.quarantine import MAX_ENTRIES, Evidence, Quarantine
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import Vanished
from tests.edges.ipc.conftest import RealClock, World, mount_small_disk, running, unmount, world_at
from tests.support.descriptors import open_paths
from tests.support.eventually import eventually

FAMILY = BoxName("family")
AGENT_UID = 64_101
FOLLOW_UP = FollowUp(content="<message>hi</message>", text="<message>hi</message>", ids=("m1",))

AS_THE_AGENT = """
import os, sys
box = sys.argv[1]
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[2]))
def tried(what, *args):
    try:
        what(*args)
    except OSError as error:
        return type(error).__name__
    return "ok"
for name in ("messages", "tasks", "agents", "mail", "input", "acks"):
    print(name, tried(lambda: open(f"{box}/{name}/x.json", "w").close()))
print("read-reply", tried(lambda: open(f"{box}/replies/r-1.json").read()))
print("list-replies", tried(os.listdir, f"{box}/replies"))
print("write-reply", tried(lambda: open(f"{box}/replies/x", "w").close()))
print("exchange", tried(os.rename, f"{box}/messages", f"{box}/tasks/m"))
print("make", tried(os.mkdir, f"{box}/new"))
print("list-box", tried(os.listdir, box))
print("list-ipc", tried(os.listdir, os.path.dirname(box)))
print("other-box", tried(os.listdir, os.path.join(os.path.dirname(box), "club", "messages")))
print("errors", tried(os.listdir, os.path.join(os.path.dirname(box), "errors")))
print("input", tried(lambda: (open(f"{box}/input/1-a.json").read(), os.unlink(f"{box}/input/1-a.json"))))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="a user of the agent's own needs root")
async def test_a8_an_agent_with_a_user_of_its_own_may_write_its_directories_and_nothing_else(
    public_directory: Path,
) -> None:
    """Case A8."""
    async with world_at(public_directory) as world:
        port = await world.keeper.make(FAMILY, uid=AGENT_UID, gid=AGENT_UID)
        await world.keeper.make(BoxName("club"), uid=AGENT_UID + 1, gid=AGENT_UID + 1)
        await port.write_reply(Reply(request_id=RequestId("r-1"), ok=True))
        await port.stage_follow_up(FOLLOW_UP, file_stem="1-a")
        await port.publish_follow_up("1-a")

        seen = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            AS_THE_AGENT,
            world.keeper.path_of(FAMILY),
            str(AGENT_UID),
            stdout=subprocess.PIPE,
        )
        out, _ = await seen.communicate()

    may = dict(line.split() for line in out.decode().splitlines())
    assert {name for name, outcome in may.items() if outcome == "ok"} == {
        *WRITABLE_DIRECTORIES,
        "read-reply",
        "list-replies",
    }
    assert set(may.values()) == {"ok", "PermissionError"}


async def test_d_7_a_new_box_is_empty_whatever_an_earlier_run_left(world: World) -> None:
    """Case D-7."""
    left = world.home / "data" / "ipc" / "family"
    (left / "messages" / "deep").mkdir(parents=True)
    (left / "input").mkdir()
    (left / "input" / "_close").touch()
    (left / "messages" / "1.json").write_text("{}")

    await world.keeper.make(FAMILY, uid=None, gid=None)

    assert sorted(path.name for path in left.iterdir()) == sorted(BOX_DIRECTORIES)
    assert [path for path in left.rglob("*") if path.parent != left] == []
    assert [path.name for path in left.parent.iterdir() if path.name.startswith(".")] == []


async def test_a_link_in_a_boxs_place_is_removed_and_what_it_points_to_stays(
    world: World, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").touch()
    (world.home / "data" / "ipc" / "family").symlink_to(tmp_path / "outside")

    assert await world.keeper.reopen(FAMILY) is None
    await world.keeper.make(FAMILY, uid=None, gid=None)

    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["precious"]
    assert not (world.home / "data" / "ipc" / "family").is_symlink()


async def test_a_follow_up_is_seen_when_it_is_published_and_not_before(world: World) -> None:
    agent = await world.agent("family")

    await agent.port.stage_follow_up(FOLLOW_UP, file_stem="1700000000000-ab")
    before = agent.lying("input")
    await agent.port.publish_follow_up("1700000000000-ab")

    assert before == []
    assert agent.lying("input") == ["1700000000000-ab.json"]
    assert json.loads((agent.path / "input" / "1700000000000-ab.json").read_text()) == {
        "type": "message",
        "content": "<message>hi</message>",
        "text": "<message>hi</message>",
        "ids": ["m1"],
        "triggers": [],
    }
    assert await agent.port.unread_inputs() == ["1700000000000-ab"]


async def test_a_staged_follow_up_can_be_staged_again_and_discarded(world: World) -> None:
    agent = await world.agent("family")
    await agent.port.stage_follow_up(FOLLOW_UP, file_stem="1-a")
    await agent.port.stage_follow_up(FOLLOW_UP, file_stem="1-a")

    await agent.port.discard_follow_up("1-a")
    await agent.port.discard_follow_up("1-a")

    assert os.listdir(agent.path / "input") == []
    with pytest.raises(Vanished):
        await agent.port.publish_follow_up("1-a")


async def test_an_agent_cannot_catch_a_follow_up_with_a_link_of_its_own(world: World, tmp_path: Path) -> None:
    agent = await world.agent("family")
    (tmp_path / "precious").write_text("precious")
    (agent.path / "input" / ".1-a.json.tmp").symlink_to(tmp_path / "precious")
    (agent.path / "input" / "1-a.json").symlink_to(tmp_path / "precious")

    await agent.port.stage_follow_up(FOLLOW_UP, file_stem="1-a")
    await agent.port.publish_follow_up("1-a")

    assert (tmp_path / "precious").read_text() == "precious"
    assert not (agent.path / "input" / "1-a.json").is_symlink()


async def test_the_close_sentinel_is_no_input_and_comes_in_both_spellings(world: World) -> None:
    agent = await world.agent("family")

    await agent.port.write_close(for_legacy=False)
    modern = agent.lying("input")
    await agent.port.write_close(for_legacy=True)

    (name,) = modern
    assert name.endswith("-close.json")
    assert json.loads((agent.path / "input" / name).read_text()) == {"type": "_close"}
    assert (agent.path / "input" / "_close").read_bytes() == b""
    assert await agent.port.unread_inputs() == []


async def test_an_answer_is_no_follow_up_and_replaces_a_link_in_its_place(
    world: World, tmp_path: Path
) -> None:
    agent = await world.agent("family")
    (tmp_path / "precious").write_text("precious")
    (agent.path / "input" / "1-a-answer.json").symlink_to(tmp_path / "precious")

    await agent.port.write_answer(Answer(question_id="q-1", text="No", option=1), file_stem="1-a-answer")

    written = agent.path / "input" / "1-a-answer.json"
    assert json.loads(written.read_text()) == {
        "type": "answer",
        "questionId": "q-1",
        "status": "answered",
        "text": "No",
        "option": 1,
    }
    assert not written.is_symlink()
    assert (tmp_path / "precious").read_text() == "precious"
    assert await agent.port.unread_inputs() == []


async def test_a_box_left_by_an_earlier_process_is_opened_as_it_is(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home") as first:
        agent = await first.agent("family")
        agent.say("0001.json", "left over")
        (agent.path / "acks" / "t-1.json").write_text('{"turnId":"t-1","status":"started"}')

    async with world_at(tmp_path / "home") as second:
        names = await second.keeper.names()
        port = await second.keeper.reopen(FAMILY)
        nothing = await second.keeper.reopen(BoxName("club"))
        assert port is not None
        acks = await port.read_acks()
        await second.keeper.drain(agent.caller, port)
        texts = await second.texts()

    assert names == ["family"]
    assert nothing is None
    assert acks == {TurnId("t-1"): {"turnId": "t-1", "inputs": [], "status": "started"}}
    assert texts == ["left over"]


@pytest.mark.parametrize("name", [".taken", ".taken-messages-1f-40-178e"])
async def test_a_request_that_was_moved_for_its_removal_when_we_were_killed_is_not_met_again(
    tmp_path: Path, name: str
) -> None:
    async with world_at(tmp_path / "home") as first:
        agent = await first.agent("family")
        agent.say("0001.json", "done before")
        (agent.path / "messages" / "0001.json").rename(agent.path / name)

    async with world_at(tmp_path / "home") as second:
        port = await second.keeper.reopen(FAMILY)
        assert port is not None
        await second.keeper.drain(agent.caller, port)

        assert await second.texts() == []
    assert not (agent.path / name).exists()


async def test_a_box_of_an_unknown_agent_is_set_aside_whole(world: World) -> None:
    agent = await world.agent("family")
    agent.say("0001.json", "whose is it")

    await world.keeper.set_aside(FAMILY)
    await world.keeper.set_aside(FAMILY)

    assert await world.keeper.names() == []
    (aside,) = (world.home / "data" / "ipc" / "errors" / "family").iterdir()
    assert (aside / "messages" / "0001.json").exists()


async def test_what_a_removal_cut_short_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    gone = tmp_path / "home" / "data" / "ipc" / ".gone-0123456789abcdef"
    gone.mkdir(parents=True)
    (gone / "file").touch()

    async with world_at(tmp_path / "home") as world, running(world):
        await eventually(lambda: not gone.exists())


@pytest.mark.parametrize("name", ["..", "errors", "a/b", "@", "@..", "", "@a/b", ".gone-1", "Family"])
async def test_a_name_that_is_no_boxs_opens_nothing(world: World, name: str) -> None:
    assert not is_box_name(name)
    with pytest.raises(ValueError, match="box"):
        await world.keeper.make(BoxName(name), uid=None, gid=None)
    with pytest.raises(ValueError, match="box"):
        world.keeper.path_of(BoxName(name))


async def test_the_box_of_a_spawned_agent_has_a_name_of_its_own(world: World) -> None:
    name = BoxName(f"@{AgentId('agent-7k2m')}")

    await world.keeper.make(name, uid=None, gid=None)

    assert await world.keeper.names() == [name]


async def test_many_boxes_opened_and_removed_leave_no_descriptor_and_no_thread_busy(world: World) -> None:
    async with running(world):
        await world.agent("family")
        await world.keeper.remove(FAMILY)
        # Of the boxes alone: the store's readers open their files when each is first needed, and keep them.
        before = open_paths(world.home / "data" / "ipc")
        for _ in range(10):
            agent = await world.agent("family")
            agent.say("1.json", "x")
            await world.keeper.drain(agent.caller, agent.port)
            await world.keeper.remove(FAMILY)

        # A thread that looks after boxes may hold one open for a moment.
        await eventually(
            lambda: open_paths(world.home / "data" / "ipc") == before,
            what=lambda: open_paths(world.home / "data" / "ipc"),
        )
    assert len(await world.texts()) == 10


async def test_replies_that_nobody_fetched_go_after_an_hour(world: World) -> None:
    agent = await world.agent("family")
    await agent.port.write_reply(Reply(request_id=RequestId("old"), ok=True))
    await agent.port.write_reply(Reply(request_id=RequestId("new"), ok=True))
    hour_ago = RealClock().now() - timedelta(hours=1, seconds=5)
    os.utime(agent.path / "replies" / "old.json", (hour_ago.timestamp(), hour_ago.timestamp()))

    async with running(world):
        await eventually(lambda: set(agent.replies()) == {"new"})


async def test_of_an_agent_that_lives_long_only_the_acks_stay_that_its_burial_would_read(
    world: World,
) -> None:
    agent = await world.agent("family")
    for number in range(MAX_ACKS + 5):
        path = agent.path / "acks" / f"turn-{number}.json"
        path.write_text("{}", encoding="ascii")
        os.utime(path, (number, number))

    async with running(world):
        await eventually(lambda: len(os.listdir(agent.path / "acks")) == MAX_ACKS)
        assert not (agent.path / "acks" / "turn-4.json").exists()


@pytest.fixture
def public_directory() -> Iterator[Path]:
    """A directory that other users may pass through, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o711)
        yield Path(name)


def _evidence(number: int) -> Evidence:
    return Evidence(
        box=FAMILY,
        directory="messages",
        name=f"{number:05}.json",
        raw=b"{",
        code="INVALID_REQUEST",
        message="The file is not JSON.",
        suggestion=None,
        request_id=None,
    )


def test_of_one_box_the_newest_thousand_refusals_of_a_week_are_kept(tmp_path: Path) -> None:
    now = RealClock().now()
    quarantine = Quarantine(SafeDir.open(tmp_path))
    quarantine.put(_evidence(0), at=now - timedelta(days=8))
    for number in range(1, MAX_ENTRIES + 60):
        quarantine.put(_evidence(number), at=now + timedelta(milliseconds=number))
    bound = len(list((tmp_path / "family").glob("*.reason.json")))
    quarantine.prune(now=now)
    quarantine.close()

    names = [
        json.loads(path.read_text())["name"] for path in sorted((tmp_path / "family").glob("*.reason.json"))
    ]
    assert bound <= MAX_ENTRIES + 51
    assert names == [f"{number:05}.json" for number in range(60, MAX_ENTRIES + 60)]
    assert len(list((tmp_path / "family").iterdir())) == 2 * MAX_ENTRIES


def test_a_folder_of_refusals_goes_when_its_last_one_is_too_old(tmp_path: Path) -> None:
    now = RealClock().now()
    quarantine = Quarantine(SafeDir.open(tmp_path))
    quarantine.put(_evidence(1), at=now)
    quarantine.prune(now=now + timedelta(days=6, hours=23))
    kept = sorted(path.name for path in tmp_path.iterdir())
    quarantine.prune(now=now + timedelta(days=7, seconds=1))
    quarantine.close()

    assert kept == ["family"]
    assert list(tmp_path.iterdir()) == []


async def test_on_a_full_disk_a_request_waits_until_its_reply_can_be_written(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home") as first:
        replies = (await first.agent("family")).path / "replies"
    mount_small_disk(replies, size="64k")
    try:
        async with world_at(tmp_path / "home") as world:
            agent = await world.agent_again("family")
            filler = replies / "filler"
            filler.write_bytes(bytes(os.statvfs(replies).f_bavail * os.statvfs(replies).f_frsize))
            agent.say("0001.json", "hello", requestId="r-1")
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(world.keeper.drain(agent.caller, agent.port))
                await eventually(lambda: "request.committed" in world.milestones.reached_so_far)
                still_there = agent.lying()
                filler.unlink()
            answered, texts = agent.replies(), await world.texts()
    finally:
        unmount(replies)

    assert texts == ["hello"]
    assert still_there == ["0001.json"]
    assert answered["r-1"]["ok"] is True
