"""Messages in and texts out: what channels and agents may do with a chat."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import structlog

from orchestrator.commands.command import Command, Context
from orchestrator.commands.operator_words import HANDLED_WORDS, run_operator_word
from orchestrator.commands.outgoing import OutgoingText, prepare_text, queue_text
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, Caller
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import MAX_NETWORK_ID_BYTES, Jid, MessageId, is_network_id
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.messages import (
    InboundMessage,
    OutboxStatus,
    SenderRole,
    TextSource,
)
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.framing import MAX_TEXT_BYTES
from orchestrator.core.authority import Target, allow
from orchestrator.core.chat.slash_words import SlashWord, slash_word
from orchestrator.core.chat.trigger import compile_trigger, wakes
from orchestrator.core.states.message import MESSAGE, MessageEvent
from orchestrator.core.text_cleaning import cap_text, clean_name, clean_text
from orchestrator.store import chats, groups, messages, notices, outbox
from orchestrator.store.database import Transaction

_log = structlog.get_logger(__name__)

_ECHO_WAIT_S: Final = 30.0
"""So long an own-number message waits for a text in flight that it may be the echo of."""


async def receive_message(services: Services, inbound: InboundMessage, channel: str) -> None:
    """Take in what a channel heard; it is stored when this returns. Met again it changes nothing.

    Raises InvalidRequest for ids that no network may give: it will never be taken.
    """
    if (refusal := _refusal(inbound)) is not None:
        now = services.clock.now()
        await services.db.run(lambda tx: _warn_refused(tx, inbound, channel, refusal.message, now))
        raise refusal
    message = _cleaned(inbound)
    if message.is_from_me and await _is_echo(services, message):
        return
    at = services.clock.now()

    def body(tx: Transaction) -> SlashWord | None:
        return _store(tx, services, message, channel, at)

    word = await services.db.run(body)
    services.checkpoints.reached("inbound.committed")
    if word is not None:
        await run_operator_word(services, message, word)


def _refusal(message: InboundMessage) -> InvalidRequest | None:
    """Why the message can't be taken, if it can't: people on a network may choose ids of their own."""
    ids = {"message": message.message_id, "chat": message.chat_jid, "sender": message.sender_jid}
    if message.quoted is not None and message.quoted.message_id:
        ids["quoted message"] = message.quoted.message_id
    for what, each in ids.items():
        if not is_network_id(each):
            return InvalidRequest(
                f"The id of the {what} is {each[:40]!a}, {len(each)} characters long.",
                suggestion=f"It must have 1 to {MAX_NETWORK_ID_BYTES} bytes and no control characters.",
            )
    return None


def _warn_refused(tx: Transaction, message: InboundMessage, channel: str, why: str, at: datetime) -> None:
    """Say it once a chat, and count; a chat whose own id is off counts as its channel."""
    chat = message.chat_jid if is_network_id(message.chat_jid) else channel
    count, _ = notices.count_one(tx, f"refused:{chat}", at=at)
    if count == 1:
        _log.warning("message.refused", chat=chat, channel=channel, why=why)


async def check_posting(services: Services, caller: Caller, chat: Jid) -> None:
    """Return if `caller` may write to `chat` as a person. Raises Forbidden, or NotFound if it is no group."""
    group = await services.db.run(lambda tx: groups.by_jid(tx, chat))
    allow(caller, "post_message", Target(chat_jid=chat, group=None, is_registered=group is not None))


def _store(
    tx: Transaction, services: Services, message: InboundMessage, channel: str, at: datetime
) -> SlashWord | None:
    """Store the message; the operator word it is, if it is one that its sender may say."""
    chats.see(
        tx,
        message.chat_jid,
        channel=channel,
        name=message.chat_name,
        is_group=message.chat_is_group,
        at=at,
    )
    group = groups.by_jid(tx, message.chat_jid)
    if group is None:
        _warn_unregistered(tx, message, channel, at)
        return None
    if outbox.is_ours(tx, message.chat_jid, message.message_id):
        return None
    role = _role(services, group, message)
    is_trigger = wakes(group, message.text, quoted=message.quoted)
    word = _operator_word(group, message, role)
    seq = messages.add(
        tx,
        message,
        role=role,
        is_trigger=is_trigger and word is None,
        status=MESSAGE.start if word is None else MESSAGE.after(MESSAGE.start, MessageEvent.PASSED_OVER),
        at=at,
    )
    if seq is None:
        return None
    tx.wake(Topic.MESSAGES)
    _log.info("message.stored", chat=message.chat_jid, seq=seq, chars=len(message.text), trigger=is_trigger)
    return word


def _cleaned(message: InboundMessage) -> InboundMessage:
    quoted = message.quoted
    if quoted is not None:
        quoted = replace(
            quoted,
            text=cap_text(clean_text(quoted.text), MAX_TEXT_BYTES),
            sender_name=clean_name(quoted.sender_name),
        )
    return replace(
        message,
        text=cap_text(clean_text(message.text), MAX_TEXT_BYTES),
        sender_name=clean_name(message.sender_name),
        chat_name=None if message.chat_name is None else clean_name(message.chat_name),
        quoted=quoted,
    )


def _role(services: Services, group: Group, message: InboundMessage) -> SenderRole:
    """What the sender is to us. In a main chat that is no group chat everybody is the operator."""
    if message.sender_is_bot:
        return SenderRole.BOT
    is_own_chat = group.is_main and not message.chat_is_group
    if is_own_chat or message.sender_jid in services.settings.assistant.operators:
        return SenderRole.OPERATOR
    return SenderRole.MEMBER


def _operator_word(group: Group, message: InboundMessage, role: SenderRole) -> SlashWord | None:
    """The word that runs here and now. Whoever may trigger may say it; a bot may not."""
    if role is SenderRole.BOT:
        return None
    trigger = compile_trigger(
        group.trigger, assistant_name=group.assistant_name, position=group.trigger_position
    )
    word = slash_word(message.text, trigger)
    return word if word is not None and word.name in HANDLED_WORDS else None


def _warn_unregistered(tx: Transaction, message: InboundMessage, channel: str, at: datetime) -> None:
    count, _ = notices.count_one(tx, f"unregistered:{message.chat_jid}", at=at)
    if count == 1:
        _log.warning(
            "chat.not_registered",
            chat=message.chat_jid,
            channel=channel,
            suggestion=f"dovecote group add FOLDER --jid {message.chat_jid}",
        )


async def _is_echo(services: Services, message: InboundMessage) -> bool:
    """Whether an own-number message is a text of ours coming back rather than the owner speaking."""
    listener = services.wakeups.listen(Topic.OUTBOX)
    deadline = services.clock.monotonic() + _ECHO_WAIT_S
    while True:
        verdict = await services.db.run(lambda tx: _match_echo(tx, services, message))
        left_s = deadline - services.clock.monotonic()
        if verdict is not None or left_s <= 0:
            return bool(verdict)
        await listener.wait(at_most_s=min(left_s, 1.0))


def _match_echo(tx: Transaction, services: Services, message: InboundMessage) -> bool | None:
    """True: an echo. False: the owner. None: a text is in flight, so nobody can tell yet."""
    if outbox.is_ours(tx, message.chat_jid, message.message_id):
        return True
    for item in outbox.in_flight_of_chat(tx, message.chat_jid):
        if item.status is OutboxStatus.UNKNOWN and item.text == message.text:
            outbox.move(
                tx,
                item,
                now=OutboxStatus.SENT,
                at=services.clock.now(),
                channel_message_id=MessageId(message.message_id),
            )
            tx.wake(Topic.OUTBOX)
            return True
        if item.status is OutboxStatus.SENDING:
            return None
    return False


def _send_target(tx: Transaction, request: SendMessage) -> Target:
    return Target(
        chat_jid=request.chat_jid,
        group=None,
        is_registered=groups.by_jid(tx, request.chat_jid) is not None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMessage:
    """An agent's wish to write, its text cleaned and cut."""

    request: SendMessage
    text: OutgoingText


async def prepare_message(services: Services, request: SendMessage) -> PreparedMessage:
    """Clean and cut the text; a sender's role goes before it."""
    role = clean_name(request.sender or "")
    prefix = f"[{role}] " if role else ""
    text = await prepare_text(services, request.chat_jid, request.text, prefix=prefix)
    return PreparedMessage(request=request, text=text)


def send_message(tx: Transaction, context: Context, prepared: PreparedMessage) -> Mapping[str, object]:
    """Put an agent's text into the outbox of a chat. Source: contracts.md section 4."""
    request = prepared.request
    if not prepared.text.parts:
        raise InvalidRequest(
            "The text is empty.", suggestion="Send a text with at least one visible character."
        )
    queue_text(
        tx,
        chat=request.chat_jid,
        parts=prepared.text.parts,
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
    ),
)
"""The requests of this area."""
