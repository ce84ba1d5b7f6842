"""Who counts as whom, and whose message counts as what. Source: contracts.md section 6."""

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import assert_never

from orchestrator.contracts.records.messages import SenderRole
from orchestrator.contracts.records.senders import SenderMode, SenderRules


class Hearing(StrEnum):
    """What a message of a sender may be: anything, context of others' only, or nothing at all."""

    FULL = "full"
    CONTEXT_ONLY = "context only"
    NONE = "none"


def is_same_person(ids: Collection[str], other: str) -> bool:
    """Whether the person who has `ids` is `other`. The one place where ids of people are compared."""
    return other in ids


def are_two_people(one: Collection[str], other: Collection[str]) -> bool:
    """Whether these are the ids of two people for certain.

    A hidden id and one with a number may be one person whom nobody has named yet; two ids of one kind
    are not.
    """
    if any(is_same_person(one, each) for each in other):
        return False
    kinds = {each.partition("@")[2] for each in one}
    return any(each.partition("@")[2] in kinds for each in other)


def is_one_of(ids: Collection[str], people: Iterable[str]) -> bool:
    """Whether the person who has `ids` is among `people`, who may be named by any of their ids."""
    return any(is_same_person(ids, each) for each in people)


def hearing_of(rules: SenderRules | None, sender: Collection[str], role: SenderRole) -> Hearing:
    """What the group's rules make of a message of `sender`; it is asked before any trigger is.

    sender: all ids of the person. An operator is always heard. rules: None when no rules could be read;
    then nobody else triggers, and nothing is dropped.
    """
    if role is SenderRole.OPERATOR:
        return Hearing.FULL
    if rules is None:
        return Hearing.CONTEXT_ONLY
    if rules.mode is SenderMode.ANYONE or is_one_of(sender, rules.senders):
        return Hearing.FULL
    match rules.mode:
        case SenderMode.ALLOWLIST:
            return Hearing.CONTEXT_ONLY
        case SenderMode.DROP:
            return Hearing.NONE
        case _:
            assert_never(rules.mode)
