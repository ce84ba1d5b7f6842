"""The lines between the orchestrator and its WhatsApp child: one JSON object a line, both ways.

The child says what it heard and what came of wishes; the parent wishes and confirms. Both ends are of one
version, which the first line of the child names.
"""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.groups import GroupChange
from orchestrator.contracts.records.messages import InboundMessage, OutboundMessage

VERSION: Final = 1
MAX_LINE_BYTES: Final = 4 * 1024**2
MAX_UNCONFIRMED: Final = 64
"""So many messages a child has under way; the others wait in its spool."""


class LineError(ValueError):
    """A line that is not of the schema."""


class LinkState(StrEnum):
    """How the account stands. failed: not connected, and tried again."""

    CONNECTING = "connecting"
    OPEN = "open"
    AUTH_REQUIRED = "auth_required"
    FAILED = "failed"


class Fate(StrEnum):
    """What came of a text that was not acknowledged."""

    REFUSED = "refused"
    UNAVAILABLE = "unavailable"
    UNKNOWN = "unknown"


class Line(BaseModel):
    """Base of all lines."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="ignore", ser_json_inf_nan="null")


class Said(Line):
    """Base of what a child says. generation: which child; what an earlier one said late is not heard."""

    generation: int


class Hello(Said):
    """The first line. library: the version of neonize."""

    kind: Literal["hello"] = "hello"
    version: int
    library: str


class Beat(Said):
    """The child's loop turns."""

    kind: Literal["beat"] = "beat"


class StateIs(Said):
    """The account's state is another one. why: for operators, empty if all is well. me: our own ids.

    After auth_required and failed the child exits. retry_after_s: there is no use in trying earlier.
    is_holding: messages lie in its memory and nowhere else, so that it is not to be ended.
    """

    kind: Literal["state"] = "state"
    state: LinkState
    why: str = ""
    me: tuple[Jid, ...] = ()
    retry_after_s: float = Field(0.0, ge=0, le=86_400)
    is_holding: bool = False


class QrCode(Said):
    """What a phone is to scan; each is good for about 20 seconds."""

    kind: Literal["qr"] = "qr"
    code: str


class PairingCode(Said):
    """What is to be typed on the phone."""

    kind: Literal["pairing_code"] = "pairing_code"
    code: str


class SamePerson(Line):
    """Two ids of one contact, as an event gave them. lid: the hidden one. phone: with the number."""

    lid: Jid
    phone: Jid


class Album(Line):
    """Files that were sent together. expected: how many, said by the message that opens the album.

    has_words: the file has a caption.
    """

    id: MessageId
    expected: int = 0
    has_words: bool = False


class Heard(Said):
    """A message, or news of a group that are none. spool: its row, kept until it is confirmed.

    same: who is who, as far as it says. group: what it tells of its group, if it does. album: which it
    belongs to, if it does.
    """

    kind: Literal["heard"] = "heard"
    spool: str
    message: InboundMessage | None = None
    same: tuple[SamePerson, ...] = ()
    group: GroupChange | None = None
    album: Album | None = None

    @property
    def chat(self) -> str:
        """Where it was; empty if it is about nothing."""
        if self.message is not None:
            return self.message.chat_jid
        return "" if self.group is None else self.group.chat_jid


class PassedOver(Said):
    """An event that is no message, and its row is gone. reason: one word, counted.

    chat: where it was, if it names one.
    """

    kind: Literal["passed_over"] = "passed_over"
    reason: str
    chat: Jid | None = None


class Fetched(Said):
    """What came of a file. path: where it lies, until its message's row is confirmed; None: it is not here.

    why: for operators. is_final: it will not be here either when it is asked for again.
    """

    kind: Literal["fetched"] = "fetched"
    spool: str
    path: Path | None = None
    why: str = ""
    is_final: bool = False


class Quarantined(Said):
    """An event that could not be read, or not be taken; its row lies in `bad/` of the spool under this name.

    Of a row that the disk does not give out `why` says so: it stays, and is tried again.
    """

    kind: Literal["quarantined"] = "quarantined"
    spool: str
    why: str


class Taken(Said):
    """The text is about to be handed to the library: from here on a lost answer is unknown."""

    kind: Literal["taken"] = "taken"
    id: int


class Sent(Said):
    """The network acknowledged the text."""

    kind: Literal["sent"] = "sent"
    id: int
    message_id: MessageId
    sent_at: datetime | None = None


class NotSent(Said):
    """The network did not acknowledge the text."""

    kind: Literal["not_sent"] = "not_sent"
    id: int
    fate: Fate
    why: str


