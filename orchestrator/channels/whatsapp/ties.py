"""What a message is to others, as its wrappers say: the same once more, beside another one, to be seen once.

The wrappers are looked at as they came too (`Raw`), since the library takes some of them off.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from orchestrator.channels.whatsapp.content_words import Content
from orchestrator.channels.whatsapp.unwrapping import layers
from orchestrator.contracts.ids import MessageId

ALBUM: Final = frozenset({1})
_AGAIN: Final = frozenset({5, 10, 12, 19})
"""A film and a photo in better quality, what moved around a photo, a film in another coding."""
_BESIDE: Final = frozenset({3, 7})
"""The picture of an event, and of an answer to a poll."""
_ONCE: Final = ("viewOnceMessage", "viewOnceMessageV2", "viewOnceMessageV2Extension")
_ONCE_FLAGS: Final = ("IsViewOnce", "IsViewOnceV2", "IsViewOnceV2Extension")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ties:
    """again: the message that it repeats. beside: the one whose picture it is. comment_on: what it speaks
    to. is_once: its sender lets it be seen or heard once.
    """

    again: MessageId | None = None
    beside: MessageId | None = None
    comment_on: MessageId | None = None
    is_once: bool = False


def ties_of(event: Any) -> Ties:
    """What a `neonize` message event says of others."""
    outer = _layers(event)
    commented = (each.commentMessage.targetMessageKey.ID for each in outer)
    has_flag = any(event.HasField(name) and getattr(event, name) for name in _ONCE_FLAGS)
    return Ties(
        again=parent_in(outer, _AGAIN),
        beside=parent_in(outer, _BESIDE),
        comment_on=next((MessageId(each) for each in commented if each), None),
        is_once=has_flag or any(each.HasField(name) for each in outer for name in _ONCE),
    )


def parent_of(event: Any, kinds: frozenset[int]) -> MessageId | None:
    """The message that an event belongs to by one of these kinds of association; None if to none."""
    return parent_in(_layers(event), kinds)


def parent_in(messages: Iterable[Any], kinds: frozenset[int]) -> MessageId | None:
    """The same of the wrappers of an event."""
    for each in messages:
        belongs = each.messageContextInfo.messageAssociation
        if belongs.associationType in kinds and belongs.parentMessageKey.ID:
            return MessageId(belongs.parentMessageKey.ID)
    return None


def tied(content: Content, ties: Ties) -> Content:
    """The content with what its wrappers say of it."""
    if ties.beside is not None:
        return replace(content, about=ties.beside, is_context_only=True)
    if ties.comment_on is not None:
        content = replace(content, about=content.about or ties.comment_on)
    return _seen_once(content) if _is_seen_once(content, ties) else content


def _is_seen_once(content: Content, ties: Ties) -> bool:
    """Only what is a picture, film or sound by itself: businesses wrap their buttons in the same way."""
    file = content.file
    if file is None or file.part is not content.context:
        return False
    has_mark = "viewOnce" in file.part.DESCRIPTOR.fields_by_name
    return has_mark and (ties.is_once or file.part.viewOnce)


def _seen_once(content: Content) -> Content:
    """Behind what its sender wrote, which may begin with the assistant's name."""
    file = content.file
    assert file is not None
    mark = "view once" if file.is_fetchable else "view once: only the phone can show it"
    text = content.text
    if text == file.caption:
        return replace(content, text=f"{text}\n[{mark.capitalize()}]")
    return replace(content, text=f"{text.removesuffix(']')}, {mark}]")


def _layers(event: Any) -> list[Any]:
    found = layers(event.Message) if event.HasField("Message") else []
    return found + (layers(event.Raw) if event.HasField("Raw") else [])
