"""What is forked from a Python that has loaded Dovecote behaves as what is started from cold."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.warm_start import WarmStart

PIPES: dict[str, Any] = {
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.PIPE,
    "stderr": subprocess.PIPE,
    "text": True,
}


@pytest.mark.parametrize(
    "words",
    [["--help"], ["nonsense"], ["config"], ["group", "list"], ["doctor"], ["agent", "show", "agent-0"]],
)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_it_says_the_same_and_ends_the_same(
    words: list[str], zone: str, warm: WarmStart, home: Path, environment: dict[str, str]
) -> None:
    environment["TZ"] = zone
    command = [sys.executable, "-m", "orchestrator", *words]

    with subprocess.Popen(command, cwd=home, env=environment, **PIPES) as cold:
        expected = (*cold.communicate(timeout=50), cold.returncode)
    with warm(*words, cwd=home, env=environment, **PIPES) as process:
        found = (*process.communicate(timeout=50), process.returncode)

    assert isinstance(process, subprocess.Popen)
    assert type(process) is not subprocess.Popen, "it was started from cold too"
    assert found == expected


def test_a_signal_that_ends_it_is_its_exit_code(
    warm: WarmStart, home: Path, environment: dict[str, str]
) -> None:
    with warm("serve", cwd=home, env=environment, **PIPES) as process:
        process.send_signal(signal.SIGKILL)

        assert process.wait(timeout=50) == -signal.SIGKILL


@pytest.mark.parametrize("name", ["PYTHONIOENCODING", "LC_ALL", "LANG"])
def test_what_python_heeds_as_it_starts_is_started_from_cold(
    name: str, warm: WarmStart, home: Path, environment: dict[str, str]
) -> None:
    environment[name] = "ascii" if name == "PYTHONIOENCODING" else "C"

    with warm("version", cwd=home, env=environment, **PIPES) as process:
        process.communicate(timeout=50)

    assert type(process) is subprocess.Popen
