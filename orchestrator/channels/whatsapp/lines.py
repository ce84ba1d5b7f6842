"""The lines between the orchestrator and its WhatsApp child: one JSON object a line, both ways.

The child says what it heard and what came of wishes; the parent wishes and confirms. Both ends are of one
version, which the first line of the child names.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from orchestrator.contracts.ids import Jid, MessageId
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
    """

    kind: Literal["state"] = "state"
    state: LinkState
    why: str = ""
    me: tuple[Jid, ...] = ()
    retry_after_s: float = Field(0.0, ge=0, le=86_400)


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


class Heard(Said):
    """A message. spool: its row, kept until it is confirmed. same: who is who, as far as it says."""

    kind: Literal["heard"] = "heard"
    spool: str
    message: InboundMessage
    same: tuple[SamePerson, ...] = ()


class PassedOver(Said):
    """An event that is no message, and its row is gone. reason: one word, counted.

    chat: where it was, if it names one.
    """

    kind: Literal["passed_over"] = "passed_over"
    reason: str
    chat: Jid | None = None


class Quarantined(Said):
    """An event that could not be read; its row lies in `bad/` of the spool under this name."""

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
    """A group chat of this account."""

    jid: Jid
    name: str
    participants: int = 0


class GroupsAre(Said):
    """All group chats of the account. why: set if they could not be asked for."""

    kind: Literal["groups"] = "groups"
    id: int
    groups: tuple[GroupLine, ...] = ()
    why: str | None = None


class Unlinked(Said):
    """The account is logged out. why: set if the network could not be told; the phone still lists us."""

    kind: Literal["unlinked"] = "unlinked"
    why: str | None = None


class Send(Line):
    """Send this; answered by `Taken` and then `Sent` or `NotSent`."""

    kind: Literal["send"] = "send"
    id: int
    message: OutboundMessage


class Typing(Line):
    """Show or hide the typing indicator. Not answered."""

    kind: Literal["typing"] = "typing"
    chat: Jid
    is_typing: bool


class ListGroups(Line):
    """Name the group chats; answered by `GroupsAre`."""

    kind: Literal["list_groups"] = "list_groups"
    id: int


class Confirm(Line):
    """The message is stored, or will never be taken: its row may go."""

    kind: Literal["confirm"] = "confirm"
    spool: str


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
    | Quarantined
    | Taken
    | Sent
    | NotSent
    | GroupsAre
    | Unlinked
)
ParentLine = Send | Typing | ListGroups | Confirm | PairPhone | Unlink | Stop

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
