"""`dovecote chat`: with a running orchestrator, or with one that runs as long as the chat does."""

import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import Final

from orchestrator.app.parts import SystemClock
from orchestrator.cli.chat_lines import LineChat
from orchestrator.cli.ended import fault_of
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.last_seen import LastSeen
from orchestrator.cli.logging_setup import logging_to
from orchestrator.cli.output import put
from orchestrator.cli.stdin_lines import lines_of
from orchestrator.cli.steady_link import SteadyLink
from orchestrator.cli.stop_signals import ask_on_signals, end_on_interrupt
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import Jid
from orchestrator.core.text_cleaning import clean_text

# What a shell gives to a program that a signal ended.
_BY_SIGNAL: Final = 128


def run_chat(home_option: Path | None, *, chat: str) -> int:
    """The exit code: 0 when all was answered or the person left. Raises DovecoteError with the reason."""
    home = open_home(home_option)
    if not chat.startswith("console:"):
        raise InvalidRequest(f"{chat!r} is not a console chat.", suggestion="Name one like console:main.")
    make_home(home)
    talk = _Talk(home, Jid(chat))
    # The terminal belongs to the chat: log lines go to the file alone.
    logs = logging_to(
        home.paths.log_file, home.settings.logs, clock=SystemClock(), on_terminal=False, tell=_tell
    )
    with logs:
        fault = fault_of(lambda: asyncio.run(talk.run()))
    if talk.told_to_stop is not None:
        return 0 if talk.is_at_terminal else _BY_SIGNAL + talk.told_to_stop
    if fault is not None:
        raise fault
    return 0


class _Talk:
    """One chat with what runs it. told_to_stop: the signal that ended it, if one did."""

    def __init__(self, home: Home, chat: Jid) -> None:
        self._home = home
        self._chat = chat
        self.is_at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self.told_to_stop: signal.Signals | None = None

    async def run(self) -> None:
        """Until all is answered, the person leaves, or a signal comes. Raises DovecoteError."""
        link = SteadyLink(self._home, self._chat, tell=_tell)
        # Held and released by one task, which no signal cancels: an orderly end takes its time.
        async with asyncio.TaskGroup() as tasks:
            holding = tasks.create_task(link.hold(), name="hold the line")
            talking = tasks.create_task(self._talk(link), name="talk")
            ask_on_signals(lambda received: self._stop(talking, received))
            with contextlib.suppress(asyncio.CancelledError):
                await talking
            if link.is_own and (self.is_at_terminal or self.told_to_stop is not None):
                _tell("Stopping…")
            end_on_interrupt()
            holding.cancel()

    def _stop(self, talking: asyncio.Task[None], received: signal.Signals) -> None:
        self.told_to_stop = received
        talking.cancel()

    async def _talk(self, link: SteadyLink) -> None:
        seen = LastSeen(self._home.paths.chat_seen, self._chat)
        if not self.is_at_terminal:
            await LineChat(link, show=_print_plain, seen=seen).run(lines_of(sys.stdin.fileno()))
            return
        from orchestrator.cli.chat_terminal import TerminalChat

        await TerminalChat(link, history=self._home.paths.chat_history, seen=seen).run()


def _print_plain(text: str) -> None:
    put(clean_text(text))


def _tell(line: str) -> None:
    # Where the terminal is gone nobody reads it.
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)
