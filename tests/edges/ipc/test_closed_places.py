"""An agent of our own user may take rights away from us; it closes nothing for good."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.contracts.ids import BoxName, GroupFolder
from orchestrator.contracts.wire.boxes import BOX_DIRECTORIES
from orchestrator.ipc.acks import read_acks
from orchestrator.ipc.box import Box
from orchestrator.store.group_files import give_home, give_workspace
from orchestrator.store.safe_dir import SafeDir
from tests.support.plain_user import as_plain_user, plain_users_directory

FAMILY = BoxName("family")
ACK = '{"turnId":"t-1","status":"started"}'


@pytest.fixture
def ground() -> Iterator[Path]:
    """A place of the user who is no root."""
    with plain_users_directory() as path:
        yield path


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_what_lies_in_a_directory_that_was_closed_under_our_hands_is_read(ground: Path) -> None:
    def seen() -> tuple[list[str], list[str]]:
        with SafeDir.open(ground) as ipc:
            box = Box.make(ipc, FAMILY, uid=None, gid=None)
        (ground / "family" / "messages" / "1.json").write_text("{}")
        (ground / "family" / "acks" / "t-1.json").write_text(ACK)
        for directory in BOX_DIRECTORIES:
            (ground / "family" / directory).chmod(0)
        (ground / "family").chmod(0)
        try:
            return box.listing("messages", max_entries=10).requests, list(read_acks(box.directory("acks")))
        finally:
            box.close()

    requests, acks = as_plain_user(seen)

    assert requests == ["1.json"]
    assert acks == ["t-1"]


def test_a_left_box_whose_directories_are_closed_is_opened_as_it_is(ground: Path) -> None:
    def reopened() -> list[str]:
        with SafeDir.open(ground) as ipc:
            Box.make(ipc, FAMILY, uid=None, gid=None).close()
            (ground / "family" / "messages" / "1.json").write_text("{}")
            for directory in BOX_DIRECTORIES:
                (ground / "family" / directory).chmod(0)
            (ground / "family").chmod(0)
            box = Box.reopen(ipc, FAMILY)
            assert box is not None
            try:
                return box.listing("messages", max_entries=10).requests
            finally:
                box.close()

    assert as_plain_user(reopened) == ["1.json"]


def test_a_workspace_and_a_session_home_that_their_agent_closed_are_open_at_the_next_start(
    ground: Path,
) -> None:
    def given_again() -> None:
        give_workspace(ground, GroupFolder("family"), uid=None, gid=None)
        give_home(ground / "sessions" / "home", uid=None, gid=None)
        (ground / "family" / "workspace").chmod(0)
        (ground / "sessions" / "home").chmod(0)
        give_workspace(ground, GroupFolder("family"), uid=None, gid=None)
        give_home(ground / "sessions" / "home", uid=None, gid=None)

    as_plain_user(given_again)

    assert _mode(ground / "family" / "workspace") == 0o700
    assert _mode(ground / "sessions" / "home") == 0o700


def test_a_link_in_a_closed_directorys_place_opens_nothing_of_another(ground: Path) -> None:
    def tried() -> None:
        (ground / "another").mkdir(mode=0)
        (ground / "link").symlink_to(ground / "another")
        with SafeDir.open(ground) as here:
            here.mend_child("link")

    as_plain_user(tried)

    assert _mode(ground / "another") == 0


def test_a_home_that_is_no_directory_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "home").touch()

    with pytest.raises(OSError, match=r"is not a directory$"):
        give_home(tmp_path / "home", uid=None, gid=None)
