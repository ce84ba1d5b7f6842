"""Messages that came in and texts that go out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from orchestrator.contracts.ids import AgentId, Jid, MessageId, TurnId


class SenderRole(StrEnum):
    """What a sender is to us; a display name proves nothing."""

    OPERATOR = "operator"
    MEMBER = "member"
    BOT = "bot"


class MessageStatus(StrEnum):
    """The life of an inbound message. Source: contracts.md section 6."""

    PENDING = "pending"
    DISPATCHED = "dispatched"
    SETTLED = "settled"
    PARTIAL = "partial"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """The message that another one answers."""

    message_id: MessageId
    sender_name: str
    text: str
    is_ours: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message. path: as the container sees it; None when it could not be kept."""

    name: str
    media_type: str
    size_bytes: int
    path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedFile:
    """A file that came over a network. source: where the channel put it on this host, outside of what any
    container can write; None if the channel could not get it. is_voice: its sender spoke it."""

    name: str
    media_type: str
    size_bytes: int
    source: Path | None
    is_voice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A person whom a text calls by an id. token: how it stands in the text, such as `@4915…`.

    is_us: it is the assistant's own account.
    """

    token: str
    jid: Jid
    is_us: bool = False


class ChangeKind(StrEnum):
    """What can be done to a message that was sent before. repetition: its file once more, in another form."""

    EDIT = "edit"
    REVOCATION = "revocation"
    REPETITION = "repetition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a message does to an earlier one of its chat. by_admin: it is not of the sender's own."""

    kind: ChangeKind
    message_id: MessageId
    by_admin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """What a channel hands in. sent_at is the network's own time; it is shown, never used for order.

    files: what came with it. attachments: the same, once they lie in the group's workspace. mentions: the
    ids in `text` that stand for people; names take their place. change: set if it is no message of its
    own; `text` is what the earlier one says now. is_context_only: it never wakes the assistant.
    """

    chat_jid: Jid
    message_id: MessageId
    sender_jid: Jid
    sender_name: str
    text: str
    sent_at: datetime
    is_from_me: bool = False
    sender_is_bot: bool = False
    chat_name: str | None = None
    chat_is_group: bool = False
    quoted: Quoted | None = None
    files: tuple[ReceivedFile, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    mentions: tuple[Mention, ...] = ()
    change: Change | None = None
    is_context_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """An inbound message as a row. seq: the order of arrival, which all cursors count in.

    tries: runs in which its agent died without an effect. deaths: runs in which the orchestrator died.
    is_nudged: a turn with it ended in success and silence, so it was given once more. is_in_turn: the
    agent said that it took the message into the turn `turn_id`; before that it only lies in its box.
    revision: how often an edit replaced its text.
    """

    seq: int
    chat_jid: Jid
    message_id: MessageId
    sender_jid: Jid
    sender_name: str
    sender_role: SenderRole
    text: str
    sent_at: datetime
    status: MessageStatus
    is_trigger: bool
    tries: int = 0
    deaths: int = 0
    is_nudged: bool = False
    agent_id: AgentId | None = None
    turn_id: TurnId | None = None
    is_in_turn: bool = False
    quoted: Quoted | None = None
    attachments: tuple[Attachment, ...] = ()
    revision: int = 0

    @property
    def size_bytes(self) -> int:
        """What it weighs in a batch."""
        return len(self.text.encode()) + (len(self.quoted.text.encode()) if self.quoted else 0)


class OutboxStatus(StrEnum):
    """The life of a text that goes out. Source: contracts.md section 6."""

    QUEUED = "queued"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"


class TextSource(StrEnum):
    """Where an outbound text came from; with its key it is sent once."""

    PAIR = "pair"
    REQUEST = "request"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledFile:
    """A file on its way to a chat. spool_name: its copy in `data/spool/`."""

    name: str
    media_type: str
    size_bytes: int
    spool_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxItem:
    """One text, one part of a split one, or one file with its caption, on its way to a chat."""

    id: int
    chat_jid: Jid
    text: str
    source: TextSource
    source_key: str
    part: int
    parts: int
    status: OutboxStatus
    attempts: int
    created_at: datetime
    agent_id: AgentId | None = None
    turn_id: TurnId | None = None
    reply_to: MessageId | None = None
    channel_message_id: MessageId | None = None
    sent_at: datetime | None = None
    was_resent: bool = False
    error: str | None = None
    file: SpooledFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundFile:
    """A file for a channel to send. path: a copy on this host that stays as it is until `send` returns."""

    name: str
    media_type: str
    size_bytes: int
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """What a channel is given to send. outbox_id: the same on every attempt, for channels that can use it.

    file: goes with the text as its caption, which may be empty then. reply_to: the message it quotes; a
    network that does not know it sends without. reply_to_sender, reply_to_text: who wrote that and what, if
    it is known. mentions: whom the text calls, by name or by the number of an id; a network that knows
    people by numbers puts those in the place of names.
    """

    chat_jid: Jid
    text: str
    outbox_id: int
    reply_to: MessageId | None = None
    reply_to_sender: Jid | None = None
    reply_to_text: str = ""
    mentions: tuple[Mention, ...] = ()
    file: OutboundFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The network took the text; message_id is its own id of it."""

    message_id: MessageId
    sent_at: datetime | None = None
    extra: Mapping[str, str] | None = None
