"""Files of a workspace, served to a program. Source: contracts.md section 3."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from container.drivers.workspace_files import MAX_FILE_BYTES, WorkspaceFiles
from orchestrator.contracts.errors import DovecoteError, Forbidden, LimitExceeded, NotFound


def test_a_file_is_read_whole_or_by_its_lines(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree")
    files = WorkspaceFiles(tmp_path)

    assert files.read("a.txt") == "one\ntwo\nthree"
    assert files.read(str(tmp_path / "a.txt"), line=2) == "two\nthree"
    assert files.read("./a.txt", line=2, limit=1) == "two\n"
    assert files.read("a.txt", limit=2) == "one\ntwo\n"
    assert files.read("a.txt", line=9) == ""


def test_a_written_file_takes_the_place_of_the_old_one_and_keeps_its_mode(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    files = WorkspaceFiles(tmp_path)

    files.write("run.sh", "new")
    files.write("deep/er/file.txt", "made")

    assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o755)
    assert (tmp_path / "deep" / "er" / "file.txt").read_text() == "made"
    assert sorted(os.listdir(tmp_path)) == ["deep", "run.sh"]


def test_a_workspace_that_is_reached_by_a_link_is_one_workspace(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "named").symlink_to("real")
    files = WorkspaceFiles(tmp_path / "named")

    files.write(str(tmp_path / "named" / "a"), "a")

    assert files.read(str(tmp_path / "real" / "a")) == "a"


def test_what_is_no_plain_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "directory").mkdir()
    (tmp_path / "one").write_text("x")
    os.link(tmp_path / "one", tmp_path / "two")
    files = WorkspaceFiles(tmp_path)

    for name in ("fifo", "directory", "one", "one/below"):
        with pytest.raises(Forbidden):
            files.read(name)
        with pytest.raises(Forbidden):
            files.write(name, "changed")
    assert (tmp_path / "one").read_text() == "x"


def test_a_file_that_is_missing_or_too_large_is_told_as_such(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    files = WorkspaceFiles(tmp_path)

    with pytest.raises(NotFound, match="'none'"):
        files.read("none")
    with pytest.raises(LimitExceeded, match=str(MAX_FILE_BYTES)):
        files.read("large")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    parts=st.lists(
        st.sampled_from(["..", ".", "", "in", "out", "link", "a", "\0", "/", " "]), min_size=1, max_size=6
    ),
    is_absolute=st.booleans(),
)
def test_no_path_leads_out_of_the_workspace(tmp_path: Path, parts: list[str], is_absolute: bool) -> None:
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True, exist_ok=True)
    (tmp_path / "a").write_text("outside")
    if not (root / "link").is_symlink():
        (root / "link").symlink_to(tmp_path)
    path = "/".join([str(root), *parts]) if is_absolute else "/".join(parts)

    with suppress(DovecoteError):
        WorkspaceFiles(root).write(path, "inside")

    assert (tmp_path / "a").read_text() == "outside"
    assert set(os.listdir(tmp_path)) == {"a", "root"}
