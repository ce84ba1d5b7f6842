"""Nothing that is put into a directory makes us write or remove anything outside of it."""

import os
from pathlib import Path

import pytest

from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import (
    NotRegular,
    Vanished,
)
from tests.edges.store.ground import ground as ground
from tests.edges.store.ground import outside as outside
from tests.edges.store.ground import safe as safe


@pytest.mark.parametrize("kind", ["link to a file", "link to nothing", "hard link", "pipe"])
def test_writing_replaces_what_stands_there_and_never_writes_through_it(
    ground: Path, outside: Path, safe: SafeDir, kind: str
) -> None:
    if kind == "link to a file":
        (ground / "x.json").symlink_to(outside / "secret.json")
    elif kind == "link to nothing":
        (ground / "x.json").symlink_to(outside / "new.json")
    elif kind == "hard link":
        os.link(outside / "secret.json", ground / "x.json")
    else:
        os.mkfifo(ground / "x.json")

    safe.write_atomically("x.json", b"ours", mode=0o640)

    assert (ground / "x.json").read_bytes() == b"ours"
    assert (ground / "x.json").lstat().st_mode & 0o7777 == 0o640
    assert [path.name for path in ground.iterdir()] == ["x.json"]
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("secret.json", "secret")]


def test_writing_onto_a_directory_is_refused_and_leaves_nothing_behind(ground: Path, safe: SafeDir) -> None:
    (ground / "x.json").mkdir()

    with pytest.raises(NotRegular):
        safe.write_atomically("x.json", b"ours")

    assert [path.name for path in ground.iterdir()] == ["x.json"]


def test_a_new_file_is_never_made_where_a_link_stands(ground: Path, outside: Path, safe: SafeDir) -> None:
    (ground / ".x.json.tmp").symlink_to(outside / "new.json")

    with pytest.raises(FileExistsError):
        safe.write_new(".x.json.tmp", b"ours")

    assert not (outside / "new.json").exists()


def test_removing_takes_the_link_and_not_what_it_points_to(
    ground: Path, outside: Path, safe: SafeDir
) -> None:
    (ground / "x.json").symlink_to(outside / "secret.json")
    os.link(outside / "secret.json", ground / "y.json")

    assert safe.remove("x.json") is True
    assert safe.remove("y.json") is True
    assert safe.remove("z.json") is False

    assert list(ground.iterdir()) == []
    assert (outside / "secret.json").read_text() == "secret"


def test_a_removed_directory_is_empty_and_takes_nothing(ground: Path, safe: SafeDir) -> None:
    ground.rmdir()

    assert safe.names(10) == ([], False)
    with pytest.raises(Vanished):
        safe.write_atomically("x", b"")


@pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs root")
def test_owner_and_mode_are_exactly_as_asked_whatever_the_umask(ground: Path, safe: SafeDir) -> None:
    before = os.umask(0o077)
    try:
        safe.make_child("d", mode=0o711, uid=4_321, gid=4_322).close()
        safe.write_atomically("f", b"x", mode=0o640, uid=4_321, gid=4_322)
    finally:
        os.umask(before)

    for name, mode in (("d", 0o711), ("f", 0o640)):
        status = (ground / name).stat()
        assert (status.st_mode & 0o7777, status.st_uid, status.st_gid) == (mode, 4_321, 4_322)
