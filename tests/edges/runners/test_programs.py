"""The agents' programs, laid out on the disk."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.contracts.errors import Unavailable
from orchestrator.runners.runner_files import (
    Interpreter,
    choose_interpreter,
    ensure_programs,
    program_files,
    stamp_of,
)

OWN = Interpreter(inside=sys.executable, outside=sys.executable)


@pytest.fixture
def strict_umask() -> Iterator[None]:
    """As the orchestrator runs."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_only_what_an_agent_may_know_is_in_it() -> None:
    files = program_files()

    ours = {path for path in files if path.startswith("orchestrator/")}
    assert {"container/agent_runner.py", "orchestrator/contracts/wire/framing.py"} <= files.keys()
    assert all(
        path.startswith("orchestrator/contracts/wire/")
        or path.removeprefix("orchestrator/")
        in {"__init__.py", "contracts/__init__.py", "contracts/ids.py", "contracts/errors.py"}
        for path in ours
    )


@pytest.mark.usefixtures("strict_umask")
def test_all_may_read_it_whatever_the_umask(tmp_path: Path) -> None:
    made = ensure_programs(tmp_path, OWN)

    for path in (made.library.parent, *made.library.parent.rglob("*")):
        wanted = 0o755 if path.is_dir() else 0o644
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def test_it_runs_alone_and_needs_no_compiling(tmp_path: Path) -> None:
    made = ensure_programs(tmp_path, OWN)
    code = "import container.agent_runner, yaml; print(container.agent_runner.__file__, yaml.__file__)"

    done = subprocess.run(
        [sys.executable, "-S", "-P", "-B", "-v", "-c", code],
        env={"PYTHONPATH": str(made.library), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert all(Path(file).is_relative_to(made.library) for file in done.stdout.split())
    # What Python says of each module: taken from a compiled file, or compiled just now from its source.
    taken = [line for line in done.stderr.splitlines() if f"code object from '{made.library}" in line]
    assert taken
    assert all(line.endswith(".pyc'") for line in taken)


def test_the_same_content_is_laid_out_once(tmp_path: Path) -> None:
    first = ensure_programs(tmp_path, OWN)
    made_at = first.library.stat().st_ino

    second = ensure_programs(tmp_path, OWN)

    assert second == first
    assert second.library.stat().st_ino == made_at
    assert os.listdir(tmp_path) == [first.stamp]


def test_two_at_once_get_along(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: ensure_programs(tmp_path, OWN), range(2))

    assert first == second
    assert os.listdir(tmp_path) == [first.stamp]


def test_other_content_has_another_stamp() -> None:
    files = {"a.py": b"1", "b.py": b"2"}

    stamps = {
        stamp_of(files),
        stamp_of(files | {"b.py": b"3"}),
        stamp_of(files | {"c.py": b""}),
        stamp_of({"a.py": b"1b.py", "b.py": b"2"}),
    }

    assert len(stamps) == 4


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(Unavailable, match="file"):
        ensure_programs(tmp_path / "file", OWN)


def test_the_interpreter_inside_can_be_started_from_outside() -> None:
    found = choose_interpreter()

    done = subprocess.run(
        [found.outside, "-I", "-c", "import sys; print(sys.version_info >= (3, 11))"],
        capture_output=True,
        check=True,
        text=True,
    )

    assert done.stdout.strip() == "True"
    assert found.prefix is not None or found.inside.startswith("/usr/")
