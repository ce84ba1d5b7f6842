"""The tool server's packages, copied from ours or fetched."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.contracts.errors import Unavailable
from orchestrator.runners import tool_packages
from orchestrator.runners.runner_files import Interpreter
from orchestrator.runners.tool_packages import (
    OUR_VERSION,
    ensure_tool_packages,
    lay_out_packages,
    own_packages,
    version_of,
)

OWN = Interpreter(inside=sys.executable, outside=sys.executable)
IMPORT = "import mcp.server.lowlevel, mcp.server.stdio; print(mcp.__file__)"


def test_ours_are_those_of_the_lock() -> None:
    found = own_packages()

    assert found is not None
    assert {"mcp/server/lowlevel/server.py", "pydantic/__init__.py"} <= found.keys()
    assert not [path for path in found if path.startswith(("/", ".."))]
    assert version_of(sys.executable) == OUR_VERSION


def test_the_lock_names_no_place_to_fetch_from() -> None:
    assert "://" not in tool_packages.LOCK.read_text()


def test_they_are_laid_out_once_run_alone_and_need_no_compiling(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        made = ensure_tool_packages(tmp_path, OWN)
    finally:
        os.umask(before)
    made_at = made.stat().st_ino

    done = subprocess.run(
        [sys.executable, "-S", "-P", "-B", "-c", IMPORT],
        env={"PYTHONPATH": str(made), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert Path(done.stdout.strip()).is_relative_to(made)
    assert list(made.glob("mcp/server/lowlevel/__pycache__/*.pyc"))
    assert stat.S_IMODE((made / "mcp" / "__init__.py").stat().st_mode) == 0o644
    assert ensure_tool_packages(tmp_path, OWN).stat().st_ino == made_at
    assert os.listdir(tmp_path) == [made.name]


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(Unavailable, match="file"):
        ensure_tool_packages(tmp_path / "file", OWN)


def test_a_python_for_which_nothing_is_served_is_named_with_what_would_be_needed(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"can't be laid out.*fetched with pip"):
        lay_out_packages(tmp_path / "tools", (3, 1))
