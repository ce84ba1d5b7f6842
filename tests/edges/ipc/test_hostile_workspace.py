"""What an agent can put into its workspace to have sent what is not its own: refused, and nothing is touched.

The reader is the one of requests, with no wall but itself, as for the `process` runner.
Source: contracts.md section 3.
"""

import os
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from orchestrator.store.dir_removal import remove_dir
from orchestrator.store.safe_dir import SafeDir
from tests.edges.ipc.conftest import World
from tests.edges.ipc.sending import ask_to_send, rows, spool, workspace
from tests.support.eventually import eventually

SECRET = b"the secret of somebody else"
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="making a device needs root")


@pytest.fixture
async def outside(live: World, tmp_path: Path) -> AsyncIterator[Path]:
    """What is none of an agent's business, a file of another group with it; untouched afterwards."""
    path = tmp_path / "outside"
    (path / "deep").mkdir(parents=True)
    others = [path / "secret.txt", path / "deep" / "more.txt", workspace(live, "club") / "secret.txt"]
    for each in others:
        each.write_bytes(SECRET)
    before = [(each.stat().st_ino, each.stat().st_size, each.stat().st_mtime_ns) for each in others]
    yield path
    assert [(each.stat().st_ino, each.stat().st_size, each.stat().st_mtime_ns) for each in others] == before
    assert [each.read_bytes() for each in others] == [SECRET] * 3
    assert all(SECRET not in (live.services.paths.spool / name).read_bytes() for name in spool(live))


Put = Callable[[Path, Path], str]
"""Lays the trap in a workspace; the path to ask for."""


def _link_to_a_file(ground: Path, outside: Path) -> str:
    (ground / "x.txt").symlink_to(outside / "secret.txt")
    return "x.txt"


def _relative_link_to_another_group(ground: Path, outside: Path) -> str:
    (ground / "x.txt").symlink_to("../../club/workspace/secret.txt")
    return "x.txt"


def _link_to_another_group(ground: Path, outside: Path) -> str:
    (ground / "x").symlink_to("../../club/workspace")
    return "x/secret.txt"


def _link_to_the_operators_text(ground: Path, outside: Path) -> str:
    (ground / "x.txt").symlink_to("../AGENT.md")
    return "x.txt"


def _dangling_link(ground: Path, outside: Path) -> str:
    (ground / "x.txt").symlink_to(outside / "not there")
    return "x.txt"


def _link_to_itself(ground: Path, outside: Path) -> str:
    (ground / "x.txt").symlink_to("x.txt")
    return "x.txt"


def _link_in_place_of_the_first_directory(ground: Path, outside: Path) -> str:
    (ground / "a").symlink_to(outside)
    return "a/deep/more.txt"


def _link_in_place_of_a_later_directory(ground: Path, outside: Path) -> str:
    (ground / "a").mkdir()
    (ground / "a" / "deep").symlink_to(outside / "deep")
    return "a/deep/more.txt"


def _hard_link(ground: Path, outside: Path) -> str:
    os.link(outside / "secret.txt", ground / "x.txt")
    return "x.txt"


def _hard_link_to_the_operators_text(ground: Path, outside: Path) -> str:
    os.link(ground.parent / "AGENT.md", ground / "x.txt")
    return "x.txt"


def _pipe(ground: Path, outside: Path) -> str:
    os.mkfifo(ground / "x.txt")
    return "x.txt"


def _pipe_in_place_of_a_directory(ground: Path, outside: Path) -> str:
    os.mkfifo(ground / "a")
    return "a/x.txt"


def _socket(ground: Path, outside: Path) -> str:
    here = os.getcwd()
    os.chdir(ground)  # a socket's path may be 100 bytes at most
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("x.txt")
    os.chdir(here)
    return "x.txt"


def _endless_device(ground: Path, outside: Path) -> str:
    os.mknod(ground / "x.txt", 0o600 | 0o020000, os.makedev(1, 5))
    return "x.txt"


def _directory(ground: Path, outside: Path) -> str:
    (ground / "x.txt").mkdir()
    return "x.txt"


def _sparse_gigabyte(ground: Path, outside: Path) -> str:
    with (ground / "x.txt").open("wb") as file:
        file.truncate(1 << 30)
    return "x.txt"


def _name_of_control_characters(ground: Path, outside: Path) -> str:
    (ground / "a\nb\x1b[2J").symlink_to(outside / "secret.txt")
    return "a\nb\x1b[2J"


def _file_in_place_of_a_directory(ground: Path, outside: Path) -> str:
    (ground / "a").write_text("no directory")
    return "a/x.txt"


def _absolute_path(ground: Path, outside: Path) -> str:
    return str(outside / "secret.txt")


def _upwards(ground: Path, outside: Path) -> str:
    return "../../../../outside/secret.txt"


def _upwards_through_the_container_form(ground: Path, outside: Path) -> str:
    return "/workspace/group/../../club/workspace/secret.txt"


def _upwards_to_the_operators_text(ground: Path, outside: Path) -> str:
    return "../AGENT.md"


def _through_proc(ground: Path, outside: Path) -> str:
    return "/proc/self/environ"


def _very_long_name(ground: Path, outside: Path) -> str:
    return "x" * 300


def _very_long_path(ground: Path, outside: Path) -> str:
    return "x/" * 4_000 + "y"


def _nothing(ground: Path, outside: Path) -> str:
    return "x.txt"


