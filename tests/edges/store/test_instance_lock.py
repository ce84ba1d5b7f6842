"""One Dovecote a home: named while it lives, replaced at once when it is dead."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.store.instance_lock import InstanceLock, holder_pid

HOLDER = """
import os, sys
from pathlib import Path
from orchestrator.store.instance_lock import InstanceLock
lock = InstanceLock.acquire(Path(sys.argv[1]), pid=os.getpid())
print("held", flush=True)
sys.stdin.read()
"""


def _holder(path: Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_a_living_holder_is_named_with_what_to_do(tmp_path: Path) -> None:
    with _holder(tmp_path / "lock") as holder:
        with pytest.raises(DovecoteError) as refusal:
            InstanceLock.acquire(tmp_path / "lock", pid=1)
        seen = holder_pid(tmp_path / "lock")
        holder.send_signal(signal.SIGKILL)

    assert refusal.value.code is ErrorCode.ALREADY_RUNNING
    assert str(holder.pid) in refusal.value.message
    assert f"kill {holder.pid}" in (refusal.value.suggestion or "")
    assert seen == holder.pid


def test_the_lock_of_a_killed_holder_is_free_at_once(tmp_path: Path) -> None:
    with _holder(tmp_path / "lock") as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()

        assert holder_pid(tmp_path / "lock") is None
        with InstanceLock.acquire(tmp_path / "lock", pid=os.getpid()):
            assert holder_pid(tmp_path / "lock") == os.getpid()


def test_a_released_lock_has_no_holder_and_can_be_taken_again(tmp_path: Path) -> None:
    first = InstanceLock.acquire(tmp_path / "lock", pid=41)
    first.release()
    first.release()

    assert holder_pid(tmp_path / "lock") is None
    with InstanceLock.acquire(tmp_path / "lock", pid=42):
        assert holder_pid(tmp_path / "lock") == 42


def test_looking_for_the_holder_never_keeps_anybody_from_taking_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    InstanceLock.acquire(path, pid=1).release()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            holder_pid(path)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(300):
            InstanceLock.acquire(path, pid=1).release()
    finally:
        stop.set()
        for looker in lookers:
            looker.join()


def test_a_program_that_the_holder_starts_does_not_inherit_the_lock(tmp_path: Path) -> None:
    lock = InstanceLock.acquire(tmp_path / "lock", pid=os.getpid())
    child = subprocess.Popen(["sleep", "60"], close_fds=False)
    lock.release()

    free = holder_pid(tmp_path / "lock") is None
    with InstanceLock.acquire(tmp_path / "lock", pid=os.getpid()):
        child.kill()
        child.wait()
    assert free


def test_a_link_in_the_locks_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "target")

    with pytest.raises(DovecoteError, match="cannot be taken"):
        InstanceLock.acquire(tmp_path / "lock", pid=1)

    assert (tmp_path / "target").read_text() == "precious"


def test_without_a_file_there_is_no_holder(tmp_path: Path) -> None:
    assert holder_pid(tmp_path / "lock") is None
