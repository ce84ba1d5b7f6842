"""The command `dovecote` as a process of its own."""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.warm_start import WarmStart

Dovecote = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def warm() -> Iterator[WarmStart]:
    """Starts commands as processes, without the time that loading takes."""
    with closing(WarmStart()) as start:
        yield start


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def environment() -> dict[str, str]:
    """What a bare login shell has."""
    root = Path(__file__).parents[3]
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": str(root)}


@pytest.fixture
def dovecote(home: Path, environment: dict[str, str], warm: WarmStart) -> Dovecote:
    """Runs the command to its end in `home`."""

    def run(
        *arguments: str, stdin: str = "", more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        with warm(
            *arguments,
            cwd=home,
            env={**environment, **(more or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                out, said = process.communicate(stdin, timeout=50)
            finally:
                process.kill()
        return subprocess.CompletedProcess(process.args, process.returncode, out, said)

    return run
