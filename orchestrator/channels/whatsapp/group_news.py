"""What happens to a group, told as messages that wake nobody: who came, who left, what it is called now."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from orchestrator.channels.whatsapp.content_words import instant_of
from orchestrator.channels.whatsapp.jids import jid_of, user_of
from orchestrator.channels.whatsapp.mending import mended
from orchestrator.channels.whatsapp.translate import Me, Skip, SkipReason
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.messages import InboundMessage, Mention


def group_news(event: Any, me: Me) -> InboundMessage | Skip:
    """What a `GroupInfo` event of `neonize` says; a skip if it is nothing that people see.

    Its id is made of what it says, so that it is the same when it is met again.
    """
    event = mended(event)
    chat, sender = jid_of(event.JID), jid_of(event.Sender)
    sent_at = instant_of(event.Timestamp * 1000)
    if chat is None:
        return Skip(reason=SkipReason.NO_IDS)
    if sent_at is None:
        return Skip(reason=SkipReason.NO_TIME, chat=chat)
    if me.not_before is not None and sent_at < me.not_before:
        return Skip(reason=SkipReason.BEFORE_LINK, chat=chat)
    text = "\n".join(f"[{line}]" for line in _news(event, sender))
    if not text:
        return Skip(reason=SkipReason.PROTOCOL, chat=chat)
    digest = hashlib.sha256(f"{sender} {text}".encode()).hexdigest()[:16]
    return InboundMessage(
        chat_jid=chat,
        message_id=MessageId(f"group:{event.Timestamp}:{digest}"),
        sender_jid=sender or chat,
        sender_name=user_of(sender or chat),
        text=text,
        sent_at=sent_at,
        is_from_me=sender in me.ids,
        chat_name=event.Name.Name if event.HasField("Name") and event.Name.Name else None,
        chat_is_group=True,
        mentions=_mentions(event, sender, me),
        is_context_only=True,
    )


def _news(event: Any, sender: Jid | None) -> Iterable[str]:
    joined, left = _people(event.Join), _people(event.Leave)
    if joined:
        yield _told(sender, joined, own="joined", others="added")
    if left:
        yield _told(sender, left, own="left", others="removed")
    if promoted := _people(event.Promote):
        yield f"Made an admin: {_named(promoted)}"
    if demoted := _people(event.Demote):
        yield f"No longer an admin: {_named(demoted)}"
    if event.HasField("Name") and event.Name.Name:
        yield f"The group is called {event.Name.Name} now"
    if event.HasField("Topic") and event.Topic.Topic:
        yield f"The group is about: {event.Topic.Topic}"
    if event.HasField("Delete") and event.Delete.Deleted:
        yield "The group was deleted"


def _people(jids: Iterable[Any]) -> list[Jid]:
    return [jid for each in jids if (jid := jid_of(each)) is not None]


def _told(sender: Jid | None, people: Sequence[Jid], *, own: str, others: str) -> str:
    """By their own deed, or by somebody else's."""
    if sender is None or list(people) == [sender]:
        return f"{_named(people)} {own}"
    return f"{_named([sender])} {others} {_named(people)}"


def _named(people: Sequence[Jid]) -> str:
    return ", ".join(f"@{user_of(jid)}" for jid in people)


def _mentions(event: Any, sender: Jid | None, me: Me) -> tuple[Mention, ...]:
    """Names take the place of all ids that stand in the text."""
    named = _people([*event.Join, *event.Leave, *event.Promote, *event.Demote])
    people = dict.fromkeys(named if sender is None else [*named, sender])
    return tuple(Mention(token=f"@{user_of(jid)}", jid=jid, is_us=jid in me.ids) for jid in people)
