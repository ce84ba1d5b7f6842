"""The paths that a spawned agent may write, looked up in a workspace that others write too.

Source: agents.md section 2.
"""

import os
from pathlib import Path

import pytest

from orchestrator.contracts.errors import ErrorCode, InvalidRequest
from orchestrator.store.writable_paths import make_writable_paths


def make(workspace: Path, *paths: str) -> tuple[Path, ...]:
    """As our own user."""
    return make_writable_paths(workspace, paths, uid=None, gid=None)


def test_what_is_missing_is_made_a_directory_where_it_ends_in_a_slash(tmp_path: Path) -> None:
    made = make(tmp_path, "new/deep/", "notes/today.txt")

    assert made == (tmp_path / "new/deep", tmp_path / "notes/today.txt")
    assert (tmp_path / "new/deep").is_dir()
    assert (tmp_path / "notes/today.txt").read_bytes() == b""


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o750)
    (tmp_path / "out/a").write_text("a")

    assert make(tmp_path, "out", "out/a") == (tmp_path / "out", tmp_path / "out/a")
    assert (tmp_path / "out/a").read_text() == "a"
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("path", ["link", "link/", "link/inside", "broken", "pipe", "twice"])
def test_attack_a_writable_path_leads_nowhere_by_a_link_a_pipe_or_a_second_name(
    tmp_path: Path, path: str
) -> None:
    workspace, foreign = tmp_path / "workspace", tmp_path / "foreign"
    workspace.mkdir()
    (foreign / "inside").mkdir(parents=True)
    (foreign / "file").write_text("s")
    (workspace / "link").symlink_to(foreign)
    (workspace / "broken").symlink_to(tmp_path / "nothing")
    (workspace / "twice").hardlink_to(foreign / "file")
    os.mkfifo(workspace / "pipe")

    with pytest.raises(InvalidRequest) as refused:
        make(workspace, path)

    assert refused.value.code is ErrorCode.INVALID_WORKSPACE
    assert sorted(each.name for each in foreign.iterdir()) == ["file", "inside"]
    assert not (tmp_path / "nothing").exists()
