"""Texts and names of people and agents, made safe to store, show and send. Source: contracts.md section 6."""

import re
from typing import Final

from orchestrator.contracts.wire.codec import without_lone_surrogates
from orchestrator.contracts.wire.framing import CUT_NOTE

MAX_NAME_CHARS: Final = 100

# Control characters but newline and tab, and what turns the direction of the text around it.
_UNWANTED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean_text(text: str) -> str:
    """`text` without control characters (newline and tab stay) and overrides of its direction.

    Line ends become a newline; halves of surrogate pairs are replaced.
    """
    return without_lone_surrogates(_UNWANTED.sub("", text.replace("\r\n", "\n")))


def clean_name(name: str) -> str:
    """`name` cleaned, on one line, of at most 100 characters; empty if nothing is left."""
    on_one_line = " ".join(name.split())
    return " ".join(clean_text(on_one_line).split())[:MAX_NAME_CHARS].rstrip()


def cap_text(text: str, max_bytes: int, *, note: str = CUT_NOTE) -> str:
    """`text` if it keeps the limit; else its beginning and `note`, together at most `max_bytes` of UTF-8."""
    text_utf8 = text.encode("utf-8", "replace")
    if len(text_utf8) <= max_bytes:
        return text
    room = max_bytes - len(note.encode())
    if room < 0:
        return text_utf8[:max_bytes].decode("utf-8", "ignore")
    return text_utf8[:room].decode("utf-8", "ignore") + note
