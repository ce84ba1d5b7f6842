"""MEMORY.md on a real disk, in hostile hands."""

import os
import socket
import stat
from pathlib import Path

import pytest

from container.drivers.notes_file import MAX_FILE_BYTES, NotesFile
from orchestrator.contracts.errors import Forbidden, LimitExceeded, Unavailable

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="making a device needs root")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


def test_notes_come_back_in_order_and_survive_a_new_start(workspace: Path) -> None:
    NotesFile(workspace).add("milk")
    NotesFile(workspace).add("call  mum\ntoday")

    assert NotesFile(workspace).all() == ["milk", "call mum today"]
    assert os.listdir(workspace) == ["MEMORY.md"]


def test_a_note_said_again_is_kept_once_and_moves_to_the_end(workspace: Path) -> None:
    notes = NotesFile(workspace)
    for note in ("milk", "bread", "Milk"):
        notes.add(note)

    assert notes.all() == ["bread", "Milk"]


def test_every_byte_that_is_no_note_is_kept(workspace: Path) -> None:
    garbage = b"\xff\xfe\x00 # mine\r\n\x0b- old\n  - indented\n-\n\n- kept \xe9\nno newline at the end"
    (workspace / "MEMORY.md").write_bytes(garbage)
    notes = NotesFile(workspace)

    notes.add("milk")
    notes.remove(["milk"])

    assert (workspace / "MEMORY.md").read_bytes() == garbage + b"\n"
    assert len(notes.all()) == 1


def test_only_the_named_notes_are_forgotten(workspace: Path) -> None:
    notes = NotesFile(workspace)
    for note in ("milk", "milk and bread", "bread"):
        notes.add(note)

    notes.remove(["milk"])

    assert notes.all() == ["milk and bread", "bread"]


def outside(workspace: Path) -> Path:
    """A file of somebody else, outside the workspace."""
    path = workspace.parent / "secret"
    path.write_text("- secret\n")
    return path


@pytest.mark.parametrize(
    "kind",
    [
        "symbolic link",
        "dangling link",
        "link to itself",
        "hard link",
        "FIFO",
        "FIFO with a writer",
        "socket",
        pytest.param("endless device", marks=AS_ROOT),
        "directory",
    ],
)
def test_what_is_no_plain_file_is_refused_and_nothing_outside_is_touched(workspace: Path, kind: str) -> None:
    secret, memory = outside(workspace), workspace / "MEMORY.md"
    match kind:
        case "symbolic link":
            memory.symlink_to(secret)
        case "dangling link":
            memory.symlink_to(workspace.parent / "made-by-a-note")
        case "hard link":
            memory.hardlink_to(secret)
        case "link to itself":
            memory.symlink_to(memory)
        case "FIFO" | "FIFO with a writer":
            os.mkfifo(memory)
        case "socket":
            bind_socket(memory)
        case "endless device":
            os.mknod(memory, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
        case _:
            memory.mkdir()
    notes = NotesFile(workspace)
    writer = os.open(memory, os.O_RDWR | os.O_NONBLOCK) if kind == "FIFO with a writer" else None

    with pytest.raises(Forbidden):
        notes.all()
    with pytest.raises(Forbidden):
        notes.add("milk")

    if writer is not None:
        os.close(writer)
    assert secret.read_text() == "- secret\n"
    assert sorted(os.listdir(workspace.parent)) == ["secret", "workspace"]


def bind_socket(path: Path) -> None:
    """A socket there; its path may be 100 bytes at most, so it is bound from beside."""
    here = os.getcwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)
    os.chdir(here)


def test_a_sparse_gigabyte_in_its_place_is_not_read(workspace: Path) -> None:
    with (workspace / "MEMORY.md").open("wb") as file:
        file.truncate(1 << 30)

    with pytest.raises(LimitExceeded):
        NotesFile(workspace).all()


def test_bytes_that_are_no_text_come_through_a_note(workspace: Path) -> None:
    (workspace / "MEMORY.md").write_bytes(b"# M\n- \xff\xfe\n\x00\x1b[2J\n")

    NotesFile(workspace).add("milk")

    assert (workspace / "MEMORY.md").read_bytes() == b"# M\n- \xff\xfe\n\x00\x1b[2J\n- milk\n"


def test_a_trap_under_the_temporary_name_is_not_written_through(workspace: Path) -> None:
    secret = outside(workspace)
    (workspace / ".MEMORY.md.tmp").symlink_to(secret)

    NotesFile(workspace).add("milk")

    assert secret.read_text() == "- secret\n"
    assert NotesFile(workspace).all() == ["milk"]


def test_a_full_file_is_refused_and_left_as_it_was(workspace: Path) -> None:
    content = b"- x\n" * (MAX_FILE_BYTES // 4)
    (workspace / "MEMORY.md").write_bytes(content)

    with pytest.raises(LimitExceeded):
        NotesFile(workspace).add("one more")

    assert (workspace / "MEMORY.md").read_bytes() == content


def test_a_file_over_the_limit_is_not_read_whole(workspace: Path) -> None:
    with open(workspace / "MEMORY.md", "wb") as file:
        file.truncate(10 * 1024**3)

    with pytest.raises(LimitExceeded):
        NotesFile(workspace).all()


def test_a_workspace_that_is_gone_is_said(workspace: Path) -> None:
    workspace.rmdir()

    with pytest.raises(Unavailable):
        NotesFile(workspace).all()
