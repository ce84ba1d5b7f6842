"""Chat without a terminal: each line of the input is a message, replies are printed, then it ends."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.api.chat_watch import ChatNews, ChatPlace, ChatStart
from orchestrator.cli.addressing import (
    HOW_TO_BE_FREE,
    is_addressed,
    what_to_do,
    why_not_heard,
    why_unanswered,
)
from orchestrator.cli.chat_holds import how_to_look, why_held
from orchestrator.cli.chat_words import Word, help_text, unknown_word, word_of
from orchestrator.cli.console_link import ConsoleLink
from orchestrator.cli.last_seen import LastSeen
from orchestrator.cli.sent_file import shown_lines
from orchestrator.contracts.errors import DovecoteError, Forbidden, InvalidRequest, LimitExceeded
from orchestrator.contracts.ids import MessageId, new_id
from orchestrator.core.text_cleaning import clean_text

_WAIT_S: Final = 20.0
# While lines are still read, or an end is near: these wake no long poll.
_LOOK_S: Final = 0.5
# An incident that was there before us may be over: the next try shows it.
_HOLD_S: Final = 15.0
_QUOTED_CHARS: Final = 40
_ENDED: Final = {"partial": "broke off half-way", "failed": "could not be finished"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    number: int
    text: str


class LineChat:
    """Says every line and shows every reply in order. show: prints one text. seen: which texts were."""

    def __init__(self, link: ConsoleLink, *, show: Callable[[str], None], seen: LastSeen) -> None:
        self._link = link
        self._show = show
        self._seen = seen
        self._said: dict[MessageId, _Line] = {}
        self._unaddressed: set[MessageId] = set()
        self._passed_over: set[MessageId] = set()
        self._refusals: list[str] = []
        self._undelivered = 0
        self._held_since: float | None = None
        self._was_told = False
        self._awaited: asyncio.Event | None = None

    async def run(self, lines: AsyncIterator[str]) -> None:
        """Return when all was answered. Raises DovecoteError with the reason why not."""
        start = await self._link.start()
        # What came before and was not seen stays unseen: here nobody is shown it.
        await asyncio.to_thread(self._seen.begin, start.last_id)
        all_said = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            saying = tasks.create_task(self._say_all(start, lines, all_said), name="say lines")
            news = await self._show_until_quiet(start, all_said)
            saying.cancel()
        self._check_delivered(news)
        self._check_words()
        self._check_bounds(start, news)
        self._check_addressed(start)

    async def _say_all(self, start: ChatStart, lines: AsyncIterator[str], all_said: asyncio.Event) -> None:
        number = 0
        async for text in lines:
            number += 1
            word = word_of(text)
            if word is Word.LEAVE:
                break
            if word in (Word.HELP, Word.UNKNOWN):
                await self._all_answered()
                self._show(help_text(start) if word is Word.HELP else unknown_word(text))
                if word is Word.UNKNOWN:
                    self._refusals.append(unknown_word(text))
            elif text.strip():
                message_id = MessageId(new_id("msg"))
                self._said[message_id] = _Line(number=number, text=text.strip())
                if not is_addressed(start, text):
                    self._unaddressed.add(message_id)
                await self._link.say(text, message_id=message_id)
        all_said.set()

    async def _all_answered(self) -> None:
        """What was said so far has its answers, and they are shown: what is printed next follows them."""
        if self._said:
            self._awaited = asyncio.Event()
            await self._awaited.wait()

    async def _show_until_quiet(self, start: ChatStart, all_said: asyncio.Event) -> ChatNews:
        place = ChatPlace(last_id=start.last_id, last_seq=start.last_seq, heard_seq=start.last_seq)
        while True:
            # Read before the news: what is quiet now must have been quiet with all of the input in.
            was_all_said, awaited = all_said.is_set(), self._awaited
            is_near = not was_all_said or self._held_since is not None
            news = await self._link.news(place, wait_s=_LOOK_S if is_near else _WAIT_S)
            for text in news.texts:
                self._was_told = self._was_told or text.is_notice
                if text.is_refusal:
                    self._refusals.append(text.text)
                self._show("\n".join(shown_lines(text)))
            if news.texts:
                await asyncio.to_thread(self._seen.note, place.last_id, news.last_id)
            self._passed_over |= {each.message_id for each in news.heard if each.is_context}
            self._undelivered = max(self._undelivered, news.undelivered)
            self._check_held(news)
            if awaited is not None and news.is_quiet:
                awaited.set()
            if was_all_said and news.is_quiet:
                return news
            has_just_ended = all_said.is_set() and not was_all_said
            place = replace(news.place, version=None) if has_just_ended else news.place

    def _check_held(self, news: ChatNews) -> None:
        """Raises DovecoteError once it is certain that messages wait for somebody to mend something."""
        if not news.held_by or not news.unsettled:
            self._held_since = None
            return
        now = asyncio.get_running_loop().time()
        self._held_since = self._held_since or now
        is_certain = self._was_told or now - self._held_since > _HOLD_S
        if is_certain and not news.outbox:
            raise DovecoteError(
                f"{why_held(news.held_by[0])} The messages are kept; they are answered when Dovecote runs "
                "and this is over.",
                suggestion=how_to_look(news.held_by[0]),
            )

    def _check_delivered(self, news: ChatNews) -> None:
        ended = [(self._said[m.message_id], m.status) for m in news.unfinished if m.message_id in self._said]
        if ended:
            line, status = ended[0]
            more = f" So did {len(ended) - 1} more." if len(ended) > 1 else ""
            raise DovecoteError(
                f"Line {line.number} ({_quoted(line.text)}) {_ENDED.get(status, status)}.{more}",
                suggestion="Run again what went wrong: echo /retry | dovecote chat",
            )
        if self._undelivered:
            raise DovecoteError(
                f"{self._undelivered} of the answers could not be delivered.",
                suggestion="The log in data/logs says why.",
            )

    def _check_words(self) -> None:
        if self._refusals:
            others = len(self._refusals) - 1
            more = f"\nNor {'was' if others == 1 else 'were'} {others} more." if others else ""
            raise Forbidden(f"A word was not done. {clean_text(self._refusals[0])}{more}")

    def _check_bounds(self, start: ChatStart, news: ChatNews) -> None:
        over = [each for each in self._said if each in self._passed_over - self._unaddressed]
        why = why_unanswered(news.bounds)
        if over and start.is_heard and why is not None:
            line = self._said[over[0]]
            others = len(over) - 1
            more = f" Nor {'was' if others == 1 else 'were'} {others} more." if others else ""
            raise LimitExceeded(
                f"Line {line.number} ({_quoted(line.text)}) was not answered.{more} {why}",
                suggestion=HOW_TO_BE_FREE,
            )

    def _check_addressed(self, start: ChatStart) -> None:
        if self._said and not start.is_heard:
            raise Forbidden(clean_text(why_not_heard(start)))
        if self._unaddressed:
            raise InvalidRequest(
                f"{len(self._unaddressed)} of {len(self._said)} lines were not for the assistant: "
                f"{what_to_do(start)}."
            )


def _quoted(text: str) -> str:
    is_cut = len(text) > _QUOTED_CHARS
    return f"“{text[:_QUOTED_CHARS]}{'…' if is_cut else ''}”"
