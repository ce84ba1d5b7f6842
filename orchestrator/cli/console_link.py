"""A terminal's line to the orchestrator: over HTTP to a running one, or within this process."""

from typing import Final, Protocol
from urllib.parse import quote

from pydantic import TypeAdapter

from orchestrator.api.chat_watch import ChatNews, ChatPlace, ChatStart, chat_news, chat_start
from orchestrator.cli.client import ApiClient, NotRunning
from orchestrator.commands.hearing.receiving import check_posting
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.seams import ConsoleDoor, Topic

_ANSWER_S: Final = 30.0
_START: Final = TypeAdapter(ChatStart)
_NEWS: Final = TypeAdapter(ChatNews)


class ConsoleLink(Protocol):
    """What a terminal can do with one chat. Every failure is a `DovecoteError`."""

    async def say(self, text: str, *, message_id: MessageId) -> None:
        """Hand in a message; it is stored when this returns. The same id again is the same message."""
        ...

    async def start(self) -> ChatStart:
        """Where the chat stands; what comes later is news."""
        ...

    async def news(self, place: ChatPlace, *, wait_s: float) -> ChatNews:
        """What is new behind `place`, as soon as something is, or after `wait_s`."""
        ...


class HttpLink:
    """To an orchestrator in another process."""

    def __init__(self, client: ApiClient, chat: Jid) -> None:
        self._client = client
        self._path = f"/api/v1/chats/{quote(chat, safe=':')}"

    async def say(self, text: str, *, message_id: MessageId) -> None:
        """Post it."""
        body = {"text": text, "message_id": message_id}
        await self._client.call("POST", f"{self._path}/messages", body=body)

    async def start(self) -> ChatStart:
        """Ask for the place."""
        return _START.validate_python(await self._client.call("GET", f"{self._path}/now"))

    async def news(self, place: ChatPlace, *, wait_s: float) -> ChatNews:
        """One long poll."""
        query = {
            "after": str(place.last_id),
            "after_seq": str(place.last_seq),
            "heard_seq": str(place.heard_seq),
            "wait_s": str(wait_s),
        }
        if place.version is not None:
            query["seen"] = place.version
        plain = await self._client.call(
            "GET", f"{self._path}/texts", query=query, timeout_s=wait_s + _ANSWER_S
        )
        return _NEWS.validate_python(plain)


class LocalLink:
    """To the orchestrator that runs in this process; `end` it before that does."""

    def __init__(self, services: Services, door: ConsoleDoor, chat: Jid) -> None:
        self._services = services
        self._door = door
        self._chat = chat
        self._has_ended = False

    def end(self) -> None:
        """From now on every call raises NotRunning, also one that waits for news."""
        self._has_ended = True
        self._services.wakeups.wake(Topic.CHAT_VIEW)

    def _check(self) -> None:
        if self._has_ended:
            raise NotRunning(
                "The orchestrator of this chat has given way.", suggestion="Go on with the next one."
            )

    async def say(self, text: str, *, message_id: MessageId) -> None:
        """Hand it to the channel."""
        self._check()
        await self._door.receive(self._chat, text, message_id=message_id)

    async def start(self) -> ChatStart:
        """Read the store."""
        self._check()
        await check_posting(self._services, OperatorCaller(), self._chat)
        return await chat_start(self._services, self._door, self._chat)

    async def news(self, place: ChatPlace, *, wait_s: float) -> ChatNews:
        """Read the store, waiting for a change."""
        return await chat_news(
            self._services, self._door, self._chat, place=place, wait_s=wait_s, check=self._check
        )
