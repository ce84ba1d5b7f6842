"""The session home of a single agent goes with it, whatever it put there; a group's home stays."""

import os
from pathlib import Path

import pytest

from orchestrator.contracts.ids import AgentId, BoxName, own_box
from orchestrator.store.own_homes import own_homes, remove_own_home
from tests.edges.ipc.conftest import mount_small_disk, unmount

BOX = own_box(AgentId("agent-1"))


def test_a_home_goes_with_all_that_is_in_it_and_what_its_links_name_stays(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("precious")
    sessions = tmp_path / "sessions"
    closed = sessions / BOX / ".claude" / "projects"
    closed.mkdir(parents=True)
    (closed / "session.jsonl").write_text("{}")
    (sessions / BOX / "link").symlink_to(precious)
    closed.chmod(0o000)

    remove_own_home(sessions, BOX)

    assert os.listdir(sessions) == []
    assert precious.read_text() == "precious"


def test_a_home_that_was_never_made_is_none_to_remove(tmp_path: Path) -> None:
    remove_own_home(tmp_path, BOX)


def test_a_link_in_the_place_of_a_home_goes_and_what_it_names_stays(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "sessions" / BOX).symlink_to(tmp_path / "elsewhere")

    remove_own_home(tmp_path / "sessions", BOX)

    assert os.listdir(tmp_path / "sessions") == []
    assert (tmp_path / "elsewhere").is_dir()


def test_only_homes_of_single_agents_are_found_and_removed(tmp_path: Path) -> None:
    for name in ("kitchen", BOX):
        (tmp_path / name / "claude").mkdir(parents=True)

    assert own_homes(tmp_path) == [BOX]
    remove_own_home(tmp_path, BoxName("kitchen"))

    assert (tmp_path / "kitchen" / "claude").is_dir()


def test_what_resists_is_told_by_name(tmp_path: Path) -> None:
    held = tmp_path / BOX / "held"
    held.mkdir(parents=True)
    mount_small_disk(held, size="64k")
    try:
        with pytest.raises(OSError, match="1 entries can't be removed"):
            remove_own_home(tmp_path, BOX)
    finally:
        unmount(held)
    remove_own_home(tmp_path, BOX)

    assert os.listdir(tmp_path) == []
