"""A bounded look at a workspace."""

import os
from pathlib import Path

from container.drivers.file_list import MAX_LOOKED_AT, MAX_SHOWN, list_files


def test_plain_files_are_listed_by_path_with_their_sizes(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("12345")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "c.txt").write_text("1")

    found = list_files(tmp_path)

    assert [(file.path, file.size_bytes) for file in found.files] == [("a/c.txt", 1), ("b.txt", 5)]
    assert (found.more, found.is_whole) == (0, True)


def test_links_hidden_files_and_other_things_are_passed_over(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (tmp_path / "secret").write_text("x")
    (workspace / "to-file").symlink_to(tmp_path / "secret")
    (workspace / "to-all").symlink_to(tmp_path)
    (workspace / ".hidden").write_text("x")
    os.mkfifo(workspace / "pipe")

    assert list_files(workspace).files == ()


def test_more_than_is_shown_is_counted(tmp_path: Path) -> None:
    for n in range(MAX_SHOWN + 3):
        (tmp_path / f"{n:03}").touch()

    found = list_files(tmp_path)

    assert (len(found.files), found.more, found.is_whole) == (MAX_SHOWN, 3, True)


def test_a_huge_directory_is_not_looked_through(tmp_path: Path) -> None:
    for n in range(MAX_LOOKED_AT + 1):
        (tmp_path / f"{n:05}").touch()

    found = list_files(tmp_path)

    assert len(found.files) == MAX_SHOWN
    assert not found.is_whole


def test_a_deep_tree_ends_somewhere(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"abcdefghij")
    deep.mkdir(parents=True)
    (deep / "bottom").touch()

    found = list_files(tmp_path)

    assert (found.files, found.is_whole) == ((), False)


def test_a_workspace_that_is_gone_is_empty(tmp_path: Path) -> None:
    assert list_files(tmp_path / "gone").files == ()