class GroupLine(Line):
    """A group chat of this account. members: everybody in it, ourselves too. same: who is who among them."""

    jid: Jid
    name: str
    members: tuple[Jid, ...] = ()
    same: tuple[SamePerson, ...] = ()


class GroupIs(Said):
    """One of the group chats that were asked for: a line each, since a line has its limit."""

    kind: Literal["group"] = "group"
    id: int
    group: GroupLine


class GroupsEnd(Said):
    """All group chats of the account were said. why: set if they could not be asked for."""

    kind: Literal["groups_end"] = "groups_end"
    id: int
    why: str | None = None


class Unlinked(Said):
    """The account is logged out. why: set if the network could not be told; the phone still lists us."""

    kind: Literal["unlinked"] = "unlinked"
    why: str | None = None


class Send(Line):
    """Send this; answered by `Taken` and then `Sent` or `NotSent`, or by `NotSent` if it never came to that.

    upload_within_s: a file that is not at the network by then is given up, and the text with it.
    """

    kind: Literal["send"] = "send"
    id: int
    message: OutboundMessage
    upload_within_s: float = 60.0


class Typing(Line):
    """Show or hide the typing indicator. Not answered."""

    kind: Literal["typing"] = "typing"
    chat: Jid
    is_typing: bool


class ListGroups(Line):
    """Name the group chats; answered by a `GroupIs` each and then `GroupsEnd`."""

    kind: Literal["list_groups"] = "list_groups"
    id: int


class Confirm(Line):
    """The message is stored, or will never be taken: its row may go."""

    kind: Literal["confirm"] = "confirm"
    spool: str


class Keep(Line):
    """The message is stored, but its file is still to come: its row stays, and counts no more."""

    kind: Literal["keep"] = "keep"
    spool: str


class SetAside(Line):
    """A fault of ours keeps us from taking the message: its row goes to `bad/`. Answered by `Quarantined`."""

    kind: Literal["set_aside"] = "set_aside"
    spool: str
    why: str


class Fetch(Line):
    """Get the file of this row's message, within this time; answered by `Fetched`."""

    kind: Literal["fetch"] = "fetch"
    spool: str
    max_bytes: int
    within_s: float


class MarkRead(Line):
    """Show the sender that his message was read. Not answered."""

    kind: Literal["mark_read"] = "mark_read"
    chat: Jid
    sender: Jid
    message_id: MessageId


class PairPhone(Line):
    """Ask for a code to be typed on the phone with this number; answered by `PairingCode`."""

    kind: Literal["pair_phone"] = "pair_phone"
    phone: str


class Unlink(Line):
    """Log out; answered by `Unlinked`."""

    kind: Literal["unlink"] = "unlink"


class Stop(Line):
    """Disconnect and exit."""

    kind: Literal["stop"] = "stop"


ChildLine = (
    Hello
    | Beat
    | StateIs
    | QrCode
    | PairingCode
    | Heard
    | PassedOver
    | Fetched
    | Quarantined
    | Taken
    | Sent
    | NotSent
    | GroupIs
    | GroupsEnd
    | Unlinked
)
ParentLine = (
    Send | Typing | ListGroups | Confirm | Keep | SetAside | Fetch | MarkRead | PairPhone | Unlink | Stop
)

_CHILD: Final[TypeAdapter[ChildLine]] = TypeAdapter(Annotated[ChildLine, Field(discriminator="kind")])
_PARENT: Final[TypeAdapter[ParentLine]] = TypeAdapter(Annotated[ParentLine, Field(discriminator="kind")])
_L = TypeVar("_L")


def encode(line: Line) -> bytes:
    """The line with its end. Raises LineError if it is longer than any reader takes."""
    try:
        raw = line.model_dump_json().encode() + b"\n"
    # Halves of surrogate pairs, which protobuf texts can hold, have no bytes.
    except ValueError as error:
        raise LineError(f"{type(line).__name__} cannot be written: {error}") from None
    if len(raw) > MAX_LINE_BYTES:
        name = type(line).__name__
        raise LineError(f"{name} has {len(raw):,} bytes; a line has at most {MAX_LINE_BYTES:,}.")
    return raw


def child_line(raw: bytes) -> ChildLine:
    """What the child said. Raises LineError."""
    return _read(_CHILD, raw)


def parent_line(raw: bytes) -> ParentLine:
    """What the parent wishes. Raises LineError."""
    return _read(_PARENT, raw)


def _read(adapter: TypeAdapter[_L], raw: bytes) -> _L:
    try:
        return adapter.validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(each) for each in first["loc"])
        raise LineError(f"{first['msg']} ({where or 'line'})") from None
