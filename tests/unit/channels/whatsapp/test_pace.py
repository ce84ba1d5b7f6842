"""How fast texts leave."""

from random import Random

import pytest

from orchestrator.channels.whatsapp.pace import Pace, PaceRule
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.seams import SendUnavailable
from tests.support.manual_clock import ManualClock

CHOIR, CLUB = Jid("1@g.us"), Jid("2@g.us")
RULE = PaceRule(chat_per_minute=6, chat_burst=3, all_per_minute=60, all_burst=5, longest_wait_s=8)


def admitted(pace: Pace, chat: Jid, tries: int) -> int:
    """How many of so many texts may leave at once."""
    return sum(pace.wait_s(chat) == 0 for _ in range(tries))


def test_g13_a_chat_gets_its_burst_and_then_its_rate() -> None:
    """Case G13: no limit of the rate, and an account barred for it."""
    clock = ManualClock()
    pace = Pace(RULE, clock, Random(1))

    at_once, wait_s = admitted(pace, CHOIR, 10), pace.wait_s(CHOIR)
    clock.advance(wait_s)
    after_the_wait = admitted(pace, CHOIR, 10)

    assert (at_once, after_the_wait) == (3, 1)
    assert wait_s == pytest.approx(10.0)


def test_g13_all_chats_together_have_a_burst_and_a_rate_too() -> None:
    clock = ManualClock()
    pace = Pace(RULE, clock, Random(1))

    each = [admitted(pace, Jid(f"{number}@g.us"), 1) for number in range(10)]
    clock.advance(2.0)
    later = [admitted(pace, Jid(f"later-{number}@g.us"), 1) for number in range(10)]

    assert (sum(each), sum(later)) == (5, 2)


def test_a_text_that_may_not_leave_costs_nobody_anything() -> None:
    """The chat that is over its rate takes nothing of what all share."""
    pace = Pace(RULE, ManualClock(), Random(1))
    admitted(pace, CHOIR, 100)

    assert admitted(pace, CLUB, 10) == 2


async def test_who_would_wait_too_long_is_told_to_come_again() -> None:
    pace = Pace(RULE, ManualClock(), Random(1))
    admitted(pace, CHOIR, 3)

    with pytest.raises(SendUnavailable, match="too many texts for now"):
        await pace.turn(CHOIR)


def test_chats_that_nobody_writes_to_are_forgotten() -> None:
    clock = ManualClock()
    pace = Pace(PaceRule(all_per_minute=1e6, all_burst=1e6), clock, Random(1))
    for number in range(5_000):
        clock.advance(1.0)
        pace.wait_s(Jid(f"{number}@g.us"))

    assert len(pace._chats) <= 1_001