@pytest.mark.parametrize(
    "put",
    [
        pytest.param(_link_to_a_file, id="link to a file outside"),
        pytest.param(_relative_link_to_another_group, id="relative link to another group's file"),
        pytest.param(_link_to_another_group, id="link to another group's workspace"),
        pytest.param(_link_to_the_operators_text, id="link to the operator's text"),
        pytest.param(_dangling_link, id="link to nothing"),
        pytest.param(_link_to_itself, id="link to itself"),
        pytest.param(_link_in_place_of_the_first_directory, id="link in place of the first directory"),
        pytest.param(_link_in_place_of_a_later_directory, id="link in place of a later directory"),
        pytest.param(_hard_link, id="hard link to a file outside"),
        pytest.param(_hard_link_to_the_operators_text, id="hard link to the operator's text"),
        pytest.param(_pipe, id="pipe"),
        pytest.param(_pipe_in_place_of_a_directory, id="pipe in place of a directory"),
        pytest.param(_socket, id="socket"),
        pytest.param(_endless_device, id="device without an end", marks=AS_ROOT),
        pytest.param(_directory, id="directory named like the file"),
        pytest.param(_sparse_gigabyte, id="sparse gigabyte"),
        pytest.param(_name_of_control_characters, id="link with a name of control characters"),
        pytest.param(_file_in_place_of_a_directory, id="file in place of a directory"),
        pytest.param(_absolute_path, id="absolute path"),
        pytest.param(_upwards, id="path upwards"),
        pytest.param(_upwards_through_the_container_form, id="path upwards from the container's form"),
        pytest.param(_upwards_to_the_operators_text, id="path upwards to the operator's text"),
        pytest.param(_through_proc, id="path through proc"),
        pytest.param(_very_long_name, id="very long name"),
        pytest.param(_very_long_path, id="very long path"),
        pytest.param(_nothing, id="file that is not there"),
    ],
)
async def test_k6_what_is_no_plain_file_of_the_workspace_is_not_sent_and_the_next_request_is(
    live: World, outside: Path, put: Put
) -> None:
    """Case K6."""
    agent, ground = await live.agent("family"), workspace(live)
    path = put(ground, outside)
    links = {each.name: os.readlink(each) for each in ground.iterdir() if each.is_symlink()}
    (ground / "good.txt").write_bytes(b"good")

    refused = await ask_to_send(agent, "good.txt", path, text="look")
    taken = await ask_to_send(agent, "good.txt", number=2)

    assert refused["error"]["code"] == "ATTACHMENT_REFUSED"
    assert refused["error"]["suggestion"]
    assert "\x1b" not in refused["error"]["message"]
    assert len(refused["error"]["message"]) < 400
    assert taken["ok"]
    [row] = await rows(live)
    assert (row["file_name"], row["text"]) == ("good.txt", "")
    assert spool(live) == [row["spool_name"]]
    assert {each.name: os.readlink(each) for each in ground.iterdir() if each.is_symlink()} == links


async def test_a_workspace_exchanged_for_a_link_leads_nowhere(live: World, outside: Path) -> None:
    agent, ground = await live.agent("family"), workspace(live)
    ground.rename(ground.with_name("moved"))
    ground.symlink_to(outside)

    reply = await ask_to_send(agent, "secret.txt")

    assert reply["error"]["code"] == "ATTACHMENT_REFUSED"
    assert await rows(live) == []


async def test_a_file_two_thousand_directories_deep_is_refused_and_the_loop_goes_on(
    live: World, outside: Path
) -> None:
    agent, here = await live.agent("family"), os.open(workspace(live), os.O_RDONLY)
    for _ in range(2_000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("x.txt", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)

    too_long = await ask_to_send(agent, "d/" * 2_000 + "x.txt")
    too_deep = await ask_to_send(agent, "d/" * 65 + "x.txt", number=2)

    with SafeDir.open(workspace(live)) as ground:  # deeper than what cleans up after tests can go
        while not remove_dir(ground, max_entries=10_000).is_done:
            pass
    assert "2001 names deep" in too_long["error"]["message"]
    assert "66 names deep" in too_deep["error"]["message"]
    assert await rows(live) == []


async def test_a_name_that_is_not_utf8_cannot_be_asked_for_and_stays_unread(
    live: World, outside: Path
) -> None:
    agent = await live.agent("family")
    os.symlink(os.fsencode(outside / "secret.txt"), os.fsencode(workspace(live)) + b"/x\xff.txt")

    agent.drop(
        "1.json",
        b'{"type":"message","chatJid":"console:family","text":"","attachments":["x\\udcff.txt"],'
        b'"requestId":"r-1"}',
    )
    agent.drop(
        "2.json",
        b'{"type":"message","chatJid":"console:family","text":"","attachments":["x\xff.txt"]}',
    )
    await eventually(lambda: agent.lying() == [] and "r-1" in agent.replies())

    assert agent.replies()["r-1"]["ok"] is False
    assert await rows(live) == []


@pytest.mark.parametrize(
    "attachments",
    [
        pytest.param("report.pdf", id="a text instead of a list"),
        pytest.param([1], id="a number"),
        pytest.param([None], id="null in the list"),
        pytest.param([["report.pdf"]], id="a list in the list"),
        pytest.param({"path": "report.pdf"}, id="an object"),
    ],
)
async def test_a_list_of_attachments_that_is_none_is_an_invalid_request(
    live: World, attachments: object
) -> None:
    agent = await live.agent("family")
    (workspace(live) / "report.pdf").write_bytes(b"x")

    agent.say("1.json", "look", attachments=attachments, requestId="r-1")
    await eventually(lambda: "r-1" in agent.replies())

    assert agent.replies()["r-1"]["error"]["code"] == "INVALID_REQUEST"
    assert await rows(live) == []
