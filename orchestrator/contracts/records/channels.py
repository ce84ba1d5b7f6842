"""How a chat network stands."""

from dataclasses import dataclass
from enum import StrEnum


class ChannelHealth(StrEnum):
    """What operators need to know. down: it fails again and again. unlinked: only they can mend it."""

    OPEN = "open"
    TRYING = "trying"
    DOWN = "down"
    UNLINKED = "unlinked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """How the channel `name` stands. title: what people call it. why: for operators, empty if it is open."""

    name: str
    title: str
    health: ChannelHealth
    why: str = ""
