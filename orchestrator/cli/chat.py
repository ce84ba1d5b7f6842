"""`dovecote chat`: with a running orchestrator, or with one that runs as long as the chat does."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from orchestrator.app import SystemClock, running
from orchestrator.cli.chat_lines import chat_by_lines
from orchestrator.cli.client import running_client
from orchestrator.cli.console_link import ConsoleLink, HttpLink, LocalLink
from orchestrator.cli.ended import sentence_of
from orchestrator.cli.home import Home, make_home, open_home
from orchestrator.cli.logging_setup import logging_to
from orchestrator.cli.stdin_lines import lines_of
from orchestrator.contracts.errors import DovecoteError, InvalidRequest
from orchestrator.contracts.ids import Jid
from orchestrator.core.text_cleaning import clean_text

_INTERRUPTED: Final = 130


def run_chat(home_option: Path | None, *, chat: str) -> int:
    """The exit code: 0 when all was answered or the person left, 1 with the reason on standard error."""
    home = open_home(home_option)
    if not chat.startswith("console:"):
        raise InvalidRequest(f"{chat!r} is not a console chat.", suggestion="Name one like console:main.")
    make_home(home)
    # The terminal belongs to the chat: log lines go to the file alone.
    logs = logging_to(home.paths.log_file, home.settings.logs, clock=SystemClock(), on_terminal=False)
    with logs:
        try:
            trouble = sentence_of(lambda: asyncio.run(_chat(home, Jid(chat))))
        except (KeyboardInterrupt, asyncio.CancelledError):
            return _INTERRUPTED
    if trouble is not None:
        print(clean_text(trouble), file=sys.stderr)
    return 0 if trouble is None else 1


async def _chat(home: Home, chat: Jid) -> None:
    _end_in_order_on_sigterm()
    async with _open_link(home, chat) as link:
        if sys.stdin.isatty() and sys.stdout.isatty():
            from orchestrator.cli.chat_terminal import TerminalChat

            name = home.settings.assistant.name
            trouble = await TerminalChat(link, assistant_name=name, history=home.paths.chat_history).run()
        else:
            trouble = await chat_by_lines(link, lines_of(sys.stdin.fileno()), show=_print_plain)
    if trouble is not None:
        raise DovecoteError(trouble)


def _end_in_order_on_sigterm() -> None:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _print_plain(text: str) -> None:
    try:
        print(clean_text(text), flush=True)
    except BrokenPipeError:
        # The interpreter flushes standard output once more at its end, and would complain there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise DovecoteError("Nobody reads the replies any longer.") from None


@contextlib.asynccontextmanager
async def _open_link(home: Home, chat: Jid) -> AsyncIterator[ConsoleLink]:
    client = await running_client(home.paths)
    if client is not None:
        async with client:
            yield HttpLink(client, chat)
        return
    async with running(home.settings, home.paths) as app:
        print(app.runner_line, file=sys.stderr)
        yield LocalLink(app.services, app.console, chat)
