"""`dovecote serve`: the daemon. Runs until SIGTERM or Ctrl-C, then ends in order."""

import asyncio
import signal
import sys
from pathlib import Path

import structlog

from orchestrator.app import SystemClock, running
from orchestrator.cli.ended import sentence_of
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.logging_setup import logging_to

_log = structlog.get_logger(__name__)


def run_serve(home_option: Path | None) -> int:
    """The exit code: 0 after an orderly stop. Raises DovecoteError when it cannot start."""
    home = open_home(home_option)
    make_home(home)
    logs = logging_to(home.paths.log_file, home.settings.logs, clock=SystemClock(), on_terminal=True)
    with logs:
        for warning in home.loaded.warnings:
            _log.warning("settings.odd", why=warning)
        trouble = sentence_of(lambda: asyncio.run(_serve(home)))
    if trouble is not None:
        print(f"Error: {trouble}", file=sys.stderr)
    return 0 if trouble is None else 1


async def _serve(home: Home) -> None:
    stop = asyncio.Event()
    _stop_on_signals(stop)
    async with running(home.settings, home.paths) as app:
        _log.info("dovecote.ready", home=str(home.paths.home), runner=app.runner_line)
        await stop.wait()
        _log.info("dovecote.stopping", grace_s=home.settings.shutdown_grace_s)
    _log.info("dovecote.stopped")


def _stop_on_signals(stop: asyncio.Event) -> None:
    """The first SIGINT or SIGTERM asks for an orderly end; a second Ctrl-C ends the process at once."""
    loop = asyncio.get_running_loop()

    def ask() -> None:
        stop.set()
        # What dies with us dies by its pipe; what does not is swept at the next start.
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, ask)
