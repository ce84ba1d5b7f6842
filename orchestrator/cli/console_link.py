"""A terminal's line to the orchestrator: over HTTP to a running one, or within this process."""

from typing import Final, Protocol
from urllib.parse import quote

from pydantic import TypeAdapter

from orchestrator.api.chat_watch import ChatNews, chat_news, chat_now
from orchestrator.cli.client import ApiClient
from orchestrator.commands.chat import check_posting
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import Jid, MessageId, new_id
from orchestrator.contracts.seams import ConsoleDoor

_ANSWER_S: Final = 30.0
_NEWS: Final = TypeAdapter(ChatNews)


class ConsoleLink(Protocol):
    """What a terminal can do with one chat. Every failure is a `DovecoteError`."""

    async def say(self, text: str) -> None:
        """Hand in a message; it is stored when this returns."""
        ...

    async def now(self) -> ChatNews:
        """Where the chat stands; what comes later is news."""
        ...

    async def news(self, behind: ChatNews, *, wait_s: float) -> ChatNews:
        """What is new since `behind`, as soon as something is, or after `wait_s`."""
        ...


class HttpLink:
    """To an orchestrator in another process."""

    def __init__(self, client: ApiClient, chat: Jid) -> None:
        self._client = client
        self._path = f"/api/v1/chats/{quote(chat, safe=':')}"

    async def say(self, text: str) -> None:
        """Post it."""
        body = {"text": text, "message_id": new_id("msg")}
        await self._client.call("POST", f"{self._path}/messages", body=body)

    async def now(self) -> ChatNews:
        """Ask for the place."""
        return _NEWS.validate_python(await self._client.call("GET", f"{self._path}/now"))

    async def news(self, behind: ChatNews, *, wait_s: float) -> ChatNews:
        """One long poll."""
        query = {
            "after": str(behind.last_id),
            "after_seq": str(behind.last_seq),
            "seen": behind.version,
            "wait_s": str(wait_s),
        }
        plain = await self._client.call(
            "GET", f"{self._path}/texts", query=query, timeout_s=wait_s + _ANSWER_S
        )
        return _NEWS.validate_python(plain)


class LocalLink:
    """To the orchestrator that runs in this process."""

    def __init__(self, services: Services, door: ConsoleDoor, chat: Jid) -> None:
        self._services = services
        self._door = door
        self._chat = chat

    async def say(self, text: str) -> None:
        """Hand it to the channel."""
        await self._door.receive(self._chat, text, message_id=MessageId(new_id("msg")))

    async def now(self) -> ChatNews:
        """Read the store."""
        await check_posting(self._services, OperatorCaller(), self._chat)
        return await chat_now(self._services, self._chat)

    async def news(self, behind: ChatNews, *, wait_s: float) -> ChatNews:
        """Read the store, waiting for a change."""
        return await chat_news(
            self._services,
            self._door,
            self._chat,
            after=behind.last_id,
            after_seq=behind.last_seq,
            seen=behind.version,
            wait_s=wait_s,
        )
