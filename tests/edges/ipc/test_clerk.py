"""The clerk: what it does with a box's files, and that its death costs nothing."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from orchestrator.contracts.ids import BoxName
from orchestrator.contracts.wire.boxes import MESSAGES
from orchestrator.ipc.box import Box
from orchestrator.ipc.clerk_line import Job
from orchestrator.ipc.clerk_process import ClerkLost, ClerkProcess
from orchestrator.ipc.file_work import (
    Fate,
    NamedFile,
    ReplyFile,
    RequestFile,
    Unread,
    WhyNot,
    take_out,
    write_reply_into,
)
from orchestrator.ipc.file_worker import FileWorker
from orchestrator.ipc.removals import MAX_WAITING_BYTES, Removals
from orchestrator.store.entry import FileMark, ReadFile
from orchestrator.store.safe_dir import SafeDir
from tests.edges.ipc.clerks import clerks
from tests.support.eventually import eventually

MIB = 1024 * 1024


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """An empty box."""
    with SafeDir.open(tmp_path) as ipc:
        made = Box.make(ipc, BoxName("family"), uid=None, gid=None)
    yield made
    made.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the box lies."""
    return tmp_path / "family"


@pytest.fixture
async def clerk() -> AsyncIterator[ClerkProcess]:
    """One that is ready."""
    started = ClerkProcess.start()
    await eventually(started.is_ready)
    yield started
    started.end()


def _request(box: Box, path: Path, name: str, content: bytes = b"{}") -> RequestFile:
    """A request that lies in `messages/`, as it was read."""
    (path / MESSAGES / name).write_bytes(content)
    return RequestFile(files=box.files, directory=MESSAGES, name=name, seen=_mark(path / MESSAGES / name))


def _mark(path: Path) -> FileMark:
    status = path.stat()
    return FileMark(inode=status.st_ino, size=status.st_size, mtime_ns=status.st_mtime_ns)


def _taken(path: Path) -> list[str]:
    return [name for name in os.listdir(path) if name.startswith(".taken")]


async def test_it_reads_what_lies_there_and_says_why_it_does_not(
    box: Box, path: Path, clerk: ClerkProcess
) -> None:
    odd = os.fsdecode(b"odd-\xff.json")
    (path / MESSAGES / "1.json").write_bytes(b'{"a": "\xff"}')
    (path / MESSAGES / odd).write_bytes(b"")
    (path / MESSAGES / "large.json").write_bytes(bytes(65 * 1024))
    (path / MESSAGES / "link.json").symlink_to("/etc/hostname")
    names = ["1.json", "none.json", odd, "large.json", "link.json"]

    found = clerk.read(
        Job(named=[NamedFile(files=box.files, directory=MESSAGES, name=name) for name in names])
    )

    status = (path / MESSAGES / "1.json").stat()
    assert found[0] == ReadFile(
        raw=b'{"a": "\xff"}',
        inode=status.st_ino,
        ctime_ns=status.st_ctime_ns,
        mtime_ns=status.st_mtime_ns,
    )
    assert isinstance(found[2], ReadFile)
    assert [each.why for each in found if isinstance(each, Unread)] == [
        WhyNot.GONE,
        WhyNot.LARGE,
        WhyNot.UNSAFE,
    ]


async def test_a_job_of_more_boxes_than_one_message_carries_is_done_whole(
    tmp_path: Path, clerk: ClerkProcess
) -> None:
    with SafeDir.open(tmp_path) as ipc:
        boxes = [Box.make(ipc, BoxName(f"g{number}"), uid=None, gid=None) for number in range(120)]
    requests = [_request(box, tmp_path / box.name, "1.json") for box in boxes]
    replies = [ReplyFile(files=box.files, request_id="r-1", text=box.name) for box in boxes]

    written = clerk.do(Job(replies=replies))
    taken = clerk.do(Job(requests=requests))
    texts = [(tmp_path / box.name / "replies" / "r-1.json").read_text() for box in boxes]
    for box in boxes:
        box.close()

    assert {outcome.fate for outcome in written + taken} == {Fate.DONE}
    assert texts == [box.name for box in boxes]
    assert all(os.listdir(tmp_path / box.name / MESSAGES) == [] for box in boxes)


async def test_what_it_moved_out_is_gone_after_a_while(box: Box, path: Path, clerk: ClerkProcess) -> None:
    requests = [_request(box, path, f"{number}.json") for number in range(200)]

    outcomes = clerk.do(Job(requests=requests))

    assert {outcome.fate for outcome in outcomes} == {Fate.DONE}
    assert os.listdir(path / MESSAGES) == []
    await eventually(lambda: _taken(path) == [])


async def test_told_that_no_more_comes_it_removes_at_once_what_it_put_off(box: Box, path: Path) -> None:
    patient = ClerkProcess.start(calm_ms=3_600_000)
    await eventually(patient.is_ready)
    patient.do(Job(replies=[ReplyFile(files=box.files, request_id="r-1", text="yes")]))
    patient.do(Job(requests=[_request(box, path, "1.json")]))
    put_off = _taken(path)

    outcomes = patient.do(Job())

    await eventually(lambda: _taken(path) == [])
    patient.end()
    assert (len(put_off), outcomes) == (1, [])


