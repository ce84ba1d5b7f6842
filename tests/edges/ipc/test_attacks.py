"""Everything a container can put into its box: refused with a reason, and nothing outside is touched."""

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from orchestrator.contracts.wire.boxes import MESSAGES
from orchestrator.ipc.inotify_hints import InotifyHints
from orchestrator.ipc.lane import IntakeLimits
from tests.edges.ipc.conftest import AgentHand, World, running, world_at
from tests.support.eventually import eventually

GOOD = b'{"type":"message","chatJid":"console:family","text":"hello"}'


@pytest.fixture
async def outside(tmp_path: Path) -> AsyncIterator[Path]:
    """What is none of an agent's business; the same afterwards, to the byte and the name."""
    path = tmp_path / "outside"
    (path / "deep").mkdir(parents=True)
    (path / "secret.json").write_bytes(GOOD)
    (path / "deep" / "more.json").write_bytes(GOOD)
    before = {str(each): each.lstat() for each in path.rglob("*")}
    yield path
    after = {str(each): each.lstat() for each in path.rglob("*")}
    assert {name: (each.st_ino, each.st_size, each.st_mtime_ns) for name, each in before.items()} == {
        name: (each.st_ino, each.st_size, each.st_mtime_ns) for name, each in after.items()
    }
    assert (path / "secret.json").read_bytes() == GOOD


def _symlink(box: Path, outside: Path) -> None:
    (box / MESSAGES / "x.json").symlink_to(outside / "secret.json")


def _symlink_to_another_box(box: Path, outside: Path) -> None:
    (box / MESSAGES / "x.json").symlink_to(box.parent / "club" / MESSAGES / "1.json")


def _hard_link(box: Path, outside: Path) -> None:
    os.link(outside / "secret.json", box / MESSAGES / "x.json")
    (outside / "secret.json").stat()


def _two_names(box: Path, outside: Path) -> None:
    (box / "input" / "kept").write_bytes(GOOD)
    os.link(box / "input" / "kept", box / MESSAGES / "x.json")


def _fifo(box: Path, outside: Path) -> None:
    os.mkfifo(box / MESSAGES / "x.json")


def _socket(box: Path, outside: Path) -> None:
    here = os.getcwd()
    os.chdir(box / MESSAGES)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("x.json")
    os.chdir(here)


def _device(box: Path, outside: Path) -> None:
    os.mknod(box / MESSAGES / "x.json", 0o600 | 0o020000, os.makedev(1, 5))


def _sparse_gigabyte(box: Path, outside: Path) -> None:
    with (box / MESSAGES / "x.json").open("wb") as file:
        file.truncate(1 << 30)


def _one_byte_too_many(box: Path, outside: Path) -> None:
    (box / MESSAGES / "x.json").write_bytes(b" " * (1024 * 1024 + 1))


@pytest.mark.parametrize(
    "put",
    [
        pytest.param(_symlink, id="symbolic link to a file"),
        pytest.param(_symlink_to_another_box, id="symbolic link into another box"),
        pytest.param(_two_names, id="hard link inside the box"),
        pytest.param(_fifo, id="pipe"),
        pytest.param(_socket, id="socket"),
        pytest.param(
            _device,
            id="device",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="making a device needs root"),
        ),
        pytest.param(_sparse_gigabyte, id="sparse gigabyte"),
        pytest.param(_one_byte_too_many, id="a byte over a mebibyte"),
    ],
)
async def test_d_f_d_10_what_is_no_plain_file_leaves_a_reason_only_and_disturbs_no_other(
    live: World, outside: Path, put: Callable[[Path, Path], None]
) -> None:
    """Cases D-f, D-10."""
    agent = await live.agent("family")
    put(agent.path, outside)
    agent.say("y.json", "after it")

    await eventually(lambda: agent.lying() == [])

    assert await live.texts() == ["after it"]
    (reason,) = live.reasons("family")
    assert (reason["directory"], reason["name"], reason["code"]) == (MESSAGES, "x.json", "INVALID_REQUEST")
    assert live.evidence("family") == []


async def test_a_hard_link_to_a_file_outside_is_not_read_and_only_its_name_goes(
    live: World, tmp_path: Path
) -> None:
    (tmp_path / "secret.json").write_bytes(GOOD)
    agent = await live.agent("family")
    os.link(tmp_path / "secret.json", agent.path / MESSAGES / "x.json")

    await eventually(lambda: agent.lying() == [])

    assert await live.texts() == []
    assert (tmp_path / "secret.json").read_bytes() == GOOD
    assert (tmp_path / "secret.json").stat().st_nlink == 1
    assert live.evidence("family") == []


async def test_a_directory_named_like_a_request_is_put_away_and_reported(live: World, outside: Path) -> None:
    agent = await live.agent("family")
    (agent.path / MESSAGES / "x.json").mkdir()
    (agent.path / MESSAGES / "x.json" / "link").symlink_to(outside)
    agent.say("y.json", "after it")

    await eventually(lambda: agent.lying() == [] and live.violations)

    assert await live.texts() == ["after it"]
    assert "directory" in live.reasons("family")[0]["message"]
    assert live.violations == [("family", "A directory was made in messages/, where only files belong.")]


