"""Fields as people read them: labels in words, and values without signs of JSON."""

import re
from collections.abc import Mapping
from typing import Final

from orchestrator.core.text_cleaning import clean_text

_LABELS: Final[Mapping[str, str]] = {"childAgentIds": "children", "parentAgentId": "parent"}
_EMPTY: Final[tuple[object, ...]] = (None, [], {}, "", ())

_INSTANT: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)")
_UTC: Final = ("Z", "+00:00")
_BOLD: Final = re.compile(r"(?<!\w)\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\w)")


def without_marks(text: str) -> str:
    """`It is **noon**` as `It is noon`: a line of a table shows no Markdown."""
    return _BOLD.sub(r"\1", text)


def instant(text: str) -> str:
    """`2026-01-15T10:30:00.123Z` as `2026-01-15 10:30:00 UTC`; what is no instant stays as it is."""
    found = _INSTANT.fullmatch(text)
    if found is None:
        return text
    day, time, offset = found.groups()
    return f"{day} {time} {'UTC' if offset in _UTC else offset}"


def label_of(name: str) -> str:
    """`startedAt` and `auth_mode` as words: `started at`, `auth mode`."""
    return _LABELS.get(name) or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).replace("_", " ").lower()


def in_words(value: object) -> str:
    """A JSON value as people write it; what is not there is left out."""
    match value:
        case bool():
            return "yes" if value else "no"
        case Mapping():
            held = {name: each for name, each in value.items() if each not in _EMPTY}
            return ", ".join(f"{label_of(str(name))} {in_words(each)}" for name, each in held.items())
        case list() | tuple():
            signs = "; " if any(isinstance(each, Mapping) for each in value) else ", "
            return signs.join(in_words(each) for each in value)
        case _:
            return instant(str(value))


def labelled(fields: Mapping[str, object]) -> list[str]:
    """One line a field, in two columns; further lines of a value stand below its first. Empty ones are left
    out."""
    rows = [(label_of(name), clean_text(in_words(value))) for name, value in fields.items()]
    shown = [(label, text) for label, text in rows if text not in ("", "None")]
    width = max((len(label) for label, _ in shown), default=0)
    lines: list[str] = []
    for label, text in shown:
        first, *further = text.split("\n")
        lines += [f"{label:<{width}}  {first}", *(f"{'':<{width}}  {line}" for line in further)]
    return lines
