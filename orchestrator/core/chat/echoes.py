"""Whether a text that comes back from a network is one that we sent."""

from typing import Final

import regex

_WORD: Final = regex.compile(r"[\p{L}\p{M}\p{N}]+")


def reads_alike(sent: str, heard: str) -> bool:
    """Whether both have the same words: a network has marks of its own for bold and the like.

    Texts without words must be equal but for white space.
    """
    words = _WORD.findall(sent)
    return words == _WORD.findall(heard) and bool(words or sent.split() == heard.split())
