"""What is known of a group, and what happens to it: who came, who left, what it is called now."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from orchestrator.channels.whatsapp.content_words import instant_of
from orchestrator.channels.whatsapp.jids import jid_of, lid_and_phone, user_of
from orchestrator.channels.whatsapp.lines import GroupLine, SamePerson
from orchestrator.channels.whatsapp.mending import mended
from orchestrator.channels.whatsapp.translate import Me, Skip, SkipReason, same_participants
from orchestrator.contracts.ids import Jid, MessageId
from orchestrator.contracts.records.groups import GroupChange
from orchestrator.contracts.records.messages import InboundMessage, Mention

_MOST_CHARS: Final = 10_000


def group_line(group: Any) -> GroupLine | None:
    """What a `GroupInfo` of `neonize` says of a group; None if it has no id."""
    group = mended(group)
    jid = jid_of(group.JID)
    if jid is None:
        return None
    return GroupLine(
        jid=jid,
        name=group.GroupName.Name[:_MOST_CHARS],
        members=tuple(dict.fromkeys(_people(each.JID for each in group.Participants))),
        same=_same(same_participants(group)),
    )


def joined_group(event: Any) -> tuple[GroupChange, tuple[SamePerson, ...]] | Skip:
    """What a `JoinedGroup` event says: the group that we are in from now on, and who is who in it.

    It has no time of its own, so that it is no message either.
    """
    event = mended(event)
    group = group_line(event.GroupInfo)
    if group is None:
        return Skip(reason=SkipReason.NO_IDS)
    sender = lid_and_phone(jid_of(event.Sender), jid_of(event.SenderPN))
    change = GroupChange(chat_jid=group.jid, name=group.name or None, joined=group.members, has_us=True)
    return change, (*group.same, *_same(() if sender is None else (sender,)))


def group_change(event: Any, me: Me) -> GroupChange | None:
    """What a `GroupInfoEvent` says of who is in the group; None if it has no id."""
    event = mended(event)
    chat = jid_of(event.JID)
    if chat is None:
        return None
    joined, left = _people(event.Join), _people(event.Leave)
    has_us = True if me.ids.intersection(joined) else None
    if me.ids.intersection(left) or (event.HasField("Delete") and event.Delete.Deleted):
        has_us = False
    name = event.Name.Name[:_MOST_CHARS] if event.HasField("Name") else ""
    return GroupChange(
        chat_jid=chat, name=name or None, joined=tuple(joined), left=tuple(left), has_us=has_us
    )


def group_news(event: Any, me: Me) -> InboundMessage | Skip:
    """What a `GroupInfoEvent` of `neonize` says, as a message that wakes nobody; a skip if that is nothing.

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
        chat_name=event.Name.Name[:_MOST_CHARS] or None if event.HasField("Name") else None,
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
        yield f"The group is called {_on_one_line(event.Name.Name)} now"
    if event.HasField("Topic") and event.Topic.Topic:
        yield f"The group is about: {_on_one_line(event.Topic.Topic)}"
    if event.HasField("Delete") and event.Delete.Deleted:
        yield "The group was deleted"


def _on_one_line(text: str) -> str:
    """What somebody wrote, so that nothing of it stands where a sentence of ours would."""
    return " ".join(text[:_MOST_CHARS].split())


def _same(pairs: Iterable[tuple[Jid, Jid]]) -> tuple[SamePerson, ...]:
    return tuple(SamePerson(lid=lid, phone=phone) for lid, phone in pairs)


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
