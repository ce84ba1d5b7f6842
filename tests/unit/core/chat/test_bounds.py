"""How often people and bots may set the assistant off. Source: contracts.md section 6."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.messages import SenderRole
from orchestrator.core.chat.bounds import (
    Bound,
    BoundLimits,
    Tally,
    bound_incident,
    bound_met,
    highest_role,
    is_silent,
    met_bound,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS = BoundLimits(triggers_of_sender=20, turns_of_chat=60, bot_turns_in_a_row=5)
MEMBER, BOT, OPERATOR = SenderRole.MEMBER, SenderRole.BOT, SenderRole.OPERATOR

counts = st.integers(0, 100)
tallies = st.builds(
    Tally,
    triggers_of_sender=counts,
    turns_of_chat=counts,
    bot_turns_in_a_row=counts,
    met=st.frozensets(st.sampled_from(Bound)),
)
limits_of_any_size = st.builds(
    BoundLimits, triggers_of_sender=counts, turns_of_chat=counts, bot_turns_in_a_row=counts
)


def tally(*, sender: int = 0, chat: int = 0, bots: int = 0, met: tuple[Bound, ...] = ()) -> Tally:
    return Tally(triggers_of_sender=sender, turns_of_chat=chat, bot_turns_in_a_row=bots, met=met)


@pytest.mark.parametrize(
    ("role", "counted", "expected"),
    [
        (MEMBER, tally(), None),
        (MEMBER, tally(sender=19, chat=59), None),
        (MEMBER, tally(sender=20), Bound.SENDER),
        (MEMBER, tally(chat=60), Bound.CHAT),
        (MEMBER, tally(sender=20, chat=60), Bound.SENDER),
        (MEMBER, tally(bots=5), None),
        (BOT, tally(bots=4), None),
        (BOT, tally(bots=5), Bound.BOTS),
        (BOT, tally(sender=20), Bound.SENDER),
        (MEMBER, tally(met=(Bound.SENDER,)), Bound.SENDER),
        (MEMBER, tally(met=(Bound.CHAT,)), Bound.CHAT),
        (MEMBER, tally(met=(Bound.BOTS,)), None),
        (BOT, tally(met=(Bound.BOTS,)), Bound.BOTS),
    ],
)
def test_which_bound_a_trigger_meets(role: SenderRole, counted: Tally, expected: Bound | None) -> None:
    assert bound_met(role, counted, LIMITS) is expected


@given(tallies, limits_of_any_size)
def test_an_operator_meets_no_bound(counted: Tally, limits: BoundLimits) -> None:
    assert bound_met(OPERATOR, counted, limits) is None


@given(st.sampled_from([MEMBER, BOT]), tallies)
def test_a_limit_of_zero_is_no_bound(role: SenderRole, counted: Tally) -> None:
    off = BoundLimits(triggers_of_sender=0, turns_of_chat=0, bot_turns_in_a_row=0)

    assert bound_met(role, counted, off) is None


@given(st.sampled_from([MEMBER, BOT]), limits_of_any_size, st.data())
def test_who_is_below_every_limit_and_was_told_of_none_is_let_through(
    role: SenderRole, limits: BoundLimits, data: st.DataObject
) -> None:
    def below(limit: int) -> int:
        return data.draw(st.integers(0, limit - 1)) if limit else data.draw(counts)

    counted = tally(
        sender=below(limits.triggers_of_sender),
        chat=below(limits.turns_of_chat),
        bots=below(limits.bot_turns_in_a_row),
    )

    assert bound_met(role, counted, limits) is None


@given(st.sampled_from([MEMBER, BOT]), tallies, limits_of_any_size)
def test_one_trigger_more_never_lets_through_what_was_bounded(
    role: SenderRole, counted: Tally, limits: BoundLimits
) -> None:
    more = Tally(
        triggers_of_sender=counted.triggers_of_sender + 1,
        turns_of_chat=counted.turns_of_chat + 1,
        bot_turns_in_a_row=counted.bot_turns_in_a_row + 1,
        met=counted.met,
    )

    if bound_met(role, counted, limits) is not None:
        assert bound_met(role, more, limits) is not None


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (timedelta(0), True),
        (timedelta(minutes=59, seconds=59), True),
        (timedelta(hours=1), False),
        (timedelta(seconds=-1), False),
    ],
)
def test_the_silence_lasts_an_hour_and_not_longer_when_the_clock_is_set_back(
    after: timedelta, expected: bool
) -> None:
    assert is_silent(NOON, NOON + after) is expected


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ([], None),
        ([BOT, BOT], BOT),
        ([BOT, MEMBER, BOT], MEMBER),
        ([MEMBER, OPERATOR, BOT], OPERATOR),
    ],
)
def test_a_turn_goes_on_the_account_of_the_highest_who_set_it_off(
    roles: list[SenderRole], expected: SenderRole | None
) -> None:
    assert highest_role(roles) is expected


@pytest.mark.parametrize("bound", list(Bound))
def test_the_name_of_a_bound_that_was_met_says_whose_it_is(bound: Bound) -> None:
    chat, sender = Jid("console:garden"), Jid("console:operator")

    met = met_bound(bound_incident(bound, chat, sender), NOON, chats=[Jid("console:g"), chat])

    assert met is not None
    assert (met.bound, met.chat, met.until) == (bound, chat, NOON + timedelta(hours=1))
    assert met.sender == (sender if bound is Bound.SENDER else None)


def test_a_bound_of_another_chat_is_not_taken_for_one_of_this() -> None:
    elsewhere = bound_incident(Bound.SENDER, Jid("console:gardens"), Jid("a@s"))

    assert met_bound(elsewhere, NOON, chats=[Jid("console:garden")]) is None
