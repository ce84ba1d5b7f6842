"""A table in a terminal."""

from collections.abc import Sequence

from orchestrator.cli.labels import instant
from orchestrator.core.text_cleaning import clean_name


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table's lines. A cell is cut to a name's length and cleaned; instants are as people write them."""
    table = [tuple(heads), *(tuple(clean_name(instant(cell)) for cell in row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(heads))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
