"""Ids in a text that stand for people, replaced by their names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import InboundMessage, Mention

_CALL: Final = re.compile(r"(?<![\w@.])@([0-9]{5,20})(?![\w@])")
_AT_NAME: Final = re.compile(r"@\S")


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


def people_named(text: str, people: Mapping[Jid, str]) -> tuple[Mention, ...]:
    """Whom of these people a text of ours calls by the name they use, or by its first word.

    A name that two of them share calls neither.
    """
    if _AT_NAME.search(text) is None:
        return ()
    owners: dict[str, set[Jid]] = {}
    for jid, name in people.items():
        for each in {name, name.partition(" ")[0]}:
            owners.setdefault(each, set()).add(jid)
    tokens = {f"@{name}": min(jids) for name, jids in owners.items() if name.strip() and len(jids) == 1}
    called = [token for token in tokens if token in text and _behind(token).search(text)]
    return tuple(Mention(token=token, jid=tokens[token]) for token in sorted(called))


def with_ids(text: str, mentions: Sequence[Mention]) -> str:
    """A text of ours in which everybody is called by the number of his id."""
    for mention in sorted(mentions, key=lambda each: len(each.token), reverse=True):
        number = mention.jid.partition("@")[0]
        text = _behind(mention.token).sub(f"@{number}", text)
    return text


def _behind(token: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w@.]){re.escape(token)}(?!\w)")


def _named(text: str, token: str, name: str) -> str:
    """A longer number that begins alike is somebody else."""
    return re.sub(rf"{re.escape(token)}(?![0-9])", lambda _: f"@{name}", text)
