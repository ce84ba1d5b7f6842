"""Fetching an agent program with the ordinary clients of its registry: pip and npm, by hashes only."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.runners.agent_programs import Part
from orchestrator.runners.tool_packages import MinorVersion

_WITHIN_S: Final = 1200.0
_KEPT_CHARACTERS: Final = 400


def fetch_part(part: Part, target: Path, version: MinorVersion) -> None:
    """Install what the lists of `part` say into the new directory `target`. Blocks for seconds.

    version: of the Python that will run it. No script of a package is run. Raises Unavailable.
    """
    target.mkdir(parents=True)
    if part.is_python:
        _install_python(part, target, version)
    else:
        _install_npm(part, target)


def _install_python(part: Part, target: Path, version: MinorVersion) -> None:
    _run(
        part,
        [
            *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet"),
            *("--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-compile"),
            *("--implementation", "cp", "--python-version", ".".join(map(str, version))),
            *("--target", str(target), "--requirement", str(part.lists[0])),
        ],
        cwd=target,
    )
    # Starters for the Python of this machine; nothing inside needs them.
    shutil.rmtree(target / "bin", ignore_errors=True)


def _install_npm(part: Part, target: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(
            f"{part.name} comes from the npm registry, and there is no npm on this machine.",
            code=ErrorCode.RUNNER_UNAVAILABLE,
            suggestion="Install Node.js with npm 9 or newer, for this command; agents bring their own.",
        )
    for each in part.lists:
        shutil.copyfile(each, target / each.name)
    _run(part, [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"], cwd=target)


def _run(part: Part, command: Sequence[str], *, cwd: Path) -> None:
    try:
        done = subprocess.run(
            command,
            check=False,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_WITHIN_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(part, str(error)) from error
    if done.returncode != 0:
        raise _failed(part, " ".join((done.stderr or done.stdout).split())[-_KEPT_CHARACTERS:])


def _failed(part: Part, reason: str) -> Unavailable:
    return Unavailable(
        f"{part.name} {part.version} can't be fetched: {reason}",
        code=ErrorCode.RUNNER_UNAVAILABLE,
        suggestion="See that pip and npm reach their registries from here, and that the disk has room.",
    )
