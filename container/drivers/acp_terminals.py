"""Commands that a program asks us to run for it, with what they print."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from container.drivers.acp_pipes import KeptTail, tail_pipe
from orchestrator.contracts.errors import LimitExceeded, NotFound

MAX_OUTPUT_BYTES: Final = 1024**2
MAX_TERMINALS: Final = 16
_END_WAIT_S: Final = 0.25
"""So long the last words of a command may take, and a killed one to end."""
_SHELL: Final = "/bin/sh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a command ended: by a code or by a signal."""

    code: int | None
    signal: str | None


@dataclass(slots=True, kw_only=True)
class Terminal:
    """One command, in a process group of its own."""

    process: asyncio.subprocess.Process
    output: KeptTail
    transport: asyncio.ReadTransport

    @property
    def exit(self) -> Exit | None:
        """How it ended; None while it runs."""
        code = self.process.returncode
        if code is None:
            return None
        return Exit(code=code, signal=None) if code >= 0 else Exit(code=None, signal=_signal_name(-code))

    async def wait(self) -> Exit:
        """Wait for its end and for what it said last."""
        await self.process.wait()
        with suppress(TimeoutError):  # what it started may hold the pipe for as long as it likes
            async with asyncio.timeout(_END_WAIT_S):
                await self.output.ended.wait()
        ended = self.exit
        assert ended is not None
        return ended

    def kill(self) -> None:
        """End it and what it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Terminals:
    """The commands of one program."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._open: dict[str, Terminal] = {}
        self._count = 0

    @property
    def is_running(self) -> bool:
        """Whether a command runs at this moment."""
        return any(terminal.exit is None for terminal in self._open.values())

    async def create(
        self,
        command: str,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        directory: str,
        max_output_bytes: int | None,
    ) -> str:
        """Start a command; returns its terminal's id. A command without arguments is a line for the shell.

        Raises LimitExceeded, and NotFound for a program that is not there.
        """
        if len(self._open) >= MAX_TERMINALS:
            raise LimitExceeded(
                f"{MAX_TERMINALS} terminals are open already.", suggestion="Release one of them first."
            )
        words = [command, *arguments] if arguments else [_SHELL, "-c", command]
        output = KeptTail(min(max_output_bytes or MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES))
        writing, transport = await tail_pipe(output)
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                env={**self._environment, **environment},
                cwd=directory,
                start_new_session=True,
            )
        except OSError as error:
            transport.close()
            raise NotFound(
                f"{words[0]!r} can't be started: {error.strerror}.", suggestion="Name another command."
            ) from error
        finally:
            os.close(writing)
        self._count += 1
        name = f"terminal-{self._count}"
        self._open[name] = Terminal(process=process, output=output, transport=transport)
        return name

    def get(self, name: str) -> Terminal:
        """The terminal of that id. Raises NotFound."""
        terminal = self._open.get(name)
        if terminal is None:
            raise NotFound(f"There is no terminal {name!r}.", suggestion="Create one first.")
        return terminal

    async def release(self, name: str) -> None:
        """End the command and forget it. Raises NotFound."""
        terminal = self.get(name)
        del self._open[name]
        await _end(terminal)

    async def close(self) -> None:
        """End all commands."""
        open_now, self._open = list(self._open.values()), {}
        for terminal in open_now:
            await _end(terminal)


async def _end(terminal: Terminal) -> None:
    terminal.kill()
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_WAIT_S):
            await terminal.process.wait()
    terminal.transport.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
