"""A program's process: started without a shell in a group of its own, and ended so that nothing is left.

The steps of an end are those of agents.md section 4; a program that failed to start takes them too.
"""

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from container.drivers.acp_pipes import KeptTail, tail_pipe
from container.drivers.driver import ProgramMissing
from container.drivers.started_processes import descendants, end_descendants
from orchestrator.contracts.errors import InvalidRequest, NotFound
from orchestrator.contracts.wire.argv import script_of

_TERMINATED_S: Final = 0.25
_KILLED_S: Final = 1.0
_KEPT_ERROR_BYTES: Final = 4096
_SHOWN_ERROR_CHARS: Final = 200
# Some interpreters say more behind it: where it was thrown, and their own version.
_ERROR_LINE: Final = re.compile(r"[\w.]*(Error|Exception)\b.*: ")
_PIPE_LIMIT_BYTES: Final = 1024**2
# They are for our own Python; some programs refuse tool servers that would inherit them.
_OURS: Final = frozenset({"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"})
_FILES_NAMED: Final = frozenset({"PINOCCHIO_SESSION_TOKEN_FILE", "GITHUB_TOKEN_FILE"})
"""Paths, and no secrets: a command may ask for helpers and use what it was given, too."""
_SENSITIVE: Final = (
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
    "SESSION",
)


def check_start(command: Sequence[str], *, directory: Path, extra: Sequence[str], permissions: str) -> None:
    """Raises a typed error for what can be told before the start. Blocks: call it in a thread."""
    if not command:
        raise InvalidRequest(
            "The agent has no command to start.", suggestion="Set `command` in AGENT.md or in the provider."
        )
    if permissions not in ("deny-all", "approve-reads", "approve-all"):
        raise InvalidRequest(
            f"The permissions {permissions!r} are unknown.",
            suggestion="Use one of: deny-all, approve-reads, approve-all.",
        )
    if not directory.is_dir():
        raise NotFound(
            f"The workspace {str(directory)!r} is no directory.", suggestion="Look at the group's directory."
        )
    for path in extra:
        if not os.path.isabs(path):
            raise InvalidRequest(
                f"The additional directory {path!r} is not absolute.", suggestion="Name it from the root on."
            )
        if not os.path.isdir(path):
            raise NotFound(
                f"The additional directory {path!r} is not there.", suggestion="Look at `additional_dirs`."
            )


def extra_directories(extra: Sequence[str], *, root: Path) -> list[str]:
    """The additional directories, each once; one that is the workspace itself is none. Blocks."""
    seen = {os.path.realpath(root)}
    kept: list[str] = []
    for path in extra:
        if (real := os.path.realpath(path)) not in seen:
            seen.add(real)
            kept.append(path)
    return kept


def program_environment(ours: Mapping[str, str]) -> dict[str, str]:
    """What a program gets of our own environment."""
    return {name: value for name, value in ours.items() if name not in _OURS}


def command_environment(ours: Mapping[str, str]) -> dict[str, str]:
    """What a command gets that a program has us run: nothing that looks like a secret."""
    return {
        name: value
        for name, value in program_environment(ours).items()
        if name in _FILES_NAMED or not any(word in name.upper() for word in _SENSITIVE)
    }


class AcpProgram:
    """A running program; `start` makes one."""

    def __init__(
        self, process: asyncio.subprocess.Process, errors: KeptTail, transport: asyncio.ReadTransport
    ) -> None:
        self._process = process
        self._errors = errors
        self._transport = transport
        # What runs below us by now, beside the program, is somebody else's.
        self._others = frozenset(descendants() - {process.pid})

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """Where it reads."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        """Where it writes."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.returncode is None

    def last_words(self) -> str:
        """How it ended and what it last said on its standard error, in one line."""
        code = self._process.returncode
        how = "still runs" if code is None else f"ended with {code}"
        last = self.complaint()
        return f"{how} ({last})" if last else how

    def complaint(self) -> str:
        """What went wrong, as a line of its standard error: one that names an error, else the last."""
        lines = [line.strip() for line in self._errors.text.split("\n") if line.strip()]
        last = lines[-1] if lines else ""
        return next((line for line in reversed(lines) if _ERROR_LINE.match(line)), last)[:_SHOWN_ERROR_CHARS]

    async def settle(self) -> None:
        """Wait a moment for the end of a program that has closed its output."""
        await self._exits_within(_TERMINATED_S)

    async def stop(self, *, wait_s: float) -> None:
        """Close its standard input, wait, then end its group; nothing of it is left. wait_s: for its own
        way out."""
        try:
            self.stdin.close()
            if not await self._exits_within(wait_s):
                self._signal(signal.SIGTERM)
                await self._exits_within(_TERMINATED_S)
        finally:
            # Also where we are cancelled, and for what a wrapper has left behind.
            self._signal(signal.SIGKILL)
            await self._exits_within(_KILLED_S)
            await end_descendants(but=self._others)
            self._transport.close()

    async def _exits_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()
        return not self.is_running

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


async def start(command: Sequence[str], *, directory: Path, environment: Mapping[str, str]) -> AcpProgram:
    """Start a program. Raises ProgramMissing if there is none of that name, or it can't be run."""
    path = await asyncio.to_thread(shutil.which, command[0], path=environment.get("PATH"))
    if path is None:
        raise ProgramMissing(
            f"The agent program {command[0]!r} is not here, or no program.",
            suggestion="Run on the host: dovecote doctor",
        )
    script = script_of(command)
    if script is not None and not await asyncio.to_thread(os.path.exists, directory / script):
        raise ProgramMissing(
            f"The script {script!r} that {command[0]} is to run is not here.",
            suggestion="Run on the host: dovecote doctor",
        )
    errors = KeptTail(_KEPT_ERROR_BYTES, _echo)
    writing, transport = await tail_pipe(errors)
    try:
        process = await asyncio.create_subprocess_exec(
            path,
            *command[1:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=writing,
            limit=_PIPE_LIMIT_BYTES,
            cwd=directory,
            env=dict(environment),
            start_new_session=True,
        )
    except OSError as error:
        transport.close()
        raise ProgramMissing(
            f"The agent program {command[0]!r} can't be run: {error.strerror}.",
            suggestion="Look at the file and its first line.",
        ) from error
    finally:
        os.close(writing)
    return AcpProgram(process, errors, transport)


def _echo(piece: bytes) -> None:
    """The program's complaints belong to the agent's log."""
    with suppress(OSError, ValueError):
        sys.stderr.buffer.write(piece)
        sys.stderr.buffer.flush()