async def test_an_unexpected_subdirectory_is_reported_once(live: World) -> None:
    agent = await live.agent("family")
    (agent.path / "tasks" / "sub").mkdir()
    await eventually(lambda: live.violations)

    for number in range(3):
        agent.drop(f"{number}.json", {"type": "x"}, directory="tasks")
        await eventually(lambda: agent.lying("tasks") == ["sub"])

    assert len(live.violations) == 1


@pytest.mark.parametrize("how", ["link to a directory", "a fresh directory", "nothing"])
async def test_d_f_d_8_a_directory_of_the_box_that_is_exchanged_leads_nowhere_and_is_reported(
    live: World, outside: Path, how: str
) -> None:
    """Cases D-f, D-8."""
    agent = await live.agent("family")
    agent.say("0001.json", "before")
    await eventually(lambda: agent.lying() == [])
    (agent.path / MESSAGES).rename(agent.path / "old")
    if how == "link to a directory":
        (agent.path / MESSAGES).symlink_to(outside)
    elif how == "a fresh directory":
        (agent.path / MESSAGES).mkdir()
        agent.say("0002.json", "into the fresh one")

    await eventually(lambda: live.violations)

    assert live.violations == [("family", "The directory messages/ was removed or exchanged for another.")]
    assert await live.texts() == ["before"]
    assert live.reasons("family") == []


async def test_a_box_whose_directory_is_a_link_is_reopened_without_it(world: World, outside: Path) -> None:
    agent = await world.agent("family")
    await world.keeper.close()
    shutil.rmtree(agent.path / MESSAGES)
    (agent.path / MESSAGES).symlink_to(outside)

    async with world_at(world.home) as second:
        port = await second.keeper.reopen(agent.caller.box)
        assert port is not None
        await second.keeper.drain(agent.caller, port)
        texts = await second.texts()

    assert texts == []
    assert (agent.path / MESSAGES).is_dir()
    assert not (agent.path / MESSAGES).is_symlink()


async def test_a_file_under_a_lease_holds_nobody_up_and_is_taken_when_it_is_free(live: World) -> None:
    agent = await live.agent("family")
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    path = agent.path / MESSAGES / "0000.json"
    path.with_suffix(".tmp").write_bytes(GOOD)
    descriptor = os.open(path.with_suffix(".tmp"), os.O_RDWR)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        path.with_suffix(".tmp").rename(path)
        agent.say("0001.json", "not held up")
        await eventually(lambda: agent.lying() == ["0000.json"])
    finally:
        os.close(descriptor)
        signal.signal(signal.SIGIO, before)

    await eventually(lambda: agent.lying() == [])
    assert await live.texts() == ["not held up", "hello"]


async def test_files_that_grow_shrink_and_vanish_all_the_time_disturb_nobody(live: World) -> None:
    agent = await live.agent("family")
    stop = threading.Event()

    def churn() -> None:
        box = agent.path / MESSAGES
        while not stop.is_set():
            for number in range(20):
                with contextlib.suppress(OSError):
                    (box / f"churn{number}.json").write_bytes(GOOD[: number * 3])
                with contextlib.suppress(OSError):
                    os.truncate(box / f"churn{(number * 7) % 20}.json", number)
                with contextlib.suppress(OSError):
                    (box / f"churn{(number * 3) % 20}.json").unlink()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for number in range(20):
            agent.say(f"z{number:02}.json", str(number))
        await eventually(lambda: not [name for name in agent.lying() if name.startswith("z")])
    finally:
        stop.set()
        thread.join()

    texts = await live.texts()
    assert [text for text in texts if text != "hello"] == [str(number) for number in range(20)]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(b"\xff\xfe.json", id="not UTF-8"),
        pytest.param("ü.json".encode(), id="a letter beyond ASCII"),
        pytest.param(b".hidden.json", id="begins with a dot"),
        pytest.param(b"-rf.json", id="begins with a dash"),
        pytest.param(b"a b\n\x1b[31m.json", id="controls"),
        pytest.param(b"..json", id="dots"),
        pytest.param(b".json", id="nothing before the suffix"),
        pytest.param(b"a" * 129 + b".json", id="too long"),
    ],
)
async def test_a_name_that_breaks_the_rule_is_refused_whatever_its_bytes(world: World, name: bytes) -> None:
    agent = await world.agent("family")
    agent.drop(name, {"type": "message", "chatJid": "console:family", "text": "x", "requestId": "r-1"})

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == []
    assert agent.lying() == []
    assert agent.replies()["r-1"]["error"]["code"] == "INVALID_REQUEST"
    (copy,) = [
        path.name for path in (world.home / "data/ipc/errors/family").iterdir() if "reason" not in path.name
    ]
    assert copy.isascii()
    assert copy.isprintable()


