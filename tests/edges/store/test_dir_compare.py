"""What an agent changed, seen by comparing its files before and after. agents.md section 2."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.store.dir_compare import CompareLimits, changed_since, mark_dirs

PATHS = ("out/", "notes.txt")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Files that may be written, and one beside them."""
    for name in ("out/deep/a", "out/b", "notes.txt", "beside.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def test_written_made_and_removed_files_are_named_and_nothing_beside_them(workspace: Path) -> None:
    before = mark_dirs(workspace, PATHS)
    assert before is not None
    (workspace / "out/b").write_text("other")
    (workspace / "out/new").mkdir()
    (workspace / "out/new/c").write_text("c")
    (workspace / "out/deep/a").unlink()
    (workspace / "notes.txt").unlink()
    (workspace / "beside.txt").write_text("other")

    assert changed_since(before, workspace, PATHS) == ("notes.txt", "out/b", "out/deep/a", "out/new/c")


def test_a_file_that_was_only_touched_or_written_as_it_was_is_not_changed(workspace: Path) -> None:
    before = mark_dirs(workspace, PATHS)
    assert before is not None
    os.utime(workspace / "out/b", ns=(1, 1))
    (workspace / "notes.txt").write_text("notes.txt")

    assert changed_since(before, workspace, PATHS) == ()


def test_a_change_of_the_same_size_whose_time_was_put_back_is_seen(workspace: Path) -> None:
    before, path = mark_dirs(workspace, PATHS), workspace / "out/b"
    assert before is not None
    was = path.stat()
    path.write_text("0ut/b")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))

    assert changed_since(before, workspace, PATHS) == ("out/b",)


def test_what_is_too_much_to_be_read_goes_by_its_times(workspace: Path) -> None:
    before = mark_dirs(workspace, PATHS, CompareLimits(hashed_bytes=0))
    assert before is not None
    os.utime(workspace / "out/b", ns=(1, 1))

    assert changed_since(before, workspace, PATHS) == ("out/b",)


def test_a_link_put_in_the_place_of_a_file_is_a_change_and_is_not_followed(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = mark_dirs(workspace, PATHS)
    assert before is not None
    foreign = tmp_path_factory.mktemp("foreign")
    (foreign / "secret").write_text("s")
    (workspace / "out/b").unlink()
    (workspace / "out/b").symlink_to(foreign)

    assert changed_since(before, workspace, PATHS) == ("out/b",)


def test_without_paths_it_is_the_whole_workspace(workspace: Path) -> None:
    before = mark_dirs(workspace, ())
    assert before is not None
    (workspace / "beside.txt").write_text("other")

    assert changed_since(before, workspace, ()) == ("beside.txt",)


def test_a_directory_that_became_a_link_is_named_with_what_it_held_and_not_followed(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = mark_dirs(workspace, PATHS)
    assert before is not None
    foreign = tmp_path_factory.mktemp("foreign")
    (foreign / "b").write_text("s")
    (workspace / "out").rename(workspace / "elsewhere")
    (workspace / "out").symlink_to(foreign)

    assert changed_since(before, workspace, PATHS) == ("out", "out/b", "out/deep/a")


def test_a_name_that_is_no_text_is_shown_so_that_it_can_be_told(workspace: Path) -> None:
    before = mark_dirs(workspace, PATHS)
    assert before is not None
    (workspace / os.fsdecode(b"out/\xff")).write_text("x")

    assert changed_since(before, workspace, PATHS) == ("out/\\xff",)


def test_of_more_files_than_can_be_named_the_first_are(workspace: Path) -> None:
    before = mark_dirs(workspace, PATHS)
    assert before is not None
    for name in "cba":
        (workspace / "out" / f"new-{name}").touch()

    assert changed_since(before, workspace, PATHS, CompareLimits(named=2)) == ("out/new-a", "out/new-b")


def test_of_a_tree_that_is_too_large_nothing_is_said(workspace: Path) -> None:
    before, few = mark_dirs(workspace, PATHS), CompareLimits(files=2)
    assert before is not None

    assert mark_dirs(workspace, PATHS, few) is None
    assert changed_since(before, workspace, PATHS, few) is None


Files = st.dictionaries(st.sampled_from(["a", "b", "d/c", "d/e/f"]), st.binary(max_size=3), max_size=4)


@given(Files, Files)
def test_what_is_named_is_what_differs(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, bytes], second: dict[str, bytes]
) -> None:
    workspace = tmp_path_factory.mktemp("workspace")
    _write(workspace, first)
    before = mark_dirs(workspace, ())
    assert before is not None
    for name in first:
        (workspace / name).unlink()
    _write(workspace, second)

    differing = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    assert changed_since(before, workspace, ()) == tuple(sorted(differing))


def _write(workspace: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
