"""One person under two ids: a hidden one and one with a number. Source: agents.md section 6.

Ids are never rewritten: what came from a network goes back to it as it came. Only comparisons know better.
"""

import hashlib
from collections.abc import Collection

from orchestrator.contracts.ids import Jid, MessageId


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


def id_beside(message_id: MessageId, sender: Jid) -> MessageId:
    """The id under which a message of `sender` is kept whose own one is that of another's message."""
    digest = hashlib.sha256(f"{sender} {message_id}".encode()).hexdigest()[:32]
    return MessageId(f"same-id:{digest}")
