"""Chats over HTTP: write to one, wait for its news. Today those of the console."""

from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from orchestrator.api.chat_watch import ChatNews, ChatPlace, ChatStart, chat_news, chat_start
from orchestrator.api.closing import Closing
from orchestrator.commands.hearing.inbound_files import operator_files
from orchestrator.commands.hearing.receiving import check_posting
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import NotFound
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.seams import ConsoleDoor

MAX_WAIT_S: Final = 25.0
_MAX_TEXT_CHARS: Final = 512 * 1024


class NewMessage(BaseModel):
    """What a person wrote. message_id: the same again is the same message.

    files: absolute paths on the orchestrator's machine; they are copied into the group's workspace.
    """

    model_config = ConfigDict(extra="forbid")

    text: str = Field("", max_length=_MAX_TEXT_CHARS)
    message_id: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")
    sender_name: str | None = Field(None, min_length=1, max_length=100)
    files: tuple[str, ...] = Field((), max_length=100)


class MessageTaken(BaseModel):
    """The message is stored."""

    message_id: str


def chat_routes(services: Services, door: ConsoleDoor, closing: Closing) -> APIRouter:
    """`/api/v1/chats/{jid}/…`."""
    router = APIRouter(prefix="/api/v1/chats", tags=["chats"])

    def console_chat(jid: str) -> Jid:
        if door.owns(Jid(jid)):
            return Jid(jid)
        raise NotFound(
            f"{jid!r} is not a chat of the console.",
            suggestion="Chats of other networks are written to over there.",
        )

    @router.post("/{jid}/messages", status_code=201)
    async def post_message(jid: str, message: NewMessage) -> MessageTaken:
        """Take in a message; it is stored when this answers."""
        chat = console_chat(jid)
        await check_posting(services, OperatorCaller(), chat)
        taken = await door.receive(
            chat,
            message.text,
            message_id=None if message.message_id is None else MessageId(message.message_id),
            sender_name=message.sender_name,
            files=await operator_files(services, message.files),
        )
        return MessageTaken(message_id=taken)

    @router.get("/{jid}/now")
    async def get_now(jid: str) -> ChatStart:
        """Where the chat stands, the place to ask for news from; and how the assistant is addressed."""
        chat = console_chat(jid)
        await check_posting(services, OperatorCaller(), chat)
        return await chat_start(services, door, chat)

    @router.get("/{jid}/texts")
    async def get_texts(
        jid: str,
        after: Annotated[int, Query(ge=0, le=2**63 - 1)],
        after_seq: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
        heard_seq: Annotated[int | None, Query(ge=0, le=2**63 - 1)] = None,
        wait_s: Annotated[float, Query(ge=0, le=MAX_WAIT_S, allow_inf_nan=False)] = 0,
        seen: Annotated[str | None, Query(max_length=200)] = None,
    ) -> ChatNews:
        """What came behind a place in the chat; waits until there is news or the time ran out.

        Texts sent behind the outbox id `after`, what people wrote behind the message number
        `heard_seq`, what went wrong behind the message number `after_seq`.
        """
        heard = after_seq if heard_seq is None else heard_seq
        return await chat_news(
            services,
            door,
            console_chat(jid),
            place=ChatPlace(last_id=after, last_seq=after_seq, heard_seq=heard, version=seen),
            wait_s=wait_s,
            check=closing.check,
        )

    return router
