"""Whose files are looked at, how often, and what is known of their growth."""

from orchestrator.contracts.ids import GroupFolder
from orchestrator.core.dir_budgets import Growth
from orchestrator.engine.size_ledger import SizeLedger

A, B = GroupFolder("a"), GroupFolder("b")


def test_a_live_group_is_looked_at_at_once_and_a_small_one_again_after_two_seconds() -> None:
    ledger = SizeLedger()
    at_first = ledger.due([A], 100.0)
    ledger.note(A, 5, began=100.0, ended=100.01, is_live=True)

    assert at_first == [A]
    assert ledger.due([A], 102.0) == []
    assert ledger.due([A], 102.1) == [A]


def test_a_tree_that_takes_long_is_looked_at_less_often_but_within_the_minute() -> None:
    ledger = SizeLedger()
    ledger.note(A, 5, began=0.0, ended=20.0, is_live=True)

    assert ledger.due([A], 49.0) == []
    assert ledger.due([A], 50.1) == [A]


def test_after_its_agents_end_a_group_is_looked_at_once_more_and_then_left() -> None:
    ledger = SizeLedger()
    ledger.note(A, 5, began=0.0, ended=0.0, is_live=True)
    once_more = ledger.due([], 10.0)
    ledger.note(A, 5, began=10.0, ended=10.0, is_live=False)

    assert once_more == [A]
    assert ledger.due([], 100.0) == []


def test_a_full_group_is_looked_at_until_it_fits() -> None:
    ledger = SizeLedger()
    ledger.set_full(A)
    at_first = ledger.due([], 0.0)
    ledger.note(A, 5, began=0.0, ended=0.0, is_live=False)
    again = ledger.due([], 60.0)
    was_full = ledger.is_full(A)
    ledger.set_fitting(A)
    ledger.note(A, 5, began=60.0, ended=60.0, is_live=False)

    assert (at_first, again, was_full) == ([A], [A], True)
    assert not ledger.is_full(A)
    assert ledger.due([], 120.0) == []


def test_growth_is_since_the_last_look_and_since_the_first() -> None:
    ledger = SizeLedger()
    for at, size in ((0.0, 100), (2.0, 300), (4.0, 400)):
        ledger.note(A, size, began=at, ended=at, is_live=True)

    assert ledger.growths([A, B]) == [Growth(group=A, recent_per_s=50.0, in_all=300)]


def test_a_new_life_of_a_group_begins_its_growth_anew() -> None:
    ledger = SizeLedger()
    ledger.note(A, 100, began=0.0, ended=0.0, is_live=True)
    ledger.note(A, 500, began=2.0, ended=2.0, is_live=False)
    ledger.note(A, 500, began=60.0, ended=60.0, is_live=True)

    assert ledger.growths([A]) == [Growth(group=A, recent_per_s=0.0, in_all=0)]
