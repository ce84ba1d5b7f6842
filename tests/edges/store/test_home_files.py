"""What the host puts into a session home, whatever the agent left there."""

import os
import stat
from pathlib import Path

import pytest

from orchestrator.store.home_files import clear_laid_files, furnish_home, lay_file

DIRECTORIES = (".codex", ".config", ".config/deep")
FILES = {".codex/config.toml": "model = 1\n", "top.json": "{}\n"}


def furnish(home: Path) -> None:
    """As a start does."""
    furnish_home(home, directories=DIRECTORIES, files=FILES, uid=None, gid=None)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir(mode=0o700)
    return path


def test_directories_are_private_and_files_hold_what_they_should(home: Path) -> None:
    furnish(home)

    assert {str(p.relative_to(home)) for p in home.rglob("*")} == {*DIRECTORIES, *FILES}
    assert [stat.S_IMODE((home / name).stat().st_mode) for name in DIRECTORIES] == [0o700] * 3
    assert [(home / name).read_text() for name in FILES] == list(FILES.values())


def test_a_file_that_is_right_already_is_left_alone(home: Path) -> None:
    furnish(home)
    before = (home / "top.json").stat().st_ino

    furnish(home)

    assert (home / "top.json").stat().st_ino == before


def test_what_the_agent_wrote_there_is_written_over(home: Path) -> None:
    furnish(home)
    (home / "top.json").write_text("hooks")

    furnish(home)

    assert (home / "top.json").read_text() == "{}\n"


def test_attack_a_link_in_the_place_of_a_directory_leads_nowhere(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (home / ".codex").symlink_to(outside)

    furnish(home)

    assert list(outside.iterdir()) == []
    assert (home / ".codex").is_dir()
    assert not (home / ".codex").is_symlink()
    assert (home / ".codex/config.toml").read_text() == "model = 1\n"


def test_attack_a_link_in_the_place_of_a_file_is_replaced_not_followed(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (home / "top.json").symlink_to(outside)

    furnish(home)

    assert outside.read_text() == "mine"
    assert not (home / "top.json").is_symlink()


@pytest.mark.parametrize("name", ["top.json", ".codex"])
def test_what_is_of_another_kind_is_moved_aside_and_kept(home: Path, name: str) -> None:
    if name == "top.json":
        (home / name).mkdir()
        (home / name / "kept").write_text("kept")
    else:
        (home / name).write_text("kept")

    furnish(home)

    (aside,) = home.glob(f"{name}.aside-*")
    assert (aside / "kept" if aside.is_dir() else aside).read_text() == "kept"


def test_a_directory_without_rights_is_opened_again(home: Path) -> None:
    furnish(home)
    (home / ".codex").chmod(0)

    furnish(home)

    assert stat.S_IMODE((home / ".codex").stat().st_mode) == 0o700


def test_a_laid_file_is_for_reading_and_made_once(tmp_path: Path) -> None:
    first, again, other = (lay_file(tmp_path, text) for text in ("a", "a", "b"))

    assert first == again != other
    assert (first.read_text(), stat.S_IMODE(first.stat().st_mode)) == ("a", 0o444)
    clear_laid_files(tmp_path)
    assert os.listdir(tmp_path) == []
