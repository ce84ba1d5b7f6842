"""The command `dovecote` as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Dovecote = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def environment() -> dict[str, str]:
    """What a bare login shell has."""
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC"}


@pytest.fixture
def dovecote(home: Path, environment: dict[str, str]) -> Dovecote:
    """Runs the command to its end in `home`."""

    def run(
        *arguments: str, stdin: str = "", more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "orchestrator", *arguments],
            cwd=home,
            env={**environment, "PYTHONPATH": str(Path(__file__).parents[3]), **(more or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )

    return run