async def test_another_file_of_that_name_is_a_request_of_its_own(
    box: Box, path: Path, clerk: ClerkProcess
) -> None:
    request = _request(box, path, "1.json", b"first")
    (path / MESSAGES / ".tmp").write_bytes(b"second")
    (path / MESSAGES / ".tmp").rename(path / MESSAGES / "1.json")

    (outcome,) = clerk.do(Job(requests=[request]))

    (name,) = os.listdir(path / MESSAGES)
    assert outcome.fate is Fate.ANOTHER
    assert name.startswith("1-")
    assert name.endswith(".json")
    assert (path / MESSAGES / name).read_bytes() == b"second"


async def test_a_directory_in_place_of_a_reply_is_told_and_costs_no_other(
    box: Box, path: Path, clerk: ClerkProcess
) -> None:
    (path / "replies" / "r-1.json").mkdir()
    replies = [ReplyFile(files=box.files, request_id=name, text="{}") for name in ("r-1", "r-2")]

    outcomes = clerk.do(Job(replies=replies))

    assert [outcome.fate for outcome in outcomes] == [Fate.REFUSED, Fate.DONE]
    assert (path / "replies" / "r-2.json").read_text() == "{}"


@pytest.mark.parametrize("length", [1, 64, 5_000])
def test_a_reply_is_written_into_the_file_of_a_request_that_is_done(
    box: Box, path: Path, length: int
) -> None:
    request = _request(box, path, "1.json", b"x" * 64)
    reply = ReplyFile(files=box.files, request_id="r-1", text="y" * length)

    moved = take_out(request)
    written = write_reply_into(reply, MESSAGES, request.seen)

    there = path / "replies" / "r-1.json"
    assert moved.fate is written.fate is Fate.DONE
    assert there.read_text() == "y" * length
    assert there.stat().st_ino == request.seen.inode
    assert there.stat().st_mode & 0o7777 == 0o600
    assert _taken(path) == []


def test_attack_a_second_name_for_a_request_changes_no_reply(box: Box, path: Path) -> None:
    request = _request(box, path, "1.json", b"mine")
    os.link(path / MESSAGES / "1.json", path / "kept")

    take_out(request)
    written = write_reply_into(
        ReplyFile(files=box.files, request_id="r-1", text="the answer"), MESSAGES, request.seen
    )
    (path / "kept").write_bytes(b"forged")

    assert written.fate is Fate.DONE
    assert (path / "replies" / "r-1.json").read_text() == "the answer"
    assert _taken(path) == []


def test_a_reply_that_cannot_be_put_there_leaves_nothing_behind(box: Box, path: Path) -> None:
    request = _request(box, path, "1.json")
    (path / "replies" / "r-1.json").mkdir()

    take_out(request)
    written = write_reply_into(
        ReplyFile(files=box.files, request_id="r-1", text="the answer"), MESSAGES, request.seen
    )

    assert written.fate is Fate.REFUSED
    assert _taken(path) == []


def test_only_files_of_the_same_box_are_used_for_its_replies(box: Box, path: Path, tmp_path: Path) -> None:
    with SafeDir.open(tmp_path) as ipc:
        other = Box.make(ipc, BoxName("club"), uid=None, gid=None)
    request, removals = _request(box, path, "1.json"), Removals()
    take_out(request)
    removals.add(request)

    assert removals.spare(other.files) is None
    assert removals.spare(box.files) == (MESSAGES, request.seen)
    assert removals.spare(box.files) is None
    other.close()


async def test_a_clerk_whose_line_is_closed_ends(clerk: ClerkProcess) -> None:
    clerk.end()

    with pytest.raises(ClerkLost):
        clerk.do(Job())
    assert clerks() == []


async def test_what_a_killed_clerk_did_not_report_is_done_without_it_and_a_new_one_comes(
    box: Box, path: Path
) -> None:
    named = NamedFile(files=box.files, directory=MESSAGES, name="1.json")
    request = _request(box, path, "1.json", b"text")
    with ThreadPoolExecutor(1) as executor:
        worker = FileWorker(executor)
        worker.want_clerk()
        await worker.read([named])
        await eventually(lambda: worker.clerk is not None and worker.clerk.is_ready())
        assert worker.clerk is not None
        killed = worker.clerk.pid
        os.kill(killed, signal.SIGSTOP)  # it does not answer any more
        with capture_logs() as logs:
            async with asyncio.TaskGroup() as tasks:
                outcome = tasks.create_task(worker.do(Job(requests=[request]), are_many=True))
                await asyncio.sleep(0)
                os.kill(killed, signal.SIGKILL)
        await worker.read([named])
        next_one = worker.clerk
        await worker.send_clerk_home()

    assert [each.fate for each in outcome.result()] == [Fate.DONE]
    assert os.listdir(path / MESSAGES) == []
    assert [log["event"] for log in logs] == ["clerk.lost"]
    assert next_one is not None
    assert next_one.pid != killed
    assert clerks() == []


def test_of_what_waits_for_its_removal_no_more_than_64_mib_stay(box: Box, path: Path) -> None:
    removals = Removals()
    for number in range(80):
        request = _request(box, path, f"{number}.json")
        os.truncate(path / MESSAGES / f"{number}.json", MIB)
        request = RequestFile(
            files=box.files,
            directory=MESSAGES,
            name=request.name,
            seen=_mark(path / MESSAGES / request.name),
        )
        assert box.files.take_out(MESSAGES, request.name, request.seen)
        removals.add(request)

    removals.keep_bounds()
    left = len(_taken(path))
    removals.do_all()

    assert 0 < left <= MAX_WAITING_BYTES // MIB
    assert removals.size_bytes == removals.count == 0
    assert _taken(path) == []
