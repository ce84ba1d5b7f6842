"""The lifeline around a command that is not our agent runner."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.edges.container.agent_process import REPOSITORY, eventually
from tests.edges.container.test_endings import is_running


class Lifeline:
    """Starts commands on a lifeline, whose orchestrator's end is held by the test."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        self._started: list[subprocess.Popen[bytes]] = []

    def run(self, *command: str, in_own_group: bool = True) -> subprocess.Popen[bytes]:
        started = subprocess.Popen(
            [sys.executable, "-m", "container.lifeline", "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
            env=os.environ | {"DOVECOTE_PARENT_PIPE": str(self._read_end)},
            pass_fds=[self._read_end],
            process_group=0 if in_own_group else None,
        )
        self._started.append(started)
        return started

    def orchestrator_dies(self) -> None:
        os.close(self._write_end)
        self._write_end = -1

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()
        for descriptor in (self._read_end, self._write_end):
            if descriptor >= 0:
                os.close(descriptor)


@pytest.fixture
def lifeline() -> Iterator[Lifeline]:
    held = Lifeline()
    yield held
    held.close()


def test_the_streams_are_the_commands_own(lifeline: Lifeline) -> None:
    process = lifeline.run("sh", "-c", "cat; echo out; echo err >&2")

    out, err = process.communicate(b"typed\n", timeout=20)

    assert (out, err) == (b"typed\nout\n", b"err\n")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param(["true"], 0, id="success"),
        pytest.param(["sh", "-c", "exit 42"], 42, id="a code of its own"),
        pytest.param(["sh", "-c", "kill -SEGV $$"], 128 + signal.SIGSEGV, id="a signal"),
        pytest.param(["/does/not/exist"], 127, id="no such command"),
        pytest.param(["/etc/passwd"], 126, id="not a program"),
    ],
)
def test_the_exit_code_is_as_a_shell_gives_it(lifeline: Lifeline, command: Sequence[str], code: int) -> None:
    process = lifeline.run(*command)

    process.communicate(timeout=20)

    assert process.returncode == code


def test_without_a_command_it_says_how_it_is_used(lifeline: Lifeline) -> None:
    process = lifeline.run()

    _, err = process.communicate(timeout=20)

    assert process.returncode == 2
    assert b"usage:" in err


def test_sigterm_is_passed_on_and_the_commands_answer_counts(lifeline: Lifeline) -> None:
    process = lifeline.run("sh", "-c", "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.02; done")
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"

    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=20)

    assert (out, process.returncode) == (b"bye\n", 5)


@pytest.mark.parametrize("in_own_group", [True, False], ids=["started as a group leader", "not"])
async def test_all_dies_when_the_orchestrator_does(
    lifeline: Lifeline, tmp_path: Path, in_own_group: bool
) -> None:
    deaf = "trap '' TERM HUP; sh -c 'echo $$; exec sleep 600' & echo $$; wait"
    process = lifeline.run("sh", "-c", deaf, in_own_group=in_own_group)
    assert process.stdout is not None
    pids = [int(process.stdout.readline()), int(process.stdout.readline())]

    lifeline.orchestrator_dies()
    process.wait(timeout=20)

    assert process.returncode == -signal.SIGKILL
    await eventually(lambda: not any(is_running(pid) for pid in pids))


def test_the_command_does_not_see_the_pipe(lifeline: Lifeline) -> None:
    process = lifeline.run("sh", "-c", "echo ${DOVECOTE_PARENT_PIPE-none}; ls /proc/self/fd | wc -l")

    out, _ = process.communicate(timeout=20)

    # Standard input, output and error, and the directory that ls itself reads.
    assert out.split() == [b"none", b"4"]
