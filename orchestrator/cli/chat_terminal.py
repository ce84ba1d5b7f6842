"""Chat at a terminal: a prompt with history, replies as Markdown, and a sign when the assistant types."""

import asyncio
import sys
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import HTML
from prompt_toolkit.history import FileHistory
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from orchestrator.api.chat_watch import ChatNews, SentText
from orchestrator.cli.console_link import ConsoleLink
from orchestrator.cli.ended import innermost
from orchestrator.contracts.errors import DovecoteError
from orchestrator.core.text_cleaning import clean_text

_WAIT_S: Final = 20.0
_LEAVE: Final = frozenset({"/quit", "/exit"})
HELP: Final = """\
**/help** shows this · **/quit** (or Ctrl-D) leaves

Everything else goes to the assistant. **/stop** stops what it does, **/retry** runs again what went wrong.
"""


class TerminalChat:
    """One chat at a terminal. Runs until the person leaves or the orchestrator does."""

    def __init__(self, link: ConsoleLink, *, assistant_name: str, history: Path) -> None:
        self._link = link
        self._assistant_name = assistant_name
        self._is_typing = False
        self._session: PromptSession[str] = PromptSession(
            HTML("<ansicyan><b>you</b></ansicyan> > "),
            history=FileHistory(str(history)),
            bottom_toolbar=self._status_line,
        )

    async def run(self) -> str | None:
        """None when the person left; else why the chat ended."""
        trouble: str | None = None
        greeting = Text(f"You are talking with {self._assistant_name}.", style="dim")
        Console(file=sys.stdout).print(greeting)
        try:
            # Replies that come while somebody types are printed above the line, not into it.
            with patch_stdout(raw=True):
                screen = Console(file=sys.stdout, force_terminal=True)
                start = await self._link.now()
                async with asyncio.TaskGroup() as tasks:
                    showing = tasks.create_task(self._show_news(screen, start), name="show news")
                    await self._prompt(screen, showing)
                    showing.cancel()
        except* DovecoteError as errors:
            trouble = str(innermost(errors))
        return trouble

    async def _prompt(self, screen: Console, showing: asyncio.Task[None]) -> None:
        """Take lines until the person leaves. Ends with `showing`, if that ends first."""
        showing.add_done_callback(lambda _: self._leave_prompt())
        while not showing.done():
            try:
                line = await self._session.prompt_async()
            except (EOFError, KeyboardInterrupt):
                return
            word = line.strip()
            if word in _LEAVE:
                return
            if word == "/help":
                screen.print(Markdown(HELP))
            elif word:
                await self._link.say(line)

    def _leave_prompt(self) -> None:
        application = self._session.app
        if application.is_running and not application.is_done:
            application.exit(exception=EOFError)

    async def _show_news(self, screen: Console, start: ChatNews) -> None:
        news = start
        while True:
            shown = len(news.failed)
            news = await self._link.news(news, wait_s=_WAIT_S)
            for text in news.texts:
                self._show(screen, text)
            for sentence in news.failed[shown:]:
                screen.print(Text(clean_text(sentence), style="red"))
            self._is_typing = news.typing
            self._session.app.invalidate()

    def _show(self, screen: Console, text: SentText) -> None:
        # What an agent printed is cleaned once more: a stored text may be older than today's rules.
        body = clean_text(text.text)
        if text.is_notice:
            screen.print(Text(body, style="dim italic"))
            return
        screen.print(Text(self._assistant_name, style="bold green"))
        screen.print(Markdown(body))

    def _status_line(self) -> str:
        return f" {self._assistant_name} is typing…" if self._is_typing else " /help · /quit"
