"""Words to the orchestrator itself, such as `/stop`. Source: contracts.md section 6."""

import re
from dataclasses import dataclass
from typing import Final

from orchestrator.core.chat.trigger import Trigger, without_leading_blanks

SLASH_WORDS: Final = ("status", "stop", "new", "tasks", "retry", "yes", "no", "answer", "help")
"""Every word that is understood, without its slash. What each does: `commands.hearing.words`."""

_SLASH_WORD: Final = re.compile(rf"/({'|'.join(SLASH_WORDS)})(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashWord:
    """A word to the orchestrator. name: lower case, without its slash. argument: what follows, trimmed."""

    name: str
    argument: str = ""


def slash_word(text: str, trigger: Trigger | None) -> SlashWord | None:
    """The word that `text` begins with, at its start or behind the trigger; None if it is a message.

    Whether the sender may use it, and whether it fits, is the caller's to say.
    """
    word = _at_start(text)
    if word is None and trigger is not None and (rest := trigger.rest(text)) is not None:
        word = _at_start(rest)
    return word


def _at_start(text: str) -> SlashWord | None:
    match = _SLASH_WORD.fullmatch(without_leading_blanks(text).rstrip())
    return SlashWord(name=match[1].lower(), argument=match[2] or "") if match else None
