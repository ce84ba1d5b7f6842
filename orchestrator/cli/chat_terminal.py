"""Chat at a terminal: a prompt with history, replies as Markdown, and a sign when the assistant types."""

import asyncio
import sys
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import HTML
from prompt_toolkit.history import FileHistory
from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from orchestrator.api.chat_watch import ChatNews, ChatPlace, ChatStart, SentText
from orchestrator.cli.addressing import how_to_address, is_addressed, why_not_heard, why_unanswered
from orchestrator.cli.chat_holds import how_to_look
from orchestrator.cli.chat_words import Word, help_text, unknown_word, word_of
from orchestrator.cli.console_link import ConsoleLink
from orchestrator.cli.last_seen import LastSeen
from orchestrator.cli.sent_file import file_line
from orchestrator.contracts.ids import MessageId, new_id
from orchestrator.core.text_cleaning import clean_name, clean_text

_WAIT_S: Final = 20.0
_MOST_MISSED: Final = 20
MISSED: Final = "While no chat was open"
ASK_TO_LEAVE: Final = "Press Ctrl-C again to leave; Ctrl-D and /quit leave too."


class TerminalChat:
    """One chat at a terminal. Runs until the person leaves."""

    def __init__(self, link: ConsoleLink, *, history: Path, seen: LastSeen) -> None:
        self._link = link
        self._seen = seen
        self._assistant_name = ""
        self._is_typing = False
        self._own: set[MessageId] = set()
        self._session: PromptSession[str] = PromptSession(
            HTML("<ansicyan><b>you</b></ansicyan> > "),
            history=FileHistory(str(history)),
            bottom_toolbar=self._status_line,
        )

    async def run(self) -> None:
        """Return when the person left. Raises DovecoteError when the chat cannot go on."""
        start = await self._link.start()
        self._assistant_name = clean_name(start.assistant_name)
        self._greet(Console(file=sys.stdout), start)
        # Replies that come while somebody types are printed above the line, not into it.
        with patch_stdout(raw=True):
            screen = Console(file=sys.stdout, force_terminal=True)
            place = await self._show_missed(screen, start)
            async with asyncio.TaskGroup() as tasks:
                showing = tasks.create_task(self._show_news(screen, start, place), name="show news")
                await self._prompt(screen, start)
                showing.cancel()

    def _greet(self, screen: Console, start: ChatStart) -> None:
        _dim(screen, f"You are talking with {self._assistant_name}.")
        if not start.is_heard:
            _dim(screen, clean_text(why_not_heard(start)))
        elif (address := how_to_address(start)) is not None:
            _dim(screen, clean_text(address))

    async def _prompt(self, screen: Console, start: ChatStart) -> None:
        """Take lines until the person leaves."""
        is_leaving = False
        while True:
            try:
                # Signals are the whole process's matter; the key Ctrl-C is ours.
                line = await self._session.prompt_async(handle_sigint=False)
            except EOFError:
                return
            except KeyboardInterrupt:
                was_empty = not self._session.default_buffer.text
                if was_empty and is_leaving:
                    return
                if was_empty:
                    _dim(screen, ASK_TO_LEAVE)
                is_leaving = was_empty
                continue
            is_leaving = False
            match word_of(line):
                case Word.LEAVE:
                    return
                case Word.HELP:
                    screen.print(Text(clean_text(help_text(start))))
                case Word.UNKNOWN:
                    _dim(screen, clean_text(unknown_word(line)))
                case Word.MESSAGE if line.strip():
                    await self._say(line)
                    if (why := _why_silent(start, line)) is not None:
                        _dim(screen, clean_text(why))

    async def _say(self, line: str) -> None:
        message_id = MessageId(new_id("msg"))
        self._own.add(message_id)
        await self._link.say(line, message_id=message_id)

    async def _show_missed(self, screen: Console, start: ChatStart) -> ChatPlace:
        """The newest of the texts that were sent since somebody looked last; the place behind them."""
        seen = await asyncio.to_thread(self._seen.begin, start.last_id)
        first = ChatPlace(last_id=seen, last_seq=start.last_seq, heard_seq=start.last_seq)
        missed: deque[SentText] = deque(maxlen=_MOST_MISSED)
        count, place = 0, first
        while place.last_id < start.last_id:
            news = await self._link.news(place, wait_s=0)
            if not news.texts:
                break
            unseen = [text for text in news.texts if not self._seen.has(text.id)]
            missed += unseen
            count += len(unseen)
            place = replace(first, last_id=news.last_id)
        if missed:
            left = f" (the last {len(missed)} of {count})" if count > len(missed) else ""
            _dim(screen, f"{MISSED}{left}:")
        for text in missed:
            self._show(screen, text)
        await asyncio.to_thread(self._seen.note, seen, place.last_id)
        return place

    async def _show_news(self, screen: Console, start: ChatStart, place: ChatPlace) -> None:
        undelivered, advised = 0, ""
        while True:
            news = await self._link.news(place, wait_s=_WAIT_S)
            self._show_heard(screen, start, news)
            for text in news.texts:
                self._show(screen, text)
            if news.texts:
                await asyncio.to_thread(self._seen.note, place.last_id, news.last_id)
            if news.undelivered > undelivered:
                screen.print(Text("An answer could not be delivered; the log says why.", style="red"))
            undelivered = news.undelivered
            held = news.held_by[0] if news.held_by and news.unsettled else ""
            # The advice stands below the notice that says what it is for.
            if held != advised and not (held and news.outbox):
                advised = held
                if held:
                    _dim(screen, how_to_look(held))
            self._is_typing = news.typing
            self._session.app.invalidate()
            place = news.place

    def _show_heard(self, screen: Console, start: ChatStart, news: ChatNews) -> None:
        """What somebody else wrote, at another terminal; and why what was written here is not answered."""
        why = why_unanswered(news.bounds)
        for each in news.heard:
            is_own = each.message_id in self._own
            if is_own and each.is_context and why is not None and is_addressed(start, each.text):
                _dim(screen, why)
            if not is_own:
                _dim(screen, f"{clean_name(each.sender_name)} (elsewhere) > {clean_text(each.text)}")

    def _show(self, screen: Console, text: SentText) -> None:
        # What an agent printed is cleaned once more: a stored text may be older than today's rules.
        body = clean_text(text.text)
        if text.is_notice:
            screen.print(Text(body, style="dim italic"))
            return
        screen.print(Text(self._assistant_name, style="bold green"))
        if body:
            screen.print(in_lines(body))
        if text.file is not None:
            screen.print(Text(file_line(text.file), style="bold"))

    def _status_line(self) -> str:
        return f" {self._assistant_name} is typing…" if self._is_typing else " /help · /quit"


def _why_silent(start: ChatStart, line: str) -> str | None:
    """Why the assistant won't answer what was written; None if it may."""
    if not start.is_heard:
        return why_not_heard(start)
    return None if is_addressed(start, line) else how_to_address(start)


def in_lines(body: str) -> Markdown:
    """As Markdown, but with its lines as they were written: people in chats mean them."""
    document = Markdown(body)
    for token in document.parsed:
        for part in token.children or ():
            if part.type == "softbreak":
                part.type = "hardbreak"
    return document


def _dim(screen: Console, line: str) -> None:
    screen.print(Text(line, style="dim"))
