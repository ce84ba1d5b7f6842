"""A text cut into parts that a channel takes.

A part ends where a reader would pause: behind a paragraph, else a line, else a word; only what has
no such border is cut between two characters as a person sees them. A code block stays in one piece
if a part can hold it; else it is closed in the one part and opened again in the next.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import regex

_FENCE: Final = regex.compile(
    r"^(?P<marker>[ ]{0,3}(?:`{3,}+(?=[^`\n]*$)|~{3,}+))[ \t]*(?P<tag>[^\s`]*)[^\n]*$", regex.MULTILINE
)
_JOINS_TO_THE_LEFT: Final = r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}]"
# Flags by pairs: for each of them `\X` looks back to the beginning of its row, so that a long row would
# take the square of its length. What a pair is joined to goes along with it.
_ONE_CHARACTER: Final = regex.compile(rf"\p{{GCB=Regional_Indicator}}{{2}}{_JOINS_TO_THE_LEFT}*+|\X")
# Control characters are never joined to anything, but for the two of one line end.
_BLANK_ALONE: Final = regex.compile(
    r"(?<!\r)\n|\r(?!\n)|\p{GCB=Control}"
    rf"|(?<!\p{{GCB=Prepend}})[^\p{{GCB=Control}}\r\n](?!{_JOINS_TO_THE_LEFT})"
)
_BLANK_LINES: Final = regex.compile(r"(?:[^\S\n]*\n)+")
_NEVER_A_BORDER: Final = frozenset("\u00a0\u202f")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Code:
    """A block of code. opening, closing: its fence lines. reopening: how a part begins that goes on with it.
    code: whole lines, each with its newline."""

    opening: str
    reopening: str
    code: str
    closing: str

    @property
    def whole(self) -> str:
        return f"{self.opening}\n{self.code}{self.closing}"


def split_text(text: str, limit: int) -> list[str]:
    """`text` in parts of at most `limit` characters, none of them blank; blank text gives none.

    White space at a border is dropped, all else is kept in order. limit: at least 1. One character
    as a person sees it is cut only if its code points alone are over the limit.
    """
    if len(text) <= limit:
        return [text] if text.strip() else []
    packer = _Packer(limit)
    for segment in _segments(text, limit):
        if isinstance(segment, _Code):
            packer.add_code(segment)
        else:
            packer.add_prose(segment)
    packer.end_part()
    return packer.parts


def _segments(text: str, limit: int) -> Iterator[str | _Code]:
    """Prose and code in turn. A block whose fences would fill much of a part counts as prose."""
    prose_start = 0
    for start, block, end in _blocks(text):
        if 3 * (len(block.opening) + len(block.closing) + 2) <= limit:
            yield text[prose_start:start]
            yield block
            prose_start = end + 1
    yield text[prose_start:]


def _blocks(text: str) -> Iterator[tuple[int, _Code, int]]:
    """The code blocks, each between its start and its end; one without a closing line gets one."""
    opening: regex.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opening is None:
            opening = line
        elif _closes(line, opening):
            code = text[opening.end() + 1 : line.start()]
            yield opening.start(), _code(opening, code, closing=line[0].rstrip()), line.end()
            opening = None
    if opening is not None:
        code = text[opening.end() + 1 :].rstrip() + "\n"
        yield opening.start(), _code(opening, code, closing=opening["marker"]), len(text)


def _closes(line: regex.Match[str], opening: regex.Match[str]) -> bool:
    marker = line["marker"].strip()
    return line[0].strip() == marker and marker.startswith(opening["marker"].strip())


def _code(opening: regex.Match[str], code: str, *, closing: str) -> _Code:
    return _Code(
        opening=opening[0].rstrip(),
        reopening=opening["marker"] + opening["tag"],
        code=code if code.strip() else "",
        closing=closing,
    )


class _Packer:
    """Fills one part after the other; lives for one call of `split_text`."""

    def __init__(self, limit: int) -> None:
        self.parts: list[str] = []
        self._limit = limit
        self._part = ""

    @property
    def _room(self) -> int:
        return self._limit - len(self._part)

    def end_part(self) -> None:
        """Give out what was gathered, unless it is blank."""
        blank_lines = _BLANK_LINES.match(self._part)
        part = self._part[blank_lines.end() if blank_lines else 0 :].rstrip()
        if part:
            self.parts.append(part)
        self._part = ""

    def add_prose(self, text: str) -> None:
        """Add text that may be cut at any border."""
        start = 0
        while len(text) - start > self._room:
            cut = _border(text, start, self._room, may_be_nowhere=bool(self._part))
            self._part += text[start:cut]
            self.end_part()
            start = _behind_border(text, cut) if cut > start else start
        self._part += text[start:]

    def add_code(self, block: _Code) -> None:
        """Add a code block: whole if a part can hold it, else in pieces, each in fences of its own."""
        size = len(block.whole)
        if size > self._room and (size <= self._limit or self._room < self._limit // 2):
            self.end_part()
        if size <= self._room:
            self._part += block.whole + "\n"
            return
        opening, rest = block.opening, block.code
        while True:
            cut = _code_border(rest, self._room - len(opening) - len(block.closing) - 2)
            piece, rest = rest[:cut].strip("\n"), rest[cut:].removeprefix("\n")
            if piece.strip():
                self._part += f"{opening}\n{piece}\n{block.closing}\n"
                opening = block.reopening
            if not rest.strip():
                return
            self.end_part()


def _border(text: str, start: int, room: int, *, may_be_nowhere: bool) -> int:
    """Where to cut `text`, of which more than `room` characters are left at `start`.

    may_be_nowhere: `start` itself is a line's border, and better than one between words.
    """
    end = start + room
    # A border far to the front would make a needlessly short part.
    shortest = start if may_be_nowhere else start + room // 3
    for sign in ("\n\n", "\n"):
        if (at := text.rfind(sign, start, end + len(sign))) > shortest:
            return at
    if may_be_nowhere:
        return start
    word = _word_border(text, start, end)
    line = text.rfind("\n", start, end + 1)
    if word > shortest or line <= start < word:
        return word
    return line if line > start else _character_border(text, start, end)


def _word_border(text: str, start: int, end: int) -> int:
    """The last blank up to `end` that is a character of its own; `start` if there is none."""
    for at in range(end, start, -1):
        if text[at].isspace() and text[at] not in _NEVER_A_BORDER and _BLANK_ALONE.match(text, at):
            return at
    return start


def _character_border(text: str, start: int, end: int) -> int:
    border = start
    # One code point more than fits: it shows whether the last character is whole.
    for character in _ONE_CHARACTER.finditer(text[start : end + 1]):
        if start + character.end() > end:
            break
        border = start + character.end()
    return border if border > start else end


def _behind_border(text: str, cut: int) -> int:
    """Where the next part begins: blanks between words are passed over, the indent of a line is not."""
    if text[cut] == "\n":
        return cut + 1
    while cut < len(text) and text[cut].isspace() and text[cut] != "\n" and _BLANK_ALONE.match(text, cut):
        cut += 1
    return cut


def _code_border(code: str, room: int) -> int:
    if len(code) <= room:
        return len(code)
    line = code.rfind("\n", 0, room + 1)
    return line if line > 0 else _character_border(code, 0, room)
