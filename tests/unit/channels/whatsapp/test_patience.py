"""How long a child may be without a link."""

import pytest

from orchestrator.channels.whatsapp.lines import LinkState, StateIs
from orchestrator.channels.whatsapp.patience import Patience


def said(state: LinkState, *, is_holding: bool = False) -> StateIs:
    return StateIs(generation=1, state=state, is_holding=is_holding)


def test_a_child_that_never_says_anything_of_its_link_is_given_up() -> None:
    patience = Patience(180, now=1000)

    assert [patience.is_over(now) for now in (1000, 1180, 1181)] == [False, False, True]


@pytest.mark.parametrize(
    ("line", "is_over"),
    [
        (said(LinkState.OPEN), False),
        (said(LinkState.CONNECTING), True),
        (said(LinkState.CONNECTING, is_holding=True), False),
    ],
    ids=["the link stands", "it tries", "it holds messages that the disk does not take"],
)
def test_a_child_without_a_link_is_given_up_unless_messages_would_end_with_it(
    line: StateIs, is_over: bool
) -> None:
    patience = Patience(180, now=1000)

    patience.note(line)

    assert patience.is_over(99_999) is is_over


def test_the_time_begins_when_the_link_is_lost() -> None:
    patience = Patience(180, now=0)
    patience.note(said(LinkState.OPEN))
    assert not patience.is_over(1000)

    patience.note(said(LinkState.CONNECTING))

    assert [patience.is_over(now) for now in (1180, 1181)] == [False, True]
