"""What people add to something that was said: reactions, votes, comments, options. It wakes nobody."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from orchestrator.channels.whatsapp.content_words import Content, bracketed

_CANCELLED: Final = 1
_EDITS: Final = frozenset({1, 2, 4, 5})
"""Of an event, a message, a poll, and an answer that is added to one."""


def _reaction(message: Any) -> Content:
    text = bracketed("Reaction", message.text) if message.text else "[Reaction taken back]"
    return _to(message.key, text)


def _hidden_reaction(message: Any) -> Content:
    return _to(message.targetMessageKey, "[Reaction that cannot be read here]")


def _sticker_reaction(message: Any) -> Content:
    return _to(message.key, "[Reaction with a sticker]")


def _hidden_comment(message: Any) -> Content:
    return _to(message.targetMessageKey, "[Comment that cannot be read here]")


def _vote(message: Any) -> Content:
    return _to(message.pollCreationMessageKey, "[Voted in a poll]")


def _option(message: Any) -> Content:
    return _to(message.pollCreationMessageKey, bracketed("Added to a poll", message.addOption.optionName))


def _event_answer(message: Any) -> Content:
    return _to(message.eventCreationMessageKey, "[Answered an event]")


def _call_change(message: Any) -> Content:
    is_off = message.editType == _CANCELLED
    return _to(message.key, "[Planned call, cancelled]" if is_off else "[Planned call, changed]")


def _hidden_change(message: Any) -> Content | None:
    key = message.targetMessageKey
    if message.secretEncType not in _EDITS or not key.ID:
        return None
    return _to(key, "[Changed the quoted message; what it says now cannot be read here]")


def _to(key: Any, text: str) -> Content:
    return Content(text=text, is_context_only=True, about=key.ID)


ADDITIONS: Final[Mapping[str, Callable[[Any], Content | None]]] = MappingProxyType(
    {
        "pollUpdateMessage": _vote,
        "reactionMessage": _reaction,
        "encReactionMessage": _hidden_reaction,
        "statusStickerInteractionMessage": _sticker_reaction,
        "encCommentMessage": _hidden_comment,
        "pollAddOptionMessage": _option,
        "encEventResponseMessage": _event_answer,
        "scheduledCallEditMessage": _call_change,
        "secretEncryptedMessage": _hidden_change,
    }
)
"""Readers by the field of the message."""
