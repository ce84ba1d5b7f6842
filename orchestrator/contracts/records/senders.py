"""Who may set the assistant off in a group. Source: contracts.md section 6."""

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.contracts.ids import Jid


class SenderMode(StrEnum):
    """What a group makes of people who are not on its list."""

    ANYONE = "anyone"
    ALLOWLIST = "allowlist"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderRules:
    """What `senders.toml` of a group says. senders: the ids on its list; it may be empty."""

    mode: SenderMode = SenderMode.ANYONE
    senders: tuple[Jid, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderLook:
    """The rules that hold for a group now. rules: None when none could be read: only operators count.

    trouble: what is wrong with the file, for the operator; None when it is in order.
    """

    rules: SenderRules | None
    trouble: str | None = None
