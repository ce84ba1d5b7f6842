"""To whom a message speaks: which of a batch want an answer, and what is left without the address."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from container.messages import Message, is_from_person


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """How the assistant is called in this chat.

    word: the group's trigger if it is a plain word; None if it is an expression, or not known.
    is_anywhere: the word also counts in the middle of a text, so there it is no part of what is asked.
    """

    name: str
    word: str | None = None
    is_anywhere: bool = False


# The host passes over the same signs where it looks for the trigger.
_INVISIBLE: Final = (
    r"\u00ad\u034f\u061c\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"  # in a set of signs
)
_BLANKS: Final = re.compile(rf"[\s{_INVISIBLE}]*")
_SEPARATORS: Final = re.compile(rf"[\s,:{_INVISIBLE}]*")
_END_MARKS: Final = re.compile(rf"[\s.!?,:;{_INVISIBLE}]*")
_MENTION: Final = re.compile(r"@[^\s,:;.!?]+")
_BEFORE_SEPARATORS: Final = " \t\r\n,"


def to_answer(messages: Sequence[Message], address: Address, *, all_count: bool) -> list[Message]:
    """The messages of a batch that want an answer: exactly those that triggered.

    Where the host does not tell: all of them if every message counts, else those that begin with an address.
    """
    persons = [message for message in messages if is_from_person(message)]
    if any(message.is_trigger is not None for message in persons):
        return [message for message in persons if message.is_trigger]
    if all_count:
        return persons
    return [message for message in persons if behind_address(message.text, address) is not None]


def behind_address(text: str, address: Address) -> str | None:
    """The text behind the address it begins with: the trigger's word, `@Name` or `Name,`; else None.

    Case, composition and invisible characters do not matter. A name ends where no letter, mark,
    digit or underscore follows.
    """
    plain = _comparable(text)
    bare_names = [name.lstrip("@") for name in (address.word or "", address.name)]
    for word in (address.word or "", *(f"@{name}" for name in bare_names if name)):
        if (around := _around(plain, word)) is not None and not around[0]:
            return _without(_SEPARATORS, around[1])
    for name in bare_names:
        around = _around(plain, name)
        if around is not None and not around[0] and around[1].lstrip()[:1] in (",", ":"):
            return _without(_SEPARATORS, around[1])
    return None


def readings(text: str, address: Address) -> list[str]:
    """What a message for the assistant may ask, likeliest first; at least one.

    An address at the start is left out. A word in the middle is cut out, then each side is tried alone;
    where the word counts at the start only, the text as it stands goes first.
    """
    rest = behind_address(text, address)
    if rest is not None:
        return [rest]
    plain = _comparable(text)
    if address.word is None:
        # What an expression matched can't be told from here; a mention at the start is surely a call.
        mention = _MENTION.match(plain)
        return [text if mention is None else _without(_SEPARATORS, plain[mention.end() :])]
    around = _around(plain, address.word)
    if around is None:
        return [text]
    before, after = around[0].rstrip(_BEFORE_SEPARATORS), _without(_SEPARATORS, around[1])
    sides = [side for side in (after, before) if _without(_END_MARKS, side)]
    return [*([] if address.is_anywhere else [text]), f"{before} {after}", *sides]


def _around(text: str, word: str) -> tuple[str, str] | None:
    """What stands before and behind the first place where `word` stands by itself; None if there is none."""
    word = unicodedata.normalize("NFC", word.strip())
    sought = word.casefold()
    folded = text.casefold()
    # One sign can fold to several, as the German ß does.
    starts = [place for place, sign in enumerate(text) for _ in sign.casefold()] + [len(text)]
    found = folded.find(sought) if sought else -1
    while found >= 0:
        start, end = starts[found], starts[found + len(sought)]
        if not _is_in_word(text[end : end + 1]) and not _goes_into(text[start - 1 : start], word):
            return text[:start], text[end:]
        found = folded.find(sought, found + 1)
    return None


def _goes_into(previous: str, word: str) -> bool:
    """Whether `previous`, the sign before `word`, makes it part of another word or of an e-mail address.

    Scripts without spaces between words put a mention directly behind a letter.
    """
    if _is_in_word(word[:1]):
        return _is_in_word(previous)
    return _is_in_word(previous) and (
        previous == "_" or previous.isdecimal() or unicodedata.name(previous, "").startswith("LATIN")
    )


def _is_in_word(sign: str) -> bool:
    if not sign:
        return False
    category = unicodedata.category(sign)
    return sign == "_" or category == "Nd" or category[0] in "LM"


def _comparable(text: str) -> str:
    return unicodedata.normalize("NFC", _without(_BLANKS, text))


def _without(start: re.Pattern[str], text: str) -> str:
    """`text` from behind what `start` matches at its beginning, which may be nothing."""
    match = start.match(text)
    return text[match.end() :] if match else text
