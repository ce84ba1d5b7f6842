"""Chat without a terminal: each line of the input is a message, replies are printed, then it ends."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Final

from orchestrator.api.chat_watch import ChatNews
from orchestrator.cli.console_link import ConsoleLink
from orchestrator.cli.ended import innermost
from orchestrator.contracts.errors import DovecoteError

_WAIT_S: Final = 20.0
# While lines are still read: the end of the input wakes no long poll.
_LOOK_S: Final = 0.5


async def chat_by_lines(
    link: ConsoleLink, lines: AsyncIterator[str], *, show: Callable[[str], None]
) -> str | None:
    """Say every line, show every reply in order. None when all was answered; else why not."""
    trouble: str | None = None
    try:
        start = await link.now()
        all_said = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            saying = tasks.create_task(_say_all(link, lines, all_said), name="say lines")
            trouble = await _show_until_answered(link, start, all_said, show)
            saying.cancel()
    except* DovecoteError as errors:
        trouble = str(innermost(errors))
    return trouble


async def _say_all(link: ConsoleLink, lines: AsyncIterator[str], all_said: asyncio.Event) -> None:
    async for line in lines:
        if line.strip():
            await link.say(line)
    all_said.set()


async def _show_until_answered(
    link: ConsoleLink, start: ChatNews, all_said: asyncio.Event, show: Callable[[str], None]
) -> str | None:
    news = start
    while True:
        # Read before the news: what is quiet now must have been quiet with all of the input in.
        was_all_said = all_said.is_set()
        news = await link.news(news, wait_s=_WAIT_S if was_all_said else _LOOK_S)
        for text in news.texts:
            show(text.text)
        if news.failed:
            return news.failed[-1]
        if was_all_said and news.is_quiet:
            return None
        if all_said.is_set() and not was_all_said:
            news = replace(news, version="")
