"""A contact card in a few words: whom it names, and how to reach them."""

import re
from typing import Final

from orchestrator.channels.whatsapp.content_words import joined

_MAX_CARD_CHARS: Final = 20_000
_FOLD: Final = re.compile(r"\r?\n[ \t]")
_LINE: Final = re.compile(r"(?:[\w-]+\.)?(?P<name>[A-Za-z]+)(?:;[^:\n]*)?:(?P<value>.*)")
_ESCAPED: Final = re.compile(r"\\([,;\\])")
_WANTED: Final = frozenset({"TEL", "EMAIL", "ORG"})


def vcard_words(display_name: str, vcard: str) -> str:
    """Name, organisation, numbers and addresses of a card (RFC 6350), in the order of the card."""
    name, reach = display_name, []
    for line in _FOLD.sub("", vcard[:_MAX_CARD_CHARS]).splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None:
            continue
        key, value = match["name"].upper(), _ESCAPED.sub(r"\1", match["value"]).strip(" ;")
        if key == "FN" and not name.strip():
            name = value
        elif key in _WANTED and value not in reach:
            reach.append(value)
    return joined(name, *reach)
