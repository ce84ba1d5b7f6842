"""A line that outlives the orchestrator at its other end: when that goes, another is found or run."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from orchestrator.api.chat_watch import ChatNews, ChatPlace, ChatStart
from orchestrator.app.doors import App
from orchestrator.app.running import running
from orchestrator.cli.client import ApiClient, NotRunning, running_client
from orchestrator.cli.console_link import ConsoleLink, HttpLink, LocalLink
from orchestrator.cli.home import Home
from orchestrator.contracts.errors import DovecoteError, ErrorCode
from orchestrator.contracts.ids import Jid, MessageId

T = TypeVar("T")
# A daemon that is restarted is back within this; the chat must not take the home from it.
_SUCCESSOR_S: Final = 5.0
_LOOK_S: Final = 0.1
# Beside the grace that running turns get at a stop: the outbox, the agents, the store.
_CLOSING_S: Final = 15.0
_TRIES: Final = 20
GOES_ON: Final = "The orchestrator that this chat used has stopped; going on with one of its own."
GIVES_WAY: Final = "Another orchestrator takes this home over; going on with that one."
JOINS: Final = "The orchestrator that this chat used has stopped; going on with the next one."


class SteadyLink:
    """A `ConsoleLink` to whichever orchestrator serves the home, one of our own if no other does.

    `hold` opens it and keeps it open. One of our own gives way to a daemon that asks.
    tell: is given a line for people when that changes.
    """

    def __init__(self, home: Home, chat: Jid, *, tell: Callable[[str], None]) -> None:
        self._home = home
        self._chat = chat
        self._tell = tell
        self._link: ConsoleLink | None = None
        self._opened = asyncio.Event()
        self._lost = asyncio.Event()
        self.is_own = False

    async def hold(self) -> None:
        """Keep the line open until cancelled; an orchestrator of our own ends in order then."""
        client = await self._running_client()
        while True:
            async with contextlib.AsyncExitStack() as stack:
                self._use(await self._open(stack, client))
                await self._lost.wait()
            gave_way, self.is_own = self.is_own, False
            client = await self._successor()
            if client is None:
                self._tell(GOES_ON)
            elif not gave_way:
                self._tell(JOINS)

    async def say(self, text: str, *, message_id: MessageId) -> None:
        """Hand it in, again if need be: the id makes it the same message."""
        await self._through(lambda link: link.say(text, message_id=message_id))

    async def start(self) -> ChatStart:
        """Where the chat stands."""
        return await self._through(lambda link: link.start())

    async def news(self, place: ChatPlace, *, wait_s: float) -> ChatNews:
        """What is new."""
        return await self._through(lambda link: link.news(place, wait_s=wait_s))

    async def _through(self, work: Callable[[ConsoleLink], Awaitable[T]]) -> T:
        while True:
            await self._opened.wait()
            link = self._link
            assert link is not None
            try:
                return await work(link)
            except NotRunning:
                self._lose(link)

    def _use(self, link: ConsoleLink) -> None:
        self._link = link
        self._lost.clear()
        self._opened.set()

    def _give_way(self) -> None:
        """A daemon asks for the home: ours ends in order, and the chat goes on with the daemon."""
        link = self._link
        if self.is_own and isinstance(link, LocalLink):
            self._tell(GIVES_WAY)
            self._lose(link)
            link.end()

    def _lose(self, link: ConsoleLink) -> None:
        if link is self._link:
            self._opened.clear()
            self._lost.set()

    async def _open(self, stack: contextlib.AsyncExitStack, client: ApiClient | None) -> ConsoleLink:
        """Through `client`, else run one. Another process may be quicker at that: then use its one."""
        for _ in range(_TRIES):
            if client is not None:
                await stack.enter_async_context(client)
                return HttpLink(client, self._chat)
            try:
                app = await stack.enter_async_context(self._own())
            except DovecoteError as error:
                if error.code is not ErrorCode.ALREADY_RUNNING:
                    raise
                client = await self._running_client()
            else:
                self.is_own = True
                self._tell(app.runner_line)
                return LocalLink(app.services, app.console, self._chat)
        raise NotRunning(
            f"Orchestrators come and go in {self._home.paths.home}; none stayed long enough to be used.",
            suggestion="Start one that stays: dovecote serve",
        )

    def _own(self) -> "contextlib.AbstractAsyncContextManager[App]":
        return running(self._home.settings, self._home.paths, give_way=self._give_way)

    async def _successor(self) -> ApiClient | None:
        for _ in range(round(_SUCCESSOR_S / _LOOK_S)):
            client = await self._running_client()
            if client is not None:
                return client
            await asyncio.sleep(_LOOK_S)
        return None

    async def _running_client(self) -> ApiClient | None:
        settings = self._home.settings
        stop_wait_s = settings.shutdown_grace_s + settings.agent.stop_grace_s + _CLOSING_S
        return await running_client(self._home.paths, stop_wait_s=stop_wait_s)
