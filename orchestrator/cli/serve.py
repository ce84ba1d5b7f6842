"""`dovecote serve`: the daemon. Runs until it is told to stop, then ends in order."""

import asyncio
import contextlib
import shlex
import sys
from pathlib import Path
from typing import Final

import structlog

from orchestrator.app.doors import App
from orchestrator.app.garbage import leave_loaded_alone
from orchestrator.app.parts import SystemClock
from orchestrator.app.running import running
from orchestrator.cli.ended import fault_of
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.logging_setup import TOLD_BY_SERVE, logging_to
from orchestrator.cli.stop_signals import ask_on_signals
from orchestrator.cli.taking_over import is_left_to_us
from orchestrator.contracts.errors import DovecoteError, ErrorCode

_log = structlog.get_logger(__name__)
_READY: Final = "Dovecote is ready. Talk to it in another terminal: {chat} · Ctrl-C here stops it."
_STOPPING: Final = "Stopping: what runs may end within {grace_s:g} s. Ctrl-C again stops it at once."
# Another chat may be quicker at a home that was left.
_TRIES: Final = 3


def run_serve(home_option: Path | None) -> int:
    """The exit code: 0 after an orderly stop. Raises DovecoteError when it cannot start."""
    home = open_home(home_option)
    make_home(home)
    logs = logging_to(
        home.paths.log_file,
        home.settings.logs,
        clock=SystemClock(),
        on_terminal=True,
        tell=_tell,
        told=TOLD_BY_SERVE,
    )
    with logs:
        for warning in home.warnings:
            _log.warning("settings.odd", why=warning)
        fault = fault_of(lambda: asyncio.run(_serve(home, chat=_how_to_chat(home_option))))
    if fault is not None:
        raise fault
    return 0


def _tell(sentence: str) -> None:
    """Beside the log, which goes to standard error."""
    print(sentence, flush=True)


def _how_to_chat(home_option: Path | None) -> str:
    return "dovecote chat" if home_option is None else f"dovecote chat --home {shlex.quote(str(home_option))}"


def _tell_at_terminal(sentence: str) -> None:
    """Beside log lines that people see scroll by; whoever reads a pipe has those."""
    if sys.stdout.isatty():
        _tell(sentence)


async def _serve(home: Home, *, chat: str) -> None:
    stop = asyncio.Event()
    ask_on_signals(lambda _: stop.set())
    async with contextlib.AsyncExitStack() as stack:
        app = await _open(stack, home, stop)
        leave_loaded_alone()
        _log.info("dovecote.ready", home=str(home.paths.home), runner=app.runner_line)
        _tell_at_terminal(_READY.format(chat=chat))
        await stop.wait()
        _tell_at_terminal(_STOPPING.format(grace_s=home.settings.shutdown_grace_s))
        _log.info("dovecote.stopping", grace_s=home.settings.shutdown_grace_s)
    _log.info("dovecote.stopped")


async def _open(stack: contextlib.AsyncExitStack, home: Home, stop: asyncio.Event) -> App:
    """Run it. A chat that runs one for itself is asked for the home first."""
    for _ in range(_TRIES):
        try:
            return await stack.enter_async_context(running(home.settings, home.paths))
        except DovecoteError as error:
            if error.code is not ErrorCode.ALREADY_RUNNING or not await is_left_to_us(home, stop):
                raise
            _log.info("dovecote.taken_over", was=error.details.get("pid"))
    return await stack.enter_async_context(running(home.settings, home.paths))
