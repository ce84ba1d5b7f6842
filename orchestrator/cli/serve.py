"""`dovecote serve`: the daemon. Runs until it is told to stop, then ends in order."""

import asyncio
from pathlib import Path

import structlog

from orchestrator.app.garbage import leave_loaded_alone
from orchestrator.app.parts import SystemClock
from orchestrator.app.running import running
from orchestrator.cli.ended import fault_of
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.logging_setup import logging_to
from orchestrator.cli.stop_signals import ask_on_signals

_log = structlog.get_logger(__name__)


def run_serve(home_option: Path | None) -> int:
    """The exit code: 0 after an orderly stop. Raises DovecoteError when it cannot start."""
    home = open_home(home_option)
    make_home(home)
    logs = logging_to(home.paths.log_file, home.settings.logs, clock=SystemClock(), on_terminal=True)
    with logs:
        for warning in home.warnings:
            _log.warning("settings.odd", why=warning)
        fault = fault_of(lambda: asyncio.run(_serve(home)))
    if fault is not None:
        raise fault
    return 0


async def _serve(home: Home) -> None:
    stop = asyncio.Event()
    ask_on_signals(lambda _: stop.set())
    async with running(home.settings, home.paths) as app:
        leave_loaded_alone()
        _log.info("dovecote.ready", home=str(home.paths.home), runner=app.runner_line)
        await stop.wait()
        _log.info("dovecote.stopping", grace_s=home.settings.shutdown_grace_s)
    _log.info("dovecote.stopped")
