"""What an operator is shown of a wish before he confirms it: all of it, and nothing that looks like ours."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Final

from orchestrator.core.text_cleaning import clean_name, clean_text, show_unseen
from orchestrator.core.wish_words import field_word

MAX_WISH_CHARS: Final = 12_000
"""More than this is not read before it is confirmed."""
QUOTE: Final = "> "
_INDENT: Final = "  "
_LINE_CHARS: Final = 200
_LINE_ENDS: Final = re.compile("[\n\u2028\u2029]")
"""What any network may show as the end of a line."""
_NOT_SHOWN: Final = frozenset({"type", "requestId", "timestamp", "idempotencyKey"})
"""What tells nothing of the wish."""


def wish_text(facts: Sequence[tuple[str, str]]) -> str:
    """Names and values, each line quoted, long ones broken: wherever a network cuts the text, no line of it
    can be taken for one of ours."""
    lines: list[str] = []
    for name, value in facts:
        first, *others = _lines(value)
        lines.append(f"{QUOTE}{name}: {first}".rstrip())
        lines += [f"{QUOTE}{_INDENT}{line}".rstrip() for line in others]
    return "\n".join(lines)


def request_facts(plain: Mapping[str, object]) -> list[tuple[str, str]]:
    """Every field of a request's JSON object that says something, in the words of people."""
    return [
        (field_word(name), _shown(value))
        for name, value in plain.items()
        if name not in _NOT_SHOWN and value is not None
    ]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(clean_name(str(each)) for each in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{clean_name(str(name))}: {_shown(each)}" for name, each in value.items())
    return str(value)


def _lines(value: str) -> list[str]:
    """The value, cleaned, nothing hidden, in lines of a bounded length; an empty value is one empty line."""
    lines: list[str] = []
    for line in _LINE_ENDS.split(clean_text(value).replace("\t", "    ")):
        lines += textwrap.wrap(
            show_unseen(line),
            _LINE_CHARS,
            drop_whitespace=False,
            replace_whitespace=False,
            break_on_hyphens=False,
        ) or [""]
    return lines
