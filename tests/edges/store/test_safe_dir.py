"""Nothing that is put into a directory makes us read, write or remove anything outside of it."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import (
    Busy,
    HasLinks,
    NotADir,
    NotRegular,
    TooLarge,
    Unreadable,
    UnsafeEntry,
    Vanished,
)
from tests.edges.store.ground import ground as ground
from tests.edges.store.ground import outside as outside
from tests.edges.store.ground import safe as safe
from tests.support.descriptors import open_descriptors

LIMIT = 1_000


def test_a_plain_file_is_read_with_what_identifies_it(ground: Path, safe: SafeDir) -> None:
    (ground / "a.json").write_bytes(b"x" * LIMIT)
    status = (ground / "a.json").stat()

    file = safe.read("a.json", LIMIT)

    assert (file.raw, file.size) == (b"x" * LIMIT, LIMIT)
    assert (file.inode, file.ctime_ns, file.mtime_ns) == (
        status.st_ino,
        status.st_ctime_ns,
        status.st_mtime_ns,
    )


def test_an_empty_file_is_read_as_empty(ground: Path, safe: SafeDir) -> None:
    (ground / "a.json").touch()

    assert safe.read("a.json", LIMIT).raw == b""


def _symlink(ground: Path, outside: Path) -> None:
    (ground / "x.json").symlink_to(outside / "secret.json")


def _dangling_symlink(ground: Path, outside: Path) -> None:
    (ground / "x.json").symlink_to(outside / "nothing")


def _fifo(ground: Path, outside: Path) -> None:
    os.mkfifo(ground / "x.json")


def _directory(ground: Path, outside: Path) -> None:
    (ground / "x.json").mkdir()


def _socket(ground: Path, outside: Path) -> None:
    here = os.getcwd()
    os.chdir(ground)  # a socket's path may be 100 bytes at most
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("x.json")
    os.chdir(here)


def _hard_link(ground: Path, outside: Path) -> None:
    os.link(outside / "secret.json", ground / "x.json")


def _too_large(ground: Path, outside: Path) -> None:
    (ground / "x.json").write_bytes(b"x" * (LIMIT + 1))


def _sparse_gigabyte(ground: Path, outside: Path) -> None:
    with (ground / "x.json").open("wb") as file:
        file.truncate(1 << 30)


def _nothing(ground: Path, outside: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("put", "refusal"),
    [
        pytest.param(_symlink, NotRegular, id="symbolic link"),
        pytest.param(_dangling_symlink, NotRegular, id="dangling link"),
        pytest.param(_fifo, NotRegular, id="pipe"),
        pytest.param(_directory, NotRegular, id="directory"),
        pytest.param(_socket, NotRegular, id="socket"),
        pytest.param(_hard_link, HasLinks, id="hard link"),
        pytest.param(_too_large, TooLarge, id="one byte too many"),
        pytest.param(_sparse_gigabyte, TooLarge, id="sparse gigabyte"),
        pytest.param(_nothing, Vanished, id="nothing"),
    ],
)
def test_what_is_no_plain_file_is_refused_at_once_and_by_its_kind(
    ground: Path,
    outside: Path,
    safe: SafeDir,
    put: Callable[[Path, Path], None],
    refusal: type[UnsafeEntry],
) -> None:
    put(ground, outside)

    with pytest.raises(UnsafeEntry) as refused:
        safe.read("x.json", LIMIT)

    assert type(refused.value) is refusal
    assert (outside / "secret.json").read_text() == "secret"


@pytest.mark.skipif(os.geteuid() != 0, reason="making a device needs root")
def test_a_device_is_refused_without_being_opened(ground: Path, safe: SafeDir) -> None:
    os.mknod(ground / "x.json", 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero: it never ends

    with pytest.raises(NotRegular, match="device"):
        safe.read("x.json", LIMIT)


def test_a_file_under_a_write_lease_is_busy_and_stops_nobody(ground: Path, safe: SafeDir) -> None:
    (ground / "x.json").write_text("{}")
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # what tells the holder that somebody opens it
    descriptor = os.open(ground / "x.json", os.O_RDWR)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        with pytest.raises(Busy):
            safe.read("x.json", LIMIT)
    finally:
        os.close(descriptor)
        signal.signal(signal.SIGIO, before)

    assert safe.read("x.json", LIMIT).raw == b"{}"


def test_a_file_that_changes_while_it_is_read_gives_all_of_one_state_or_busy(
    ground: Path, safe: SafeDir
) -> None:
    path = ground / "x.json"
    states = [b"a" * 900, b"b" * 10, b"c" * 500, b""]
    path.write_bytes(states[0])
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            for state in states:
                with path.open("r+b") as file:
                    file.truncate(0)
                    file.write(state)

    changer = threading.Thread(target=change)
    changer.start()
    seen: set[bytes] = set()
    try:
        for _ in range(3_000):
            try:
                seen.add(safe.read("x.json", LIMIT).raw)
            except Busy:
                continue
    finally:
        stop.set()
        changer.join()

    assert seen <= set(states)


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_stands_in_a_directorys_place_is_not_entered(
    ground: Path, outside: Path, safe: SafeDir, kind: str
) -> None:
    if kind == "link":
        (ground / "messages").symlink_to(outside)
    else:
        (ground / "messages").write_text("not a directory")

    with pytest.raises(NotADir):
        safe.child("messages")
    with pytest.raises(NotADir):
        safe.descend(["messages", "deeper"])


def test_a_link_is_not_followed_as_the_root_either(ground: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(ground)

    with pytest.raises(NotADir):
        SafeDir.open(tmp_path / "link")


def test_a_directory_exchanged_for_a_link_after_it_was_opened_leads_nowhere_else(
    ground: Path, outside: Path, safe: SafeDir
) -> None:
    (ground / "messages").mkdir()
    (ground / "messages" / "mine.json").write_text("mine")
    messages = safe.child("messages")
    (ground / "messages").rename(ground / "moved")
    (ground / "messages").symlink_to(outside)

    with messages:
        names, _ = messages.names(10)
        messages.write_atomically("new.json", b"new")
        messages.remove("mine.json")
        with pytest.raises(Vanished):
            messages.read("secret.json", LIMIT)
        assert messages.remove("secret.json") is False

    assert names == ["mine.json"]
    assert [path.name for path in outside.iterdir()] == ["secret.json"]
    assert [path.name for path in (ground / "moved").iterdir()] == ["new.json"]


def test_a_directory_swapped_with_a_link_all_the_time_is_never_left(
    ground: Path, outside: Path, safe: SafeDir
) -> None:
    (ground / "messages").mkdir()
    (ground / "messages" / "secret.json").write_text("mine")
    (ground / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(ground / "messages", ground / "aside")
            os.rename(ground / "link", ground / "messages")
            os.rename(ground / "messages", ground / "link")
            os.rename(ground / "aside", ground / "messages")

    swapper = threading.Thread(target=swap)
    swapper.start()
    read: list[bytes] = []
    tries, deadline = 0, time.monotonic() + 60
    try:
        while tries < 2_000 or (not read and time.monotonic() < deadline):
            tries += 1
            try:
                with safe.child("messages") as messages:
                    read.append(messages.read("secret.json", LIMIT).raw)
            except (NotADir, Vanished):
                continue
    finally:
        stop.set()
        swapper.join()

    assert set(read) == {b"mine"}


def test_names_come_in_order_bounded_and_whatever_their_bytes(ground: Path, safe: SafeDir) -> None:
    for name in (b"b.json", b"a.json", b"\xff\xfe.json", "ü.json".encode(), b"-rf", b" \n"):
        os.close(os.open(os.path.join(os.fsencode(ground), name), os.O_CREAT))

    names, more = safe.names(6)
    some, is_more = safe.names(5)

    assert names == sorted(["b.json", "a.json", "\udcff\udcfe.json", "ü.json", "-rf", " \n"])
    assert more is False
    assert (len(some), is_more) == (5, True)
    assert safe.read("\udcff\udcfe.json", LIMIT).raw == b""


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "/etc/passwd", "a\0b"])
def test_a_name_of_more_than_one_component_is_an_error_of_ours(safe: SafeDir, name: str) -> None:
    for operation in (safe.child, safe.remove, safe.entry, lambda each: safe.read(each, LIMIT)):
        with pytest.raises(ValueError, match="one component"):
            operation(name)


@given(name=st.text(min_size=1, max_size=40))
def test_no_name_whatever_reaches_outside(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    top = tmp_path_factory.mktemp("names")
    (top / "ground").mkdir()

    with SafeDir.open(top / "ground") as safe:
        try:
            safe.write_atomically(name, b"x")
        except (ValueError, OSError):
            written = 0
        else:
            written = 1

    assert len(list((top / "ground").iterdir())) == written
    assert [path.name for path in top.iterdir()] == ["ground"]


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_a_file_kept_from_us_by_its_modes_is_unreadable_and_can_be_removed(ground: Path) -> None:
    (ground / "x.json").write_text("{}")
    (ground / "x.json").chmod(0)
    os.chown(ground, 65_534, -1)
    os.chown(ground / "x.json", 65_534, -1)
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from orchestrator.store.safe_dir import SafeDir\n"
        "from orchestrator.store.unsafe import Unreadable\n"
        "ground = SafeDir.open(Path(sys.argv[1]))\n"  # before the rights go: the way there is root's
        "os.setuid(65534)\n"
        "try:\n"
        "    ground.read('x.json', 100)\n"
        "except Unreadable:\n"
        "    print('unreadable', ground.remove('x.json'))\n"
    )

    seen = subprocess.run(
        [sys.executable, "-c", script, str(ground)], check=True, capture_output=True, text=True
    )

    assert seen.stdout.split() == ["unreadable", "True"]
    assert list(ground.iterdir()) == []
    assert issubclass(Unreadable, UnsafeEntry)


def test_no_descriptor_is_leaked_by_refusals(ground: Path, outside: Path, safe: SafeDir) -> None:
    (ground / "link").symlink_to(outside)
    os.mkfifo(ground / "pipe")
    (ground / "dir").mkdir()
    before = open_descriptors()

    for _ in range(50):
        for name in ("link", "pipe", "dir", "nothing"):
            with pytest.raises(UnsafeEntry):
                safe.read(name, LIMIT)
        with pytest.raises(UnsafeEntry):
            safe.descend(["dir", "nothing"])
        with pytest.raises(UnsafeEntry):
            safe.child("link")
        safe.names(1)

    assert open_descriptors() <= before
