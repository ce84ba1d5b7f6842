"""A file of an agent that is used again for what we write: only if it is that very file, and no other."""

import fcntl
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.store.entry import FileMark
from orchestrator.store.safe_dir import SafeDir
from tests.edges.store.ground import ground as ground
from tests.edges.store.ground import outside as outside
from tests.edges.store.ground import safe as safe

US = os.geteuid()


def _seen(safe: SafeDir, name: str) -> FileMark:
    mark = safe.mark(name)
    assert mark is not None
    return mark


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(before=st.binary(max_size=5_000), after=st.binary(max_size=5_000))
def test_it_holds_exactly_what_was_written_whatever_it_held_before(
    ground: Path, safe: SafeDir, before: bytes, after: bytes
) -> None:
    (ground / "a").write_bytes(before)
    seen = _seen(safe, "a")

    assert safe.rewrite("a", after, seen=seen, mode=0o640, uid=US)

    assert (ground / "a").read_bytes() == after
    assert (ground / "a").stat().st_ino == seen.inode
    assert (ground / "a").stat().st_mode & 0o7777 == 0o640


@pytest.mark.skipif(US != 0, reason="only root gives files away")
def test_what_another_user_wrote_is_ours_afterwards(ground: Path, safe: SafeDir) -> None:
    (ground / "a").write_bytes(b"theirs")
    os.chown(ground / "a", 64_101, 64_101)
    os.chmod(ground / "a", 0o6777)

    assert safe.rewrite("a", b"ours", seen=_seen(safe, "a"), mode=0o640, uid=US, gid=64_101)

    status = (ground / "a").stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (US, 64_101, 0o640)


@pytest.mark.parametrize("kind", ["link", "hard link", "second name", "pipe", "directory", "other", "none"])
def test_anything_but_that_file_is_left_as_it_is(
    ground: Path, outside: Path, safe: SafeDir, kind: str
) -> None:
    (ground / "a").write_bytes(b"secret")
    seen = _seen(safe, "a")
    if kind == "second name":
        os.link(ground / "a", ground / "b")
    else:
        (ground / "a").rename(ground / "before")
    match kind:
        case "link":
            (ground / "a").symlink_to(outside / "secret.json")
        case "hard link":
            os.link(outside / "secret.json", ground / "a")
        case "pipe":
            os.mkfifo(ground / "a")
        case "directory":
            (ground / "a").mkdir()
        case "other":
            (ground / "a").write_bytes(b"secret")

    assert not safe.rewrite("a", b"ours", seen=seen, mode=0o600, uid=US)

    assert (outside / "secret.json").read_text() == "secret"
    if (ground / "a").is_file():
        assert (ground / "a").read_text() == "secret"


def test_a_file_under_a_lease_is_not_waited_for(ground: Path, safe: SafeDir) -> None:
    (ground / "a").write_bytes(b"theirs")
    seen = _seen(safe, "a")
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    with (ground / "a").open("rb") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        done = safe.rewrite("a", b"ours", seen=seen, mode=0o600, uid=US)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    signal.signal(signal.SIGIO, before)

    assert not done
    assert (ground / "a").read_bytes() == b"theirs"
