"""Processes below ours: found wherever they went, and ended. In a process of its own, which adopts them."""

import subprocess
import sys
from pathlib import Path

from tests.edges.container.agent_process import REPOSITORY

_PROGRAM = """
import asyncio, subprocess, sys
from container.drivers.started_processes import adopt_orphans, descendants, end_descendants

async def main():
    other = subprocess.Popen(["sleep", "600"])
    others = frozenset(descendants())
    adopt_orphans()
    # Away from its parent, from our process group and from our session, and deaf to a kind word.
    script = "setsid sh -c 'trap \\"\\" TERM; echo up; while :; do sleep 600; done' & read line"
    # A shell says so when what it waits for is killed first.
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    left = subprocess.Popen(["sh", "-c", script], **streams)
    left.stdout.readline()
    left.stdin.close()
    left.wait()
    found = len(descendants() - others)
    await end_descendants(but=others)
    print(others == {other.pid}, found > 0, descendants() == {other.pid})
    other.kill()
    other.wait()

asyncio.run(main())
"""


def test_what_slipped_away_is_found_and_ended_and_nothing_else(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.stdout.split(), done.stderr) == (["True", "True", "True"], "")
