"""Words of the chat in a terminal: what it does itself, and what it says of itself."""

import re
from enum import Enum, auto
from typing import Final

from orchestrator.api.chat_watch import ChatStart
from orchestrator.cli.addressing import how_to_address
from orchestrator.core.chat.slash_words import SLASH_WORDS

_WORD: Final = re.compile(r"/[A-Za-z]+")
_LEAVING: Final = "/help shows this; /quit, /exit or Ctrl-D leaves."
_OF_OPERATORS: Final = (
    "/status shows how things stand; /tasks lists what is planned.\n"
    "/new begins a new conversation.\n"
    "/stop stops what the assistant does; /retry runs again what went wrong.\n"
    "/answer answers what the assistant asks; /yes and /no decide what it proposes, "
    "in the main chat."
)
_OF_OTHERS: Final = (
    "/stop stops what you asked the assistant to do; /retry runs again what went wrong for you.\n"
    "/answer answers what the assistant asks you.\n"
    "/status, /tasks and /new are for operators. To be one in this chat, have this under [assistant] in "
    "dovecote.toml, and start Dovecote anew:\n"
    'operators = ["console:operator"]'
)


class Word(Enum):
    """What a line is to the chat."""

    MESSAGE = auto()
    LEAVE = auto()
    HELP = auto()
    UNKNOWN = auto()


def word_of(line: str) -> Word:
    """What to do with a line. A path such as /etc/hosts is a message."""
    first = (line.split() or [""])[0]
    if line.strip().lower() in ("/quit", "/exit"):
        return Word.LEAVE
    if first.lower() == "/help":
        return Word.HELP
    if _WORD.fullmatch(first) and first.lower().removeprefix("/") not in SLASH_WORDS:
        return Word.UNKNOWN
    return Word.MESSAGE


def unknown_word(line: str) -> str:
    """The sentence for a word that nobody here knows."""
    return f"There is no {line.split()[0]}. /help shows the words there are."


def help_text(start: ChatStart) -> str:
    """What `/help` shows."""
    address = how_to_address(start)
    everything = "Everything else goes to the assistant." if address is None else address
    return f"{_LEAVING}\n{_OF_OPERATORS if start.is_operator else _OF_OTHERS}\n{everything}"
