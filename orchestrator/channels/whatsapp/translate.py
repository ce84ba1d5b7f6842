"""From the protobuf objects of `neonize` to records of ours, and back; pure, and total.

Whatever an object holds, the answer is a message or a reasoned skip, never an exception. Objects are read
by the names of their fields, so that this module loads no library. Source: agents.md section 6.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from orchestrator.channels.whatsapp.content import content_of
from orchestrator.channels.whatsapp.content_words import Content, instant_of
from orchestrator.channels.whatsapp.jids import (
    BOT_SERVER,
    BROADCAST_SERVER,
    NEWSLETTER_SERVER,
    STATUS,
    jid_from_text,
    jid_of,
    lid_and_phone,
    server_of,
    user_of,
)
from orchestrator.channels.whatsapp.media import MessageFile
from orchestrator.channels.whatsapp.mending import mended
from orchestrator.channels.whatsapp.ties import Ties, tied, ties_of
from orchestrator.channels.whatsapp.unwrapping import unwrap
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import (
    Change,
    ChangeKind,
    InboundMessage,
    Mention,
    OutboundMessage,
    Quoted,
)

_REVOKE: Final = 0
_EDIT: Final = 14
_REVOKED_BY_ADMIN: Final = "8"
_HIDE_FAILURE: Final = 2
_UNAVAILABLE: Final = "only the phone can show it, as is so with what can be viewed once"
_MAX_MENTIONS: Final = 1_024
_MOST_CHARS: Final = 100_000
"""More than any message is kept with: the store cuts it there, with a note, and a line stays a line."""
_FIRST_MS: Final = 10**11
"""A smaller number counts seconds: in milliseconds it would be before April 1973."""


class SkipReason(StrEnum):
    """Why an event is no message."""

    STATUS = "status"
    NEWSLETTER = "newsletter"
    NO_IDS = "no_ids"
    NO_TIME = "no_time"
    BEFORE_LINK = "before_link"
    PROTOCOL = "protocol"
    ENCRYPTED_CHANGE = "encrypted_change"
    NOT_TO_BE_SHOWN = "not_to_be_shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """An event that is no message. chat: where it was, if it says."""

    reason: SkipReason
    chat: Jid | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """The linked account. ids: its phone's and its hidden one. has_owner: a person writes from it as well.

    not_before: what was sent earlier is history, and passed over.
    """

    ids: frozenset[Jid]
    has_owner: bool = False
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Envelope:
    """Who wrote where and when."""

    chat: Jid
    sender: Jid
    message_id: MessageId
    sent_at: datetime
    name: str
    is_from_me: bool
    is_group: bool


def to_inbound(event: Any, me: Me) -> InboundMessage | Skip:
    """What a `neonize` message event says. Its files have no source yet: the library fetches them."""
    event = mended(event)
    envelope = _envelope(event.Info, me)
    if isinstance(envelope, Skip):
        return envelope
    outer = event.Message if event.HasField("Message") else event.Raw
    return _read(envelope, unwrap(outer), me, ties=ties_of(event), edit=event.Info.Edit)


def file_in(event: Any) -> MessageFile | None:
    """The file in a `neonize` message event, the one that `to_inbound` describes; None if there is none."""
    event = mended(event)
    message = unwrap(event.Message if event.HasField("Message") else event.Raw)
    if message.HasField("protocolMessage"):
        message = unwrap(message.protocolMessage.editedMessage)
    content = content_of(message)
    return None if content is None else content.file


def undecryptable(event: Any, me: Me) -> InboundMessage | Skip:
    """A place-holder for a message that this device could not decrypt; it never wakes the assistant.

    Its id is not the message's, which may still come. Case G8.
    """
    event = mended(event)
    envelope = _envelope(event.Info, me)
    if isinstance(envelope, Skip):
        return envelope
    if event.DecryptFailMode == _HIDE_FAILURE:
        return Skip(reason=SkipReason.NOT_TO_BE_SHOWN, chat=envelope.chat)
    why = _UNAVAILABLE if event.IsUnavailable else "it could not be decrypted"
    content = Content(text=f"[A message that cannot be read: {why}]", is_context_only=True)
    message_id = MessageId(f"undecryptable:{envelope.message_id}")
    return _message(envelope, content, me, message_id=message_id)


def same_people(info: Any) -> tuple[tuple[Jid, Jid], ...]:
    """Pairs of a hidden id and the phone's that are one person, as the `MessageInfo` of an event says."""
    source = info.MessageSource
    pairs = [lid_and_phone(jid_of(source.Sender), jid_of(source.SenderAlt))]
    if not source.IsGroup:
        other = source.RecipientAlt if source.IsFromMe else source.SenderAlt
        pairs.append(lid_and_phone(jid_of(source.Chat), jid_of(other)))
    return tuple(dict.fromkeys(pair for pair in pairs if pair is not None))


