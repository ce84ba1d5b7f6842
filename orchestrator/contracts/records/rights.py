"""Whose wish something is. Rights only fall and travel. Source: contracts.md section 4."""

from enum import StrEnum


class Rights(StrEnum):
    """The least of all whose words a run was given; what it makes keeps them."""

    OPERATOR = "operator"
    MEMBER = "member"
    BOT = "bot"


_ORDER = (Rights.BOT, Rights.MEMBER, Rights.OPERATOR)


def least(first: Rights, *others: Rights) -> Rights:
    """The least of these rights."""
    return min((first, *others), key=_ORDER.index)
