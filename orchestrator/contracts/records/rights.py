"""Whose wish something is. Rights only fall and travel. Source: contracts.md section 4."""

from enum import StrEnum

from orchestrator.contracts.records.messages import SenderRole


class Rights(StrEnum):
    """The least of all whose words a run was given; what it makes keeps them."""

    OPERATOR = "operator"
    MEMBER = "member"
    BOT = "bot"


_ORDER = (Rights.BOT, Rights.MEMBER, Rights.OPERATOR)


def rights_of(role: SenderRole) -> Rights:
    """What a sender of this role may cause."""
    return Rights(role.value)


def least(first: Rights, *others: Rights) -> Rights:
    """The least of these rights."""
    return min((first, *others), key=_ORDER.index)