def same_participants(group: Any) -> tuple[tuple[Jid, Jid], ...]:
    """The same of the people in a `GroupInfo`."""
    pairs = []
    for each in group.Participants:
        ids = (jid_of(each.JID), jid_of(each.LID), jid_of(each.PhoneNumber))
        pairs += [lid_and_phone(ids[0], ids[1]), lid_and_phone(ids[0], ids[2]), lid_and_phone(ids[1], ids[2])]
    return tuple(dict.fromkeys(pair for pair in pairs if pair is not None))


def to_message(message: Any, outbound: OutboundMessage) -> None:
    """Fill an empty `Message` with the text, which is WhatsApp's own notation already.

    Nothing is quoted unless its sender is known.
    """
    if not _is_quoting(outbound) and not outbound.mentions:
        message.conversation = outbound.text
        return
    message.extendedTextMessage.text = outbound.text
    fill_context(message.extendedTextMessage, outbound)


def fill_context(part: Any, outbound: OutboundMessage) -> None:
    """Say in the part of a `Message` what it quotes and whom its text calls."""
    if _is_quoting(outbound):
        context = part.contextInfo
        context.stanzaID = outbound.reply_to
        context.participant = outbound.reply_to_sender
        # Phones show this, and not what they have of the message themselves.
        context.quotedMessage.conversation = outbound.reply_to_text
    if outbound.mentions:
        part.contextInfo.mentionedJID.extend(dict.fromkeys(each.jid for each in outbound.mentions))


def _is_quoting(outbound: OutboundMessage) -> bool:
    return outbound.reply_to is not None and outbound.reply_to_sender is not None


def _envelope(info: Any, me: Me) -> _Envelope | Skip:
    source = info.MessageSource
    chat, sender = jid_of(source.Chat), jid_of(source.Sender)
    if chat is None or sender is None or not info.ID:
        return Skip(reason=SkipReason.NO_IDS, chat=chat)
    if chat == STATUS:
        return Skip(reason=SkipReason.STATUS, chat=chat)
    if server_of(chat) == NEWSLETTER_SERVER:
        return Skip(reason=SkipReason.NEWSLETTER, chat=chat)
    if server_of(chat) == BROADCAST_SERVER and not source.IsFromMe:
        chat = sender  # a list of the sender's: to us it is a message of theirs
    sent_at = _sent_at(info.Timestamp)
    if sent_at is None:
        return Skip(reason=SkipReason.NO_TIME, chat=chat)
    if me.not_before is not None and sent_at < me.not_before:
        return Skip(reason=SkipReason.BEFORE_LINK, chat=chat)
    return _Envelope(
        chat=chat,
        sender=sender,
        message_id=MessageId(info.ID),
        sent_at=sent_at,
        name=info.Pushname[:_MOST_CHARS] or user_of(sender),
        is_from_me=source.IsFromMe,
        is_group=source.IsGroup,
    )


def _sent_at(timestamp: int) -> datetime | None:
    """Message events count milliseconds, everything else of the library seconds: a mix-up loses nothing."""
    return instant_of(timestamp if timestamp >= _FIRST_MS else timestamp * 1000)


