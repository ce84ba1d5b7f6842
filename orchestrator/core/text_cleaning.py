"""Texts and names of people and agents, made safe to store, show and send. Source: contracts.md section 6."""

import re
from typing import Final

from orchestrator.contracts.wire.codec import without_lone_surrogates
from orchestrator.contracts.wire.framing import CUT_NOTE

MAX_NAME_CHARS: Final = 100

# Control characters but newline and tab, and what turns the direction of the text around it.
_UNWANTED: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# What Unicode lets nobody see, and what every font draws as it likes. Joiners and the selectors of
# emoji, which words need, only where there are more in a row than any word has.
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028\u2029\u2060-\u206f"
    "\u2800\u3164\ue000-\uf8ff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
    "|[\u200c\u200d\ufe0e\ufe0f]{3,}"
)


def clean_text(text: str) -> str:
    """`text` without control characters (newline and tab stay) and overrides of its direction.

    Line ends become a newline; halves of surrogate pairs are replaced.
    """
    return without_lone_surrogates(_UNWANTED.sub("", text.replace("\r\n", "\n")))


def clean_name(name: str) -> str:
    """`name` cleaned, on one line, of at most 100 characters; empty if nothing is left."""
    on_one_line = " ".join(name.split())
    return " ".join(clean_text(on_one_line).split())[:MAX_NAME_CHARS].rstrip()


def show_unseen(text: str) -> str:
    """`text` with each character that nobody can see as its number, such as `[U+200B]`.

    A model reads them all the same: what people are to agree to must not hide anything in them.
    """
    return _UNSEEN.sub(lambda found: "".join(f"[U+{ord(sign):04X}]" for sign in found[0]), text)


def cap_text(text: str, max_bytes: int, *, note: str = CUT_NOTE) -> str:
    """`text` if it keeps the limit; else its beginning and `note`, together at most `max_bytes` of UTF-8."""
    text_utf8 = text.encode("utf-8", "replace")
    if len(text_utf8) <= max_bytes:
        return text
    room = max_bytes - len(note.encode())
    if room < 0:
        return text_utf8[:max_bytes].decode("utf-8", "ignore")
    return text_utf8[:room].decode("utf-8", "ignore") + note
