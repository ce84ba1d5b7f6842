"""What the benchmarks print: figures, each beside its floor and its bar."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Bound(Enum):
    """Which side of a bar is the good one, and what is compared with it."""

    AT_MOST = "≤"
    AT_LEAST = "≥"
    RATIO_AT_MOST = "≤ × floor"
    RATIO_AT_LEAST = "≥ × floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What a figure must keep. Source: design.md section 6."""

    bound: Bound
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure. floor: the same thing done barely, in the same run; None where there is none."""

    name: str
    figure: float
    unit: str
    floor: float | None = None
    bar: Bar | None = None

    @property
    def ratio(self) -> float | None:
        """The figure in floors."""
        return self.figure / self.floor if self.floor else None

    @property
    def verdict(self) -> str:
        """`ok`, `MISS`, or nothing where there is no bar."""
        if self.bar is None:
            return ""
        found = self.figure if self.bar.bound in (Bound.AT_MOST, Bound.AT_LEAST) else self.ratio
        if found is None:
            return "no floor"
        is_upper = self.bar.bound in (Bound.AT_MOST, Bound.RATIO_AT_MOST)
        is_kept = found <= self.bar.limit if is_upper else found >= self.bar.limit
        return "ok" if is_kept else "MISS"


def at_most(limit: float) -> Bar:
    """The figure itself is at most that."""
    return Bar(bound=Bound.AT_MOST, limit=limit)


def at_least(limit: float) -> Bar:
    """The figure itself is at least that."""
    return Bar(bound=Bound.AT_LEAST, limit=limit)


def at_most_floors(limit: float) -> Bar:
    """The figure is at most so many floors."""
    return Bar(bound=Bound.RATIO_AT_MOST, limit=limit)


def at_least_floors(limit: float) -> Bar:
    """The figure is at least so many floors."""
    return Bar(bound=Bound.RATIO_AT_LEAST, limit=limit)


HEADINGS = ("figure", "measured", "floor", "ratio", "bar", "")


def lines_of(rows: Sequence[Row]) -> list[str]:
    """The table as text, headings first."""
    cells = [HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS))]
    return [_line(line, widths) for line in cells]


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        f"{_number(row.figure)} {row.unit}",
        "" if row.floor is None else f"{_number(row.floor)} {row.unit}",
        "" if row.ratio is None else f"{row.ratio:.2f}",
        _bar(row),
        row.verdict,
    )


def _bar(row: Row) -> str:
    if row.bar is None:
        return ""
    match row.bar.bound:
        case Bound.AT_MOST | Bound.AT_LEAST:
            return f"{row.bar.bound.value} {_number(row.bar.limit)} {row.unit}"
        case Bound.RATIO_AT_MOST | Bound.RATIO_AT_LEAST:
            return f"{row.bar.bound.value[0]} {row.bar.limit:g} × floor"


def _number(value: float) -> str:
    if value >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join([first, *rest]).rstrip()