def _read(envelope: _Envelope, message: Any, me: Me, *, ties: Ties, edit: str) -> InboundMessage | Skip:
    if message.HasField("protocolMessage"):
        return _change(envelope, message.protocolMessage, me, edit=edit)
    content = content_of(message)
    if content is None:
        is_secret = message.HasField("secretEncryptedMessage")
        reason = SkipReason.ENCRYPTED_CHANGE if is_secret else SkipReason.PROTOCOL
        return Skip(reason=reason, chat=envelope.chat)
    change = None
    if ties.again is not None and content.file is not None:
        change = Change(kind=ChangeKind.REPETITION, message_id=ties.again)
    return _message(envelope, tied(content, ties), me, change=change)


def _change(envelope: _Envelope, protocol: Any, me: Me, *, edit: str) -> InboundMessage | Skip:
    """An edit or a revocation; every other word of the protocol is for programs."""
    about = MessageId(protocol.key.ID)
    kind = protocol.type if protocol.HasField("type") else None
    if kind == _REVOKE and about:
        by_admin = envelope.is_group and edit == _REVOKED_BY_ADMIN
        change = Change(kind=ChangeKind.REVOCATION, message_id=about, by_admin=by_admin)
        return _message(envelope, Content(text="", is_context_only=True), me, change=change)
    if kind == _EDIT and about:
        content = content_of(unwrap(protocol.editedMessage))
        if content is not None:
            return _message(envelope, content, me, change=Change(kind=ChangeKind.EDIT, message_id=about))
    return Skip(reason=SkipReason.PROTOCOL, chat=envelope.chat)


def _message(
    envelope: _Envelope,
    content: Content,
    me: Me,
    *,
    message_id: MessageId | None = None,
    change: Change | None = None,
) -> InboundMessage:
    context, text = _context_info(content), content.text[:_MOST_CHARS]
    return InboundMessage(
        chat_jid=envelope.chat,
        message_id=message_id or envelope.message_id,
        sender_jid=envelope.sender,
        sender_name=envelope.name,
        text=text,
        sent_at=envelope.sent_at,
        is_from_me=envelope.is_from_me,
        sender_is_bot=server_of(envelope.sender) == BOT_SERVER,
        chat_is_group=envelope.is_group,
        quoted=_quoted(context, content.about, me),
        files=() if content.file is None else (content.file.described,),
        mentions=_mentions(context, text, me),
        change=change,
        is_context_only=content.is_context_only,
    )


def _context_info(content: Content) -> Any | None:
    """The part of a message that tells of quotes and mentions."""
    if content.context is None or not content.context.HasField("contextInfo"):
        return None
    return content.context.contextInfo


def _quoted(context: Any | None, about: str, me: Me) -> Quoted | None:
    """What the message answers. Its sender's name is an id here; whoever knows names puts one there."""
    if context is None or not context.stanzaID:
        return Quoted(message_id=MessageId(about), sender_name="", text="") if about else None
    sender = jid_from_text(context.participant)
    content = content_of(unwrap(context.quotedMessage))
    return Quoted(
        message_id=MessageId(context.stanzaID),
        sender_name=sender or "",
        text="" if content is None else content.text[:_MOST_CHARS],
        # Where a person writes from our account as well, only the outbox knows which texts are ours.
        is_ours=sender in me.ids and not me.has_owner,
    )


def _mentions(context: Any | None, text: str, me: Me) -> tuple[Mention, ...]:
    """Whom the text calls; clients write the number of the id behind an `@`."""
    if context is None:
        return ()
    named = context.mentionedJID[:_MAX_MENTIONS]
    found = dict.fromkeys(jid for each in named if (jid := jid_from_text(each)) is not None)
    tokens = [(f"@{user_of(jid)}", jid) for jid in found]
    return tuple(Mention(token=token, jid=jid, is_us=jid in me.ids) for token, jid in tokens if token in text)
