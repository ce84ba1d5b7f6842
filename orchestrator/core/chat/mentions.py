"""Ids in a text that stand for people, replaced by their names."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import InboundMessage

_CALL: Final = re.compile(r"(?<![\w@.])@([0-9]{5,20})(?![\w@])")


def with_our_name(message: InboundMessage, name: str) -> InboundMessage:
    """The message in which the assistant's own account is called by `name`: it may be the trigger."""
    text = message.text
    for mention in message.mentions:
        if mention.is_us:
            text = _named(text, mention.token, name)
    return replace(message, text=text)


def with_names(message: InboundMessage, names: Mapping[Jid, str]) -> InboundMessage:
    """The message in which everybody else is called by a name, if it is known.

    Done after the trigger was looked for: people choose their names, and could choose the assistant's.
    """
    text = message.text
    for mention in message.mentions:
        if not mention.is_us and (name := names.get(mention.jid)):
            text = _named(text, mention.token, name)
    return replace(message, text=text)


def numbers_called(text: str) -> list[str]:
    """The numbers behind an `@` in a text of ours: whoever has one is told that he is called."""
    return list(dict.fromkeys(_CALL.findall(text)))


def _named(text: str, token: str, name: str) -> str:
    """A longer number that begins alike is somebody else."""
    return re.sub(rf"{re.escape(token)}(?![0-9])", lambda _: f"@{name}", text)
