"""One person under two ids: a hidden one and one with a number. Source: docs/agents.md section 6.

Ids are never rewritten: what came from a network goes back to it as it came. Only comparisons know better.
"""

from collections.abc import Collection

from orchestrator.contracts.ids import Jid


def chat_of(given: Jid, other: Jid | None, *, registered: Collection[Jid], seen: Collection[Jid] = ()) -> Jid:
    """The id under which a direct chat is kept: the registered one, else the one seen first.

    Two that are both registered, which happens before they are known to be one person, stay two.
    """
    if other is None or given in registered:
        return given
    if other in registered:
        return other
    return other if other in seen and given not in seen else given


def person_key(ids: frozenset[Jid]) -> Jid:
    """One id that stands for the person, the same whichever of them came."""
    return min(ids)
