"""A table where there are none: columns in a block of code while they fit a phone, else a list of rows."""

import unicodedata
from collections.abc import Sequence
from typing import Final

_MAX_WIDTH: Final = 36
"""What a phone shows in one line of code."""


def table_text(plain: Sequence[Sequence[str]], shown: Sequence[Sequence[str]]) -> str:
    """The table, its first row being the heads. plain: cells as code shows them; shown: with marks."""
    widths = [max(_width(cell) for cell in column) for column in zip(*plain, strict=True)]
    is_code_safe = not any("```" in cell for row in plain for cell in row)
    if sum(widths) + 2 * len(widths) <= _MAX_WIDTH + 2 and is_code_safe:
        lines = ["  ".join(map(_padded, row, widths)).rstrip() for row in plain]
        return "\n".join(["```", *lines, "```"])
    heads, *rows = shown
    if not rows:
        return ", ".join(heads)
    return "\n".join(_row(heads, row) for row in rows)


def _row(heads: Sequence[str], cells: Sequence[str]) -> str:
    pairs = zip(heads, cells, strict=True)
    return "- " + "; ".join(f"{head}: {cell}" if head else cell for head, cell in pairs)


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
