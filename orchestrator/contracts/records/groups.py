"""Chats that are registered."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from orchestrator.contracts.ids import GroupFolder, Jid


class TriggerPosition(StrEnum):
    """Where in a message the trigger counts."""

    START = "start"
    ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A registered chat with its own trigger and settings.

    trigger: a plain word such as `@Andy`, or a regular expression. Exactly one group is main.
    """

    folder: GroupFolder
    jid: Jid
    name: str
    trigger: str
    assistant_name: str
    requires_trigger: bool = True
    is_main: bool = False
    trigger_position: TriggerPosition = TriggerPosition.START
    reply_triggers: bool = True
    timezone: str | None = None
    locale: str = "en"
    added_at: datetime
    number: int
    """Counts the registrations; with a uid range it gives each group a uid of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """Any conversation that was seen, registered or not. members: who is in it, by an id of theirs; None:
    its network did not say."""

    jid: Jid
    channel: str
    name: str | None
    is_group: bool
    last_activity_at: datetime | None = None
    members: tuple[Jid, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """What happened to a group chat. joined, left: who came and who went, by an id of theirs.

    name: what it is called now, if that was said. has_us: whether we are in it from now on; None: nothing
    was said of that.
    """

    chat_jid: Jid
    name: str | None = None
    joined: tuple[Jid, ...] = ()
    left: tuple[Jid, ...] = ()
    has_us: bool | None = None
