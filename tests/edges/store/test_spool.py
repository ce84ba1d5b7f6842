"""A file on its way out of a workspace: copied whole, or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.store import spool
from orchestrator.store.safe_copy import copy_file
from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.unsafe import Busy, NotRegular, TooLarge
from tests.edges.ipc.conftest import mount_small_disk, unmount

LIMIT = 3 * 1024 * 1024
CONTENT = b"x" * (2 * 1024 * 1024 + 17)


@pytest.fixture
def ground(tmp_path: Path) -> Path:
    """A workspace."""
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """The spool."""
    path = tmp_path / "spool"
    path.mkdir()
    return path


def test_a_file_is_copied_whole_for_us_alone(ground: Path, copies: Path) -> None:
    (ground / "a").mkdir()
    (ground / "a" / "photo.JPG").write_bytes(CONTENT)

    file = spool.copy_in(ground, ("a", "photo.JPG"), copies, max_bytes=LIMIT)

    assert file.size_bytes == len(CONTENT)
    assert spool.names(copies) == [file.spool_name]
    assert (copies / file.spool_name).read_bytes() == CONTENT
    assert (copies / file.spool_name).stat().st_mode & 0o777 == 0o600
    assert (ground / "a" / "photo.JPG").read_bytes() == CONTENT


@pytest.mark.parametrize("size", [0, 1, LIMIT - 1, LIMIT])
def test_every_size_up_to_the_limit_is_taken(ground: Path, copies: Path, size: int) -> None:
    (ground / "a").write_bytes(b"y" * size)

    file = spool.copy_in(ground, ("a",), copies, max_bytes=LIMIT)

    assert file.size_bytes == size
    assert (copies / file.spool_name).read_bytes() == b"y" * size


def test_a_byte_over_the_limit_is_refused_with_both_numbers(ground: Path, copies: Path) -> None:
    (ground / "a").write_bytes(b"y" * (LIMIT + 1))

    with pytest.raises(TooLarge, match=f"{LIMIT + 1} bytes; {LIMIT} is the limit"):
        spool.copy_in(ground, ("a",), copies, max_bytes=LIMIT)

    assert spool.names(copies) == []


def _grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def _grow_over_the_limit(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"z" * LIMIT)


def _shrink(path: Path) -> None:
    os.truncate(path, 10)


def _vanish(path: Path) -> None:
    path.unlink()


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(b"another file")
    other.rename(path)


def _get_a_second_name(path: Path) -> None:
    os.link(path, path.with_name("second"))


def _lose_its_modes(path: Path) -> None:
    path.chmod(0)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param(_grow, Busy, id="grows"),
        pytest.param(_grow_over_the_limit, TooLarge, id="grows over the limit"),
        pytest.param(_shrink, Busy, id="shrinks"),
        pytest.param(_vanish, Busy, id="vanishes"),
        pytest.param(_replace, Busy, id="is replaced by another"),
        pytest.param(_get_a_second_name, Busy, id="gets a second name"),
        pytest.param(_lose_its_modes, Busy, id="loses its modes"),
    ],
)
def test_a_file_that_changes_while_it_is_copied_is_not_sent_and_leaves_no_copy(
    ground: Path,
    copies: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    error: type[Exception],
) -> None:
    path, read, changes = ground / "a", os.read, iter([change])
    path.write_bytes(CONTENT)

    def read_and_change(fd: int, count: int) -> bytes:
        piece = read(fd, count)
        for each in changes:
            each(path)
        return piece

    monkeypatch.setattr(os, "read", read_and_change)
    with SafeDir.open(ground) as source, SafeDir.open(copies) as target, pytest.raises(error):
        copy_file(source, "a", target, "copy", max_bytes=LIMIT)

    assert spool.names(copies) == []


def test_a_link_that_takes_the_files_place_in_the_instant_before_it_is_opened_is_not_followed(
    ground: Path, copies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, look, changes = ground / "a", os.stat, iter([True])
    path.write_bytes(b"mine")
    (tmp_path / "secret").write_bytes(b"of somebody else")

    def look_and_exchange(name: str, **where: Any) -> os.stat_result:
        found = look(name, **where)
        if name == "a" and next(changes, False):
            path.unlink()
            path.symlink_to(tmp_path / "secret")
        return found

    monkeypatch.setattr(os, "stat", look_and_exchange)
    with SafeDir.open(ground) as source, SafeDir.open(copies) as target, pytest.raises(NotRegular):
        copy_file(source, "a", target, "copy", max_bytes=LIMIT)

    assert spool.names(copies) == []


def test_a_taken_name_is_never_written_over(ground: Path, copies: Path, tmp_path: Path) -> None:
    (ground / "a").write_bytes(b"new")
    (tmp_path / "kept").write_bytes(b"kept")
    (copies / "copy").symlink_to(tmp_path / "kept")

    with (
        SafeDir.open(ground) as source,
        SafeDir.open(copies) as target,
        pytest.raises(FileExistsError),
    ):
        copy_file(source, "a", target, "copy", max_bytes=LIMIT)

    assert (tmp_path / "kept").read_bytes() == b"kept"
    assert (copies / "copy").is_symlink()


def test_a_full_disk_leaves_no_copy(ground: Path, copies: Path) -> None:
    (ground / "a").write_bytes(CONTENT)
    mount_small_disk(copies, size="1m")
    try:
        with pytest.raises(OSError, match="No space left") as trouble:
            spool.copy_in(ground, ("a",), copies, max_bytes=LIMIT)
        left = spool.names(copies)
    finally:
        unmount(copies)

    assert trouble.value.errno in spool.DISK_TROUBLE
    assert left == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.pdf", "application/pdf"),
        ("a.txt", "text/plain"),
        ("a.png", "image/png"),
        ("A.JPG", "image/jpeg"),
        ("a.tar.gz", "application/gzip"),
        ("a.unheard-of", "application/octet-stream"),
        ("noending", "application/octet-stream"),
        ("http:", "application/octet-stream"),
        ("data:text", "application/octet-stream"),
    ],
)
def test_the_type_of_a_file_is_guessed_from_its_name(name: str, kind: str) -> None:
    assert spool.media_type(name) == kind


def test_copies_are_removed_and_what_is_gone_already_counts_as_removed(copies: Path) -> None:
    (copies / "a").write_bytes(b"1")
    (copies / "d").mkdir()

    gone = spool.discard(copies, ["a", "b", "d"])

    assert gone == ["a", "b"]
    assert spool.names(copies) == ["d"]
    assert spool.discard(copies / "not there", ["a"]) == []
