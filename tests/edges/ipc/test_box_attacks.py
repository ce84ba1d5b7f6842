"""What an agent without walls can do to its whole box: the reader lives, and nothing outside is touched."""

import contextlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.contracts.ids import BoxName, TurnId
from orchestrator.contracts.wire.boxes import BOX_DIRECTORIES, INPUT, MESSAGES, REPLIES, FollowUp
from orchestrator.ipc.box_files import TAKEN, taken_name
from orchestrator.ipc.lane import IntakeLimits
from orchestrator.ipc.quarantine import Evidence, Quarantine
from orchestrator.store.entry import FileMark
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import UnsafeEntry
from tests.edges.ipc.conftest import AgentHand, World, running, world_at
from tests.support.eventually import eventually

FOLLOW_UP = FollowUp(content="<m/>", text="<m/>", ids=("m-1",), turn_id=TurnId("turn-1"))


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A directory of somebody else: afterwards it holds what it held."""
    path = tmp_path / "outside"
    path.mkdir()
    (path / "precious.json").write_text("precious")
    before = {each.name: each.lstat().st_mtime_ns for each in path.iterdir()}
    yield path
    assert {each.name: each.lstat().st_mtime_ns for each in path.iterdir()} == before
    assert (path / "precious.json").read_text() == "precious"


async def serve_all(agent: AgentHand, world: World) -> None:
    """Everything the host does with a box, as far as the agent lets it."""
    with contextlib.suppress(UnsafeEntry):
        await agent.port.stage_follow_up(FOLLOW_UP, file_stem="1-a")
        await agent.port.publish_follow_up("1-a")
    with contextlib.suppress(UnsafeEntry):
        await agent.port.write_close(for_legacy=True)
    with contextlib.suppress(UnsafeEntry):
        await agent.port.write_snapshot("current_tasks.json", b"[]")
    await agent.port.read_acks()
    await agent.port.unread_inputs()
    await world.keeper.drain(agent.caller, agent.port)


def drop_by_descriptor(directory: int, name: str, **fields: str) -> None:
    """Put a message into a directory that may stand anywhere by now."""
    body = json.dumps({"type": "message", "chatJid": "console:family", **fields}).encode()
    file = os.open(".new.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, dir_fd=directory)
    os.write(file, body)
    os.close(file)
    os.rename(".new.tmp", name, src_dir_fd=directory, dst_dir_fd=directory)


@pytest.mark.parametrize("directory", BOX_DIRECTORIES)
async def test_attack_a_link_in_place_of_each_directory_leads_no_read_or_write_outside(
    world: World, outside: Path, directory: str
) -> None:
    agent = await world.agent("family")
    agent.say("0001.json", "hello", requestId="precious")
    shutil.move(agent.path / directory, agent.path / "moved")
    (agent.path / directory).symlink_to(outside)

    await serve_all(agent, world)

    assert await world.texts() == ["hello"]


@pytest.mark.parametrize("directory", [INPUT, REPLIES, "acks", MESSAGES])
async def test_attack_directories_swapped_with_a_link_all_the_time_lead_no_writer_outside(
    world: World, outside: Path, directory: str
) -> None:
    agent = await world.agent("family")
    messages = os.open(agent.path / MESSAGES, os.O_RDONLY | os.O_DIRECTORY)
    stop = threading.Event()
    there, aside = agent.path / directory, agent.path / "swapped"

    def swap() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                there.rename(aside)
                there.symlink_to(outside)
                there.unlink()
                aside.rename(there)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for number in range(40):
            drop_by_descriptor(messages, f"{number:04}.json", text=str(number), requestId=f"r-{number}")
            await serve_all(agent, world)
    finally:
        stop.set()
        thread.join()
        os.close(messages)

    texts = await world.texts()
    assert texts == [str(number) for number in range(40)]


async def test_attack_a_directory_where_taken_files_are_moved_to_doubles_no_effect(live: World) -> None:
    agent = await live.agent("family")
    for number in range(3):
        waiting = agent.path / MESSAGES / f".{number}.tmp"
        waiting.write_text(f'{{"type":"message","chatJid":"console:family","text":"{number}"}}')
        status = waiting.stat()
        seen = FileMark(inode=status.st_ino, size=status.st_size, mtime_ns=status.st_mtime_ns)
        (agent.path / taken_name(MESSAGES, seen) / "full").mkdir(parents=True)
        waiting.rename(agent.path / MESSAGES / f"{number}.json")

    await eventually(lambda: agent.lying() == [])

    assert await live.texts() == ["0", "1", "2"]


async def test_attack_a_directory_where_taken_files_are_moved_to_keeps_no_box_from_being_opened(
    tmp_path: Path,
) -> None:
    async with world_at(tmp_path / "home") as first:
        path = (await first.agent("family")).path
    (path / f"{TAKEN}-messages-1-2-3" / "full").mkdir(parents=True)

    async with world_at(tmp_path / "home") as world:
        agent = await world.agent_again("family")
        agent.say("1.json", "after it")
        await world.keeper.drain(agent.caller, agent.port)
        texts = await world.texts()

    assert texts == ["after it"]


async def test_attack_a_directory_in_place_of_a_reply_costs_only_that_reply(live: World) -> None:
    agent = await live.agent("family")
    (agent.path / REPLIES / "r-1.json").mkdir()
    agent.say("1.json", "one", requestId="r-1")
    agent.say("2.json", "two", requestId="r-2")

    await eventually(lambda: (agent.path / REPLIES / "r-2.json").exists() and agent.lying() == [])

    assert await live.texts() == ["one", "two"]


async def test_attack_a_flood_of_20000_files_holds_up_no_other_box_and_is_reported(tmp_path: Path) -> None:
    async with world_at(tmp_path / "home", limits=IntakeLimits()) as world:
        flooder, other = await world.agent("family"), await world.agent("club")
        body = b'{"type":"message","chatJid":"console:family","text":"x"}'
        for number in range(20_000):
            (flooder.path / MESSAGES / f"{number:05}.json").write_bytes(body)
        async with running(world):
            await eventually(lambda: world.violations)
            other.say("1.json", "served")
            await eventually(lambda: other.lying() == [])
            texts = await world.texts()

    assert "served" in texts
    assert ("family", "More than 10000 entries in messages/.") in world.violations
    assert {box for box, _ in world.violations} == {"family"}
    assert len(texts) < 1_000


async def test_attack_2000_directories_named_like_requests_are_put_away_and_others_served(
    live: World,
) -> None:
    agent, other = await live.agent("family"), await live.agent("club")
    for number in range(2_000):
        (agent.path / MESSAGES / f"{number:04}.json").mkdir()
    other.say("1.json", "served")

    await eventually(lambda: other.lying() == [])
    await eventually(lambda: agent.lying() == [], within_s=60)

    assert await live.texts() == ["served"]
    assert live.violations == [("family", "A directory was made in messages/, where only files belong.")]


async def test_attack_a_request_renamed_all_the_time_has_one_effect(live: World) -> None:
    agent = await live.agent("family")
    box = agent.path / MESSAGES
    stop = threading.Event()

    def rename() -> None:
        while not stop.is_set():
            for old, new in (("a.json", "b.json"), ("b.json", "a.json")):
                with contextlib.suppress(OSError):
                    (box / old).rename(box / new)

    thread = threading.Thread(target=rename)
    thread.start()
    try:
        for number in range(10):
            agent.say("a.json", str(number), requestId=f"r-{number}")
            await eventually(lambda: agent.lying() == [])
    finally:
        stop.set()
        thread.join()

    assert await live.texts() == [str(number) for number in range(10)]


@pytest.mark.parametrize("directory", [*BOX_DIRECTORIES, ""])
async def test_attack_a_directory_made_anywhere_in_a_box_is_reported(world: World, directory: str) -> None:
    agent = await world.agent("family")
    (agent.path / directory / "hidden").mkdir()
    where = f"{directory}/" if directory else "the box"

    async with running(world):
        await eventually(lambda: world.violations)

    assert world.violations == [("family", f"A directory was made in {where}, where only files belong.")]


@pytest.mark.parametrize("directory", BOX_DIRECTORIES)
async def test_attack_too_many_entries_in_any_directory_are_reported(tmp_path: Path, directory: str) -> None:
    limits = IntakeLimits(per_minute=None, max_entries=50)
    async with world_at(tmp_path / "home", limits=limits) as world:
        agent = await world.agent("family")
        for number in range(51):
            (agent.path / directory / f"{number}.txt").touch()
        async with running(world):
            await eventually(lambda: world.violations)

    assert world.violations == [("family", f"More than 50 entries in {directory}/.")]


@pytest.mark.parametrize("directory", BOX_DIRECTORIES)
async def test_attack_too_many_bytes_in_any_directory_are_reported(tmp_path: Path, directory: str) -> None:
    limits = IntakeLimits(per_minute=None, max_box_bytes=1024 * 1024)
    async with world_at(tmp_path / "home", limits=limits) as world:
        agent = await world.agent("family")
        (agent.path / directory / "large.txt").write_bytes(bytes(1024 * 1024 + 1))
        async with running(world):
            await eventually(lambda: world.violations)

    assert world.violations == [("family", "The box holds more than 1 MiB.")]


@pytest.mark.parametrize("directory", ["input", "acks", "replies"])
async def test_attack_a_removed_directory_is_reported_and_the_rest_still_looked_at(
    tmp_path: Path, directory: str
) -> None:
    limits = IntakeLimits(per_minute=None, max_box_bytes=1024 * 1024)
    async with world_at(tmp_path / "home", limits=limits) as world:
        agent = await world.agent("family")
        (agent.path / directory).rmdir()
        (agent.path / "mail" / "large.txt").write_bytes(bytes(1024 * 1024 + 1))
        async with running(world):
            await eventually(lambda: len(world.violations) == 2)

    assert set(world.violations) == {
        ("family", f"The directory {directory}/ was removed or exchanged for another."),
        ("family", "The box holds more than 1 MiB."),
    }


async def test_attack_replies_asked_for_without_end_do_not_fill_the_box(tmp_path: Path) -> None:
    limits = IntakeLimits(per_minute=None, max_box_bytes=1024 * 1024)
    async with world_at(tmp_path / "home", limits=limits) as world:
        agent = await world.agent("family")
        two_minutes_ago = os.stat(tmp_path).st_mtime - 120
        for number in range(12):
            reply = agent.path / REPLIES / f"r-{number}.json"
            reply.write_bytes(bytes(100_000))
            os.utime(reply, (two_minutes_ago, two_minutes_ago + number))
        async with running(world):
            await eventually(lambda: len(list((agent.path / REPLIES).iterdir())) == 5)

    assert agent.lying(REPLIES) == ["r-10.json", "r-11.json", "r-7.json", "r-8.json", "r-9.json"]
    assert world.violations == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to another user")
async def test_attack_the_owner_of_a_boxs_directory_is_asked_of_its_descriptor(world: World) -> None:
    agent = await world.agent("family")
    (agent.path / INPUT).rename(agent.path / "old")
    (agent.path / INPUT).mkdir()
    os.chown(agent.path / INPUT, 12_345, 12_345)

    await agent.port.stage_follow_up(FOLLOW_UP, file_stem="1-a")

    assert list((agent.path / INPUT).iterdir()) == []
    assert (agent.path / "old").stat().st_uid != 12_345


def test_attack_refusals_of_a_mebibyte_without_end_leave_64_mib_of_copies_and_all_the_reasons(
    tmp_path: Path,
) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    quarantine = Quarantine(SafeDir.open(tmp_path))
    raw = bytes(1024 * 1024)
    for number in range(80):
        evidence = Evidence(
            box=BoxName("family"),
            directory=MESSAGES,
            name=f"{number:02}.json",
            raw=raw,
            code="INVALID_REQUEST",
            message="The file is not JSON.",
            suggestion=None,
            request_id=None,
        )
        quarantine.put(evidence, at=now + timedelta(milliseconds=number))
    quarantine.prune(now=now + timedelta(seconds=1))
    quarantine.close()

    names = sorted(path.name for path in (tmp_path / "family").iterdir())
    reasons = [name for name in names if name.endswith(".reason.json")]
    copies = [name for name in names if name not in reasons]
    assert len(reasons) == 80
    assert [name[-7:-5] for name in copies] == [f"{number:02}" for number in range(16, 80)]
