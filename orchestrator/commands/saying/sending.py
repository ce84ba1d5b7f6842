"""What agents say to a chat of their own accord. Source: contracts.md section 4."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.commands.command import Command, Context
from orchestrator.commands.saying.attachments import (
    SpooledFiles,
    check_room,
    discard_copies,
    spool_attachments,
)
from orchestrator.commands.saying.outgoing import OutgoingText, prepare_text, queue_parts_later
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, Caller
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import MessageId, is_network_id
from orchestrator.contracts.records.messages import TextSource
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.core.authority import Target
from orchestrator.core.chat.attachments import outbox_parts
from orchestrator.core.text_cleaning import clean_name
from orchestrator.store import groups
from orchestrator.store.transaction import Transaction


def _send_target(tx: Transaction, request: SendMessage) -> Target:
    return Target(
        chat_jid=request.chat_jid,
        group=None,
        is_registered=groups.is_registered(tx, request.chat_jid),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMessage:
    """An agent's wish to write, its text cleaned and cut, its files copied."""

    request: SendMessage
    text: OutgoingText
    spooled: SpooledFiles


async def prepare_message(services: Services, caller: Caller, request: SendMessage) -> PreparedMessage:
    """Clean and cut the text, with a sender's role before it, and copy the files."""
    role = clean_name(request.sender) if request.sender else ""
    prefix = f"[{role}] " if role else ""
    text = await prepare_text(services, request.chat_jid, request.text, prefix=prefix)
    spooled = await spool_attachments(services, caller, request.attachments or ())
    if spooled.files:
        services.checkpoints.reached("attachments.copied")
    return PreparedMessage(request=request, text=text, spooled=spooled)


async def release_message(services: Services, prepared: PreparedMessage) -> None:
    """Remove the copies again."""
    await discard_copies(services, prepared.spooled.files)


def send_message(tx: Transaction, context: Context, prepared: PreparedMessage) -> Mapping[str, object]:
    """Put an agent's text and files into the outbox of a chat. Source: contracts.md section 4."""
    request, files = prepared.request, prepared.spooled.files
    if prepared.spooled.refusal is not None:
        raise prepared.spooled.refusal
    if not prepared.text.parts and not files:
        raise InvalidRequest(
            "The text is empty.", suggestion="Send a text with at least one visible character."
        )
    if request.reply_to is not None and not is_network_id(request.reply_to):
        raise InvalidRequest(
            "replyTo is not the id of a message.", suggestion="Give the id of a message of this chat."
        )
    check_room(tx, context.services, request.chat_jid, files)
    queue_parts_later(
        tx,
        chat=request.chat_jid,
        parts=outbox_parts(prepared.text.parts, files),
        source=TextSource.REQUEST,
        source_key=context.key,
        at=context.at,
        agent_id=context.caller.agent_id if isinstance(context.caller, AgentCaller) else None,
        turn_id=context.caller.turn_id if isinstance(context.caller, AgentCaller) else None,
        reply_to=None if request.reply_to is None else MessageId(request.reply_to),
    )
    return {"status": "queued"}


COMMANDS: Final = (
    Command(
        request=SendMessage,
        name="send_message",
        target=_send_target,
        prepare=prepare_message,
        run=send_message,
        release=release_message,
        takes_long=lambda request: bool(request.attachments),
    ),
)
"""The requests of this area."""
