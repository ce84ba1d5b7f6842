"""When files take more room than they may, and who is stopped when the disk runs low."""

import pytest

from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.records.dir_sizes import DirBudget, DirSize
from orchestrator.core.dir_budgets import Excess, Growth, excess_of, fastest_grower

MIB = 1024 * 1024
BUDGET = DirBudget(max_bytes=1_000, max_entries=10)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (DirSize(), None),
        (DirSize(size_bytes=1_000, entries=10), None),
        (DirSize(size_bytes=1_001), Excess.BYTES),
        (DirSize(entries=11), Excess.ENTRIES),
        (DirSize(is_too_deep=True), Excess.DEPTH),
        (DirSize(is_exchanged=True), Excess.EXCHANGED),
    ],
)
def test_a_tree_may_hold_its_budget_and_no_more(size: DirSize, expected: Excess | None) -> None:
    assert excess_of(size, BUDGET) is expected


def growth(group: str, recent_per_s: float, in_all: int) -> Growth:
    return Growth(group=GroupFolder(group), recent_per_s=recent_per_s, in_all=in_all)


@pytest.mark.parametrize(
    ("growths", "expected"),
    [
        ([], None),
        ([growth("a", 0, 0), growth("b", -5, 0)], None),
        ([growth("a", 10, 10 * MIB), growth("b", 20, 9 * MIB)], "b"),
        ([growth("a", 0, 8 * MIB), growth("b", -3, 9 * MIB)], "b"),
        ([growth("a", 1, 8 * MIB), growth("b", 0, 10_000 * MIB)], "a"),
        ([growth("a", 1_000_000, 8 * MIB - 1), growth("b", 0, 8 * MIB)], "b"),
        ([growth("a", 1_000_000, 8 * MIB - 1)], None),
    ],
)
def test_who_grows_fastest_now_is_stopped_or_else_who_grew_most(
    growths: list[Growth], expected: str | None
) -> None:
    assert fastest_grower(growths) == expected
