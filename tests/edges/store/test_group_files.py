"""What stands in the place of an agent's workspace, its home or the operator's text at its next start."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.contracts.ids import GroupFolder
from orchestrator.store.group_files import give_home, give_workspace, read_instructions

FAMILY = GroupFolder("family")
SECRET = "the neighbour's"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What is none of the agent's business."""
    path = tmp_path / "outside"
    path.mkdir(mode=0o750)
    (path / "secret.txt").write_text(SECRET)
    return path


def seen(path: Path) -> dict[str, tuple[int, int, int]]:
    """Mode, owner and links of a directory and what is in it."""
    return {
        each.name: ((status := each.lstat()).st_mode, status.st_uid, status.st_nlink)
        for each in [path, *path.iterdir()]
    }


def _link(at: Path, outside: Path) -> None:
    at.symlink_to(outside)


def _pipe(at: Path, outside: Path) -> None:
    os.mkfifo(at)


def _file(at: Path, outside: Path) -> None:
    at.write_text("a file")


PLACES = pytest.mark.parametrize("put", [_link, _pipe, _file], ids=["link", "pipe", "file"])


@PLACES
def test_attack_what_stands_in_the_place_of_a_session_home_is_refused_and_not_handed_over(
    tmp_path: Path, outside: Path, put: Callable[[Path, Path], None]
) -> None:
    (tmp_path / "sessions").mkdir()
    put(tmp_path / "sessions" / "script", outside)
    before = seen(outside)

    with pytest.raises(OSError, match="is not a directory"):
        give_home(tmp_path / "sessions" / "script", uid=None, gid=None)

    assert seen(outside) == before


@PLACES
def test_attack_what_stands_in_the_place_of_a_workspace_is_refused_and_not_handed_over(
    tmp_path: Path, outside: Path, put: Callable[[Path, Path], None]
) -> None:
    (tmp_path / "groups" / "family").mkdir(parents=True)
    put(tmp_path / "groups" / "family" / "workspace", outside)
    before = seen(outside)

    with pytest.raises(OSError, match="is not a directory"):
        give_workspace(tmp_path / "groups", FAMILY, uid=None, gid=None)

    assert seen(outside) == before


@PLACES
def test_attack_what_stands_in_the_place_of_a_groups_folder_is_refused_and_not_handed_over(
    tmp_path: Path, outside: Path, put: Callable[[Path, Path], None]
) -> None:
    (tmp_path / "groups").mkdir()
    put(tmp_path / "groups" / "family", outside)
    before = seen(outside)

    with pytest.raises(OSError, match="is not a directory"):
        give_workspace(tmp_path / "groups", FAMILY, uid=None, gid=None)

    assert seen(outside) == before


def _text_link(at: Path, outside: Path) -> None:
    at.symlink_to(outside / "secret.txt")


def _text_hard_link(at: Path, outside: Path) -> None:
    os.link(outside / "secret.txt", at)


def _text_sparse(at: Path, outside: Path) -> None:
    with at.open("wb") as file:
        file.truncate(1 << 30)


def _text_directory(at: Path, outside: Path) -> None:
    at.mkdir()


@pytest.mark.parametrize(
    "put",
    [_text_link, _text_hard_link, _pipe, _text_sparse, _text_directory],
    ids=["link", "hard link", "pipe", "sparse gigabyte", "directory"],
)
def test_attack_what_stands_in_the_place_of_the_operators_text_is_not_read(
    tmp_path: Path, outside: Path, put: Callable[[Path, Path], None]
) -> None:
    (tmp_path / "family").mkdir()
    put(tmp_path / "family" / "AGENT.md", outside)

    with pytest.raises(OSError, match=r"AGENT\.md"):
        read_instructions(tmp_path, "family")
