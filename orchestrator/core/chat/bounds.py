"""How often people and bots may set the assistant off. Source: contracts.md section 6."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import SenderRole

WINDOW: Final = timedelta(hours=1)
"""What the bounds count in, and how long it is silent once one was met."""


BOUND_INCIDENTS: Final = "bound:"
"""How the names of incidents begin that are a bound which was met."""


class Bound(StrEnum):
    """What can be met."""

    SENDER = "sender"
    CHAT = "chat"
    BOTS = "bots"


SETTINGS: Final[Mapping[Bound, str]] = {
    Bound.SENDER: "bounds.triggers_per_sender",
    Bound.CHAT: "bounds.turns_per_chat",
    Bound.BOTS: "bounds.bot_turns_in_a_row",
}
"""Where each is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundLimits:
    """How much is let through within the window; 0 is no bound."""

    triggers_of_sender: int
    turns_of_chat: int
    bot_turns_in_a_row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What was let through within the window. met: bounds that were met and whose silence lasts.

    bot_turns_in_a_row: the chat's newest turns, back to the first that a person set off.
    """

    triggers_of_sender: int
    turns_of_chat: int
    bot_turns_in_a_row: int
    met: Collection[Bound] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetBound:
    """One that was met in a chat and is silent until then. sender: whose it is; None: all the chat's."""

    bound: Bound
    chat: Jid
    sender: Jid | None
    until: datetime

    @property
    def setting(self) -> str:
        """Where it is set."""
        return SETTINGS[self.bound]


def bound_met(role: SenderRole, tally: Tally, limits: BoundLimits) -> Bound | None:
    """The bound that keeps a trigger of such a sender from being one; None if it may be. Not asked of main.

    A bound that was met stays so until its silence is over, whatever else has left the window since.
    """
    if role is SenderRole.OPERATOR:
        return None
    counts = [
        (Bound.SENDER, tally.triggers_of_sender, limits.triggers_of_sender),
        (Bound.CHAT, tally.turns_of_chat, limits.turns_of_chat),
    ]
    if role is SenderRole.BOT:
        counts.append((Bound.BOTS, tally.bot_turns_in_a_row, limits.bot_turns_in_a_row))
    for bound, count, limit in counts:
        if limit and (count >= limit or bound in tally.met):
            return bound
    return None


def is_silent(met_at: datetime, now: datetime) -> bool:
    """Whether the silence after a bound was met still lasts; one from the future is of a clock set back."""
    return met_at <= now < met_at + WINDOW


def bound_incident(bound: Bound, chat: Jid, sender: Jid) -> str:
    """What it is noted as. A sender's bound counts in all chats, but each chat is told of it once."""
    return f"{BOUND_INCIDENTS}{bound}:{f'{chat}:{sender}' if bound is Bound.SENDER else chat}"


def met_bound(incident: str, met_at: datetime, *, chats: Iterable[Jid]) -> MetBound | None:
    """What the name of an incident says; None if it is no bound's of one of these chats."""
    for bound in Bound:
        head = f"{BOUND_INCIDENTS}{bound}:"
        for chat in chats if incident.startswith(head) else ():
            whose = incident.removeprefix(head)
            sender = whose.removeprefix(f"{chat}:") if bound is Bound.SENDER else None
            if whose == chat or (sender is not None and sender != whose):
                return MetBound(
                    bound=bound,
                    chat=chat,
                    sender=None if sender is None else Jid(sender),
                    until=met_at + WINDOW,
                )
    return None


def highest_role(roles: Iterable[SenderRole]) -> SenderRole | None:
    """On whose account a turn goes that several set off; None if nobody did."""
    return max(roles, key=(SenderRole.BOT, SenderRole.MEMBER, SenderRole.OPERATOR).index, default=None)
