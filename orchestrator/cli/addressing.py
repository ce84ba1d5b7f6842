"""How the assistant of a chat is called, in words for the person at the terminal."""

from collections.abc import Sequence
from typing import Final

from orchestrator.api.chat_watch import BoundNow, ChatStart
from orchestrator.contracts.records.groups import TriggerPosition
from orchestrator.core.chat.slash_words import slash_word
from orchestrator.core.chat.trigger import compile_trigger, is_plain_word


def is_addressed(start: ChatStart, text: str) -> bool:
    """Whether `text` is for the assistant, or a word to Dovecote itself."""
    trigger = compile_trigger(
        start.trigger, assistant_name=start.assistant_name, position=start.trigger_position
    )
    return not start.requires_trigger or trigger.matches(text) or slash_word(text, trigger) is not None


def how_to_address(start: ChatStart) -> str | None:
    """A sentence that names the trigger; None where every message is for the assistant."""
    if not start.requires_trigger:
        return None
    if not is_plain_word(start.trigger, assistant_name=start.assistant_name):
        return f"The assistant answers messages that match {start.trigger}"
    if start.trigger_position is TriggerPosition.ANYWHERE:
        return f"Put {start.trigger} into a message for the assistant."
    return f"Begin a message for the assistant with {start.trigger}"


_NOT_HEARD: Final = (
    "Who writes here may not set the assistant off: console:operator is not among the senders of this "
    "group's senders.toml. Add it there, or to assistant.operators of dovecote.toml."
)


def why_not_heard(start: ChatStart) -> str:
    """Why who writes here may not set the assistant off, and what mends it."""
    if start.rules_trouble is None:
        return _NOT_HEARD
    return (
        f"Who writes here may not set the assistant off until senders.toml is mended. {start.rules_trouble} "
        "Or name console:operator in assistant.operators of dovecote.toml."
    )


def why_unanswered(bounds: Sequence[BoundNow]) -> str | None:
    """Why what is written now is read but not answered, and until when; None if no bound is met."""
    if not bounds:
        return None
    last = max(bounds, key=lambda each: each.until)
    until = last.until.astimezone()
    return f"The bound {last.setting} is met: nothing here is answered until {until:%H:%M %Z}."


HOW_TO_BE_FREE: Final = (
    "Set it higher, or to 0 for none; or name console:operator in assistant.operators of dovecote.toml."
)


def what_to_do(start: ChatStart) -> str:
    """As part of a sentence about several lines."""
    if not is_plain_word(start.trigger, assistant_name=start.assistant_name):
        return f"they must match {start.trigger}"
    if start.trigger_position is TriggerPosition.ANYWHERE:
        return f"put {start.trigger} into them"
    return f"begin them with {start.trigger}"
