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
    """Any conversation that was seen, registered or not."""

    jid: Jid
    channel: str
    name: str | None
    is_group: bool
    last_activity_at: datetime | None = None
