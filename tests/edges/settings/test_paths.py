"""The directories of a home, made for real."""

import os
import stat
from pathlib import Path

import pytest

from orchestrator.contracts.ids import GroupFolder
from orchestrator.paths import Paths, open_mode


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_everything_lies_below_the_home(tmp_path: Path) -> None:
    paths = Paths(home=tmp_path)

    paths.ensure()

    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert made == {
        *("groups", "data", "data/ipc", "data/store", "data/sessions", "data/logs"),
        *("data/programs", "data/run", "data/backups", "data/spool", "data/console_files", "data/laid"),
        "data/workspaces",
    }
    assert paths.database == tmp_path / "data/store/dovecote.db"
    assert paths.operator_token == tmp_path / "data/store/operator.token"
    assert paths.group(GroupFolder("main")) == tmp_path / "groups/main"


def test_nobody_else_can_list_what_is_made_and_a_mode_too_open_is_mended(tmp_path: Path) -> None:
    (tmp_path / "data/store").mkdir(parents=True)
    (tmp_path / "data/store").chmod(0o777)
    passed_through = 0o711 if os.geteuid() == 0 else 0o700

    Paths(home=tmp_path).ensure()

    assert mode(tmp_path / "data/store") == 0o700
    assert mode(tmp_path / "data/logs") == 0o700
    assert mode(tmp_path / "data/ipc") == passed_through
    assert mode(tmp_path / "groups") == passed_through
    assert [path for path in tmp_path.rglob("*") if open_mode(path)] == []


def test_ensuring_twice_keeps_what_is_there(tmp_path: Path) -> None:
    paths = Paths(home=tmp_path)
    paths.ensure()
    paths.database.write_text("kept")

    paths.ensure()

    assert paths.database.read_text() == "kept"


@pytest.mark.parametrize("length", [1, 60, 110, 200])
def test_the_socket_path_always_fits_a_socket_address(tmp_path: Path, length: int) -> None:
    home = tmp_path / ("x" * length)

    socket = Paths(home=home).socket

    assert len(os.fsencode(socket)) <= 100
    if len(os.fsencode(home / "data/run/dovecote.sock")) <= 100:
        assert socket == home / "data/run/dovecote.sock"


def test_two_homes_with_long_paths_have_two_sockets(tmp_path: Path) -> None:
    first, second = (Paths(home=tmp_path / (letter * 150)).socket for letter in "ab")

    assert first != second
    assert first.parent == second.parent
