"""How each measure went over a run: its first tenth, its last tenth, and the slope between them.

The slope of the second half alone tells a process that is warming up from one that goes on growing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

_HEADINGS: Final = ("measure", "first tenth", "last tenth", "slope an hour", "of 2nd half", "expected")
_HOUR_S: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was measured at one moment. at_s: since the first one. A measure that had no value is absent."""

    at_s: float
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One thing that is measured. expected: what should become of it, and by which rule."""

    name: str
    unit: str = ""
    expected: str = "flat"


def slope_an_hour(points: Sequence[tuple[float, float]]) -> float:
    """By least squares, of (seconds, value): how much the value grows in an hour; 0 of one time."""
    middle_s = fmean(at_s for at_s, _ in points) if points else 0.0
    middle = fmean(value for _, value in points) if points else 0.0
    spread = sum((at_s - middle_s) ** 2 for at_s, _ in points)
    together = sum((at_s - middle_s) * (value - middle) for at_s, value in points)
    return together / spread * _HOUR_S if spread else 0.0


def table(measures: Sequence[Measure], samples: Sequence[Sample]) -> list[str]:
    """Lines of text, headings first; a measure that never was other than 0 has none."""
    rows: list[tuple[str, ...]] = [_HEADINGS]
    for measure in measures:
        points = [(each.at_s, each.values[measure.name]) for each in samples if measure.name in each.values]
        if any(value for _, value in points):
            rows.append(_cells(measure, points))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _cells(measure: Measure, points: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    values = [value for _, value in points]
    tenth = max(1, len(values) // 10)
    unit = f" {measure.unit}".rstrip()
    slopes = slope_an_hour(points), slope_an_hour(points[len(points) // 2 :])
    return (
        measure.name,
        f"{_number(fmean(values[:tenth]))}{unit}",
        f"{_number(fmean(values[-tenth:]))}{unit}",
        *(f"{'+' if slope > 0 else ''}{_number(slope)}{unit}" for slope in slopes),
        measure.expected,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
