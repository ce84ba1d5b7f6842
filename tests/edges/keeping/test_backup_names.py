"""A backup takes a name that is free at its end, also where a file cannot have two names."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from orchestrator.paths import Paths
from tests.support.store_template import lay_store

_PROGRAM: Final = """
import errno, os, sys
from datetime import UTC, datetime
from pathlib import Path

from orchestrator.commands.keeping.backups import back_up
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.paths import Paths

home, target = Path(sys.argv[1]), Path(sys.argv[2])
has_links, is_taken = "links" in sys.argv, "taken" in sys.argv

def look(event, details):
    if event == "os.link":
        if is_taken:
            target.write_text("mine")
        if not has_links:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

sys.addaudithook(look)
try:
    back_up(Paths(home=home), target, with_secrets=False, at=datetime(2026, 3, 1, tzinfo=UTC))
except InvalidRequest as refused:
    sys.exit(refused.message)
"""


def _back_up(tmp_path: Path, *how: str) -> "subprocess.CompletedProcess[str]":
    """In a process of its own, on a file system with second names or without; the target free or not."""
    paths = Paths(home=tmp_path / "home")
    paths.ensure()
    lay_store(paths.database)
    (tmp_path / "to").mkdir()
    argv = [sys.executable, "-c", _PROGRAM, str(paths.home), str(tmp_path / "to" / "b.tar.gz"), *how]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("how", [("links",), ()], ids=["second names", "none"])
def test_what_comes_to_its_place_meanwhile_stays(tmp_path: Path, how: tuple[str, ...]) -> None:
    ended = _back_up(tmp_path, *how, "taken")

    assert ended.returncode == 1
    assert "is there already" in ended.stderr
    assert (tmp_path / "to" / "b.tar.gz").read_text() == "mine"
    assert os.listdir(tmp_path / "to") == ["b.tar.gz"]


def test_a_file_system_without_second_names_takes_one(tmp_path: Path) -> None:
    ended = _back_up(tmp_path)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "to" / "b.tar.gz").read_bytes().startswith(b"\x1f\x8b")
    assert (tmp_path / "to" / "b.tar.gz").stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path / "to") == ["b.tar.gz"]
