"""Somebody else's words inside an answer."""

from typing import Final

from container.drivers.notes_file import is_shown

_MAX_CHARS: Final = 200


def plain(text: str) -> str:
    """A line of somebody else's words, without what is not to be shown or is no character."""
    return "".join(sign if is_shown(sign) else "�" for sign in text)


def short(text: str) -> str:
    """The same on one line, cut where it is long."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= _MAX_CHARS else f"{line[: _MAX_CHARS - 1].rstrip()}…"
