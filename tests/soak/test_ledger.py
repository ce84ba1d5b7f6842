"""The ledger finds what was lost, doubled or met with silence, and finds nothing where all went well."""

import pytest

from tests.soak.ledger import Ledger
from tests.soak.mix import Kind, Message

SEEN = ["re: @Assistant #1# plain\n#2# chatter", "box: @Assistant #3# bybox", "boxed: @Assistant #3# bybox"]


def ledger_of(*seen: str) -> Ledger:
    ledger = Ledger()
    for number, kind in ((1, Kind.PLAIN), (2, Kind.CHATTER), (3, Kind.BY_BOX)):
        ledger.said(Message(number=number, chat="soak1", kind=kind), at_s=float(number))
    for text in seen:
        ledger.seen(text, at_s=5.0)
    return ledger


def test_a_run_in_which_all_went_well_has_no_faults_and_the_times_of_those_that_called() -> None:
    ledger = ledger_of(*SEEN)

    assert list(ledger.faults()) == []
    assert ledger.take_times() == [4.0, 2.0]
    assert ledger.take_times() == []


@pytest.mark.parametrize(
    ("seen", "fault"),
    [
        (SEEN[1:], "2 messages were not answered: 1, 2"),
        ([*SEEN, SEEN[0]], "2 messages were answered twice: 1, 2"),
        ([*SEEN, "re: #9#"], "answers name messages that nobody wrote: 9"),
        ([SEEN[0], SEEN[2]], "'@Assistant #3# bybox' was never sent by the box"),
        ([*SEEN, SEEN[1]], "'@Assistant #3# bybox' was sent once more than its turn was answered"),
    ],
)
def test_each_broken_promise_is_found(seen: list[str], fault: str) -> None:
    assert list(ledger_of(*seen).faults()) == [fault]


def test_what_no_agent_wrote_is_kept_apart() -> None:
    assert ledger_of(*SEEN, "Sorry, that broke off.").others == ["Sorry, that broke off."]
