"""The orchestrator as a process of its own, which a test may kill at a named point and start again."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.support.home_on_disk import HomeOnDisk

_ROOT: Final = Path(__file__).resolve().parents[2]
_START_WITHIN_S: Final = 60.0
_DIE_WITHIN_S: Final = 45.0


class OrchestratorProcess:
    """One life after another of the orchestrator on one home."""

    def __init__(self, home: HomeOnDisk) -> None:
        self._home = home
        self._jumps = home.channel / "jumps"
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        """Of the life that runs."""
        assert self._process is not None
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether no life runs."""
        return self._process is None or self._process.returncode is not None

    async def start(
        self,
        *,
        crash_at: str | None = None,
        nth: int = 1,
        agent_command: Sequence[str] | None = None,
        polls_only: bool = False,
        ahead_s: float = 0.0,
    ) -> None:
        """Start it and wait until its doors are open, or until it has died at its crash point.

        ahead_s: how far its clock is ahead.
        """
        words = [str(self._home.path), "--channel", str(self._home.channel), "--jumps", str(self._jumps)]
        if crash_at is not None:
            words += ["--crash-at", crash_at, "--nth", str(nth)]
        if agent_command is not None:
            words += ["--agent-command", shlex.join(agent_command)]
        if ahead_s:
            words += ["--ahead-s", str(ahead_s)]
        if polls_only:
            words.append("--polls-only")
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.support.serve", *words),
            cwd=_ROOT,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(_START_WITHIN_S):
            said = await self._process.stdout.readline()
        died_on_the_way = not said and crash_at is not None
        assert said == b"ready\n" or died_on_the_way, (said + await self._process.stdout.read()).decode()

    async def died(self) -> None:
        """Wait until it was killed by its crash point."""
        assert await self._end() == -signal.SIGKILL, self._home.story()

    async def kill(self) -> None:
        """kill -9, now."""
        os.kill(self.pid, signal.SIGKILL)
        await self.died()

    def set_clock(self, seconds: float) -> None:
        """Set the wall clock of this life forward, or back; no time passes."""
        self._jumps.write_text(str(seconds), encoding="ascii")
        os.kill(self.pid, signal.SIGUSR1)

    async def stop(self) -> None:
        """The orderly end by SIGTERM; it must say that all went well."""
        os.kill(self.pid, signal.SIGTERM)
        assert await self._end() == 0, self._home.story()

    async def close(self) -> None:
        """At the end of a test: whatever runs is killed."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._end()

    async def _end(self) -> int:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_DIE_WITHIN_S):
                await process.stdout.read()
                return await process.wait()
        except TimeoutError:
            raise AssertionError(f"It did not end. {self._home.story()}") from None