async def test_files_that_are_no_requests_are_left_alone(world: World) -> None:
    agent = await world.agent("family")
    for name in ("notes.txt", "x.JSON", "json", "a.json.bak"):
        agent.drop(name, b"mine")

    await world.keeper.drain(agent.caller, agent.port)

    assert agent.lying() == sorted(["notes.txt", "x.JSON", "json", "a.json.bak"])
    assert world.reasons("family") == []


async def test_more_entries_than_allowed_are_reported_while_the_requests_among_them_are_taken(
    tmp_path: Path,
) -> None:
    limits = IntakeLimits(per_minute=None, max_entries=50)
    async with world_at(tmp_path / "home", limits=limits) as world, running(world):
        agent = await world.agent("family")
        for number in range(80):
            agent.drop(f"{number:03}.txt", b"x")
        agent.drop("zz.txt", b"x")
        await eventually(lambda: world.violations)
        violations = list(world.violations)

    assert violations == [("family", "More than 50 entries in messages/.")]


async def test_a_box_that_holds_too_much_is_reported(tmp_path: Path) -> None:
    limits = IntakeLimits(per_minute=None, max_box_bytes=1024 * 1024)
    async with world_at(tmp_path / "home", limits=limits) as world:
        agent = await world.agent("family")
        with (agent.path / "acks" / "big").open("wb") as file:
            file.truncate(1024 * 1024 + 1)
        async with running(world):
            await eventually(lambda: world.violations)

    assert world.violations == [("family", "The box holds more than 1 MiB.")]


async def test_a_link_in_the_place_of_replies_lets_us_write_nowhere_else(world: World, outside: Path) -> None:
    agent = await world.agent("family")
    shutil.rmtree(agent.path / "replies")
    (agent.path / "replies").symlink_to(outside)
    agent.say("0001.json", "hello", requestId="secret")

    await world.keeper.drain(agent.caller, agent.port)

    assert await world.texts() == ["hello"]
    assert agent.lying() == []


async def test_a_link_in_the_place_of_a_reply_is_replaced(world: World, outside: Path) -> None:
    agent = await world.agent("family")
    (agent.path / "replies" / "r-1.json").symlink_to(outside / "secret.json")
    agent.say("0001.json", "hello", requestId="r-1")

    await world.keeper.drain(agent.caller, agent.port)

    assert agent.replies()["r-1"]["ok"] is True
    assert not (agent.path / "replies" / "r-1.json").is_symlink()


async def test_acks_are_read_as_carefully_as_requests(world: World, outside: Path) -> None:
    agent = await world.agent("family")
    acks = agent.path / "acks"
    (acks / "turn-1.json").write_text('{"turnId": "turn-1", "status": "started"}')
    (acks / "turn-2.json").symlink_to(outside / "secret.json")
    (acks / "turn-3.json").write_text("[1]")
    (acks / "turn-4.json").write_text("[" * 5_000)
    (acks / "turn-5.json").write_bytes(b"\xff")
    os.mkfifo(acks / "turn-6.json")
    (acks / "..json").write_text("{}")

    assert await agent.port.read_acks() == {"turn-1": {"turnId": "turn-1", "inputs": [], "status": "started"}}


async def test_d_c_the_watch_may_die_and_files_are_found_by_polling(tmp_path: Path) -> None:
    """Case D-c."""

    class Broken(InotifyHints):
        """A watch that the system takes away."""

        async def run(self, report: object) -> None:
            """Lost at once."""
            raise OSError("the descriptor is gone")

    async with world_at(tmp_path / "home", make_hints=Broken, poll_s=0.2) as world, running(world):
        agent = await world.agent("family")
        for number in range(3):
            agent.say("0001.json", str(number))
            await eventually(lambda: agent.lying() == [])
        texts = await world.texts()

    assert texts == ["0", "1", "2"]


async def test_d_c_without_any_watch_everything_works_at_poll_speed(tmp_path: Path) -> None:
    """Case D-c."""
    async with world_at(tmp_path / "home", make_hints=None, poll_s=0.2) as world, running(world):
        agent = await world.agent("family")
        for number in range(3):
            agent.say(f"{number}.json", str(number))
            await asyncio.sleep(0.05)
        await eventually(lambda: agent.lying() == [])
        texts = await world.texts()

    assert texts == ["0", "1", "2"]


async def test_a_million_to_one_shot_a_box_full_of_everything_is_removed(world: World, outside: Path) -> None:
    agent: AgentHand = await world.agent("family")
    _fifo(agent.path, outside)
    (agent.path / "input" / "link").symlink_to(outside)
    (agent.path / "tasks" / "deep" / "deeper").mkdir(parents=True)
    (agent.path / "tasks" / "deep" / "link").symlink_to(outside / "deep")
    for number in range(3_000):
        (agent.path / "mail" / str(number)).touch()

    await world.keeper.remove(agent.caller.box)

    assert sorted(path.name for path in (world.home / "data" / "ipc").iterdir()) == ["errors"]
