"""`python -m tests.support.serve HOME …`: the real orchestrator with the file channel, made to be killed.

Says `ready` on standard output once its doors are open; SIGTERM is the orderly end, as for `dovecote serve`.
"""

import argparse
import asyncio
import contextlib
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from orchestrator.app.garbage import leave_loaded_alone
from orchestrator.app.parts import NoCheckpoints, Replacements
from orchestrator.app.running import running
from orchestrator.cli.ended import fault_of
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.logging_setup import logging_to
from orchestrator.cli.stop_signals import ask_on_signals
from orchestrator.contracts.records.launch import AGENT_RUNNER_COMMAND
from tests.support.crash_points import CrashAt
from tests.support.file_channel import FileChannel
from tests.support.shifted_clock import ShiftedClock


def main(arguments: list[str]) -> int:
    """Serve until SIGTERM, or until the crash point is reached."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("--channel", type=Path, required=True)
    parser.add_argument("--crash-at")
    parser.add_argument("--nth", type=int, default=1)
    parser.add_argument("--agent-command")
    parser.add_argument("--polls-only", action="store_true")
    parser.add_argument("--ahead-s", type=float, default=0.0, help="how far its clock is ahead")
    parser.add_argument("--jumps", type=Path, help="on SIGUSR1 its wall clock is set by the seconds in here")
    parser.add_argument("--serves-api", action="store_true")
    given = parser.parse_args(arguments)
    home = open_home(given.home)
    make_home(home)
    clock = ShiftedClock()
    clock.advance(given.ahead_s)
    parts = Replacements(
        clock=clock,
        channels=[FileChannel(given.channel)],
        checkpoints=NoCheckpoints() if given.crash_at is None else CrashAt(given.crash_at, nth=given.nth),
        watches=not given.polls_only,
        serves_api=given.serves_api,
        agent_command=tuple(shlex.split(given.agent_command))
        if given.agent_command
        else AGENT_RUNNER_COMMAND,
    )
    with logging_to(home.paths.log_file, home.settings.logs, clock=clock, on_terminal=False):
        trouble = fault_of(lambda: asyncio.run(_serve(home, parts, _jumper(clock, given.jumps))))
    if trouble is not None:
        sys.stderr.write(f"Error: {trouble}\n")
    return 0 if trouble is None else 1


def _jumper(clock: ShiftedClock, jumps: Path | None) -> Callable[[], None]:
    return lambda: None if jumps is None else clock.jump(float(jumps.read_text(encoding="ascii")))


async def _serve(home: Home, parts: Replacements, jump: Callable[[], None]) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, jump)
    async with _signalled() as stop, running(home.settings, home.paths, replacements=parts):
        leave_loaded_alone()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await stop.wait()


@contextlib.asynccontextmanager
async def _signalled() -> AsyncIterator[asyncio.Event]:
    stop = asyncio.Event()
    ask_on_signals(lambda _: stop.set())  # the handlers of `dovecote serve`, which must not cut its end short
    yield stop


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
