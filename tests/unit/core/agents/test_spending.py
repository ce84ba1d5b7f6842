"""What calls cost, and when a group has spent what it may."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.definitions import Budget
from orchestrator.contracts.records.egress import ProviderCall
from orchestrator.contracts.records.providers import Price
from orchestrator.contracts.records.usage import Spent
from orchestrator.core.agents.spending import (
    BudgetKind,
    BudgetLevel,
    cost_usd,
    day_began,
    month_began,
    price_of,
    spent_of,
    states_of,
)

NOON = datetime(2026, 3, 15, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
# The clock skips midnight of its first summer day.
CAIRO = ZoneInfo("Africa/Cairo")
PRICES = (
    Price(model="big-1", input_usd=10, output_usd=50, cache_read_usd=1, cache_write_usd=12.5),
    Price(model="big-*", input_usd=3, output_usd=15),
)


def call(**fields: Any) -> ProviderCall:
    """A good call of the family's agent."""
    plain: dict[str, Any] = {
        "agent_id": AgentId("agent-1"),
        "group": GroupFolder("family"),
        "provider_host": "api.provider.test",
        "method": "POST",
        "path": "/v1/messages",
        "status": 200,
        "at": NOON,
        "duration_s": 1.0,
        "bytes_sent": 100,
        "bytes_received": 100,
        "model": "big-1",
    }
    return ProviderCall(**(plain | fields))


@pytest.mark.parametrize(
    ("fields", "cost"),
    [
        ({"input_tokens": 1_000_000}, 10.0),
        ({"output_tokens": 1_000_000}, 50.0),
        ({"cache_read_tokens": 1_000_000}, 1.0),
        ({"cache_write_tokens": 1_000_000}, 12.5),
        ({"input_tokens": 1_000, "output_tokens": 100, "cache_read_tokens": 10_000}, 0.025),
        ({"input_tokens": 0, "output_tokens": 0}, 0.0),
        # Without prices of their own, cached tokens cost what others cost.
        ({"model": "big-2", "input_tokens": 1_000_000, "cache_read_tokens": 1_000_000}, 6.0),
        ({}, None),
        ({"model": "small-1", "input_tokens": 5}, None),
        ({"model": None, "input_tokens": 5}, None),
    ],
)
def test_a_call_costs_its_tokens_at_the_price_of_its_model(
    fields: dict[str, Any], cost: float | None
) -> None:
    assert cost_usd(call(**fields), PRICES) == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize(
    ("model", "input_usd"), [("big-1", 10), ("big-1-mini", 3), ("big-", 3), ("big", None), ("BIG-1", None)]
)
def test_of_prices_the_first_counts_that_fits_the_name(model: str, input_usd: float | None) -> None:
    price = price_of(model, PRICES)

    assert (None if price is None else price.input_usd) == input_usd


@pytest.mark.parametrize(
    ("now", "zone", "day", "month"),
    [
        ("2026-03-15T12:00", "UTC", "2026-03-15T00:00", "2026-03-01T00:00"),
        # Half past midnight in Berlin is still yesterday in UTC.
        ("2026-03-14T23:30", "Europe/Berlin", "2026-03-14T23:00", "2026-02-28T23:00"),
        # Summer time began on 29 March: that day and the month after it begin at other distances from UTC.
        ("2026-03-29T12:00", "Europe/Berlin", "2026-03-28T23:00", "2026-02-28T23:00"),
        ("2026-04-30T12:00", "Europe/Berlin", "2026-04-29T22:00", "2026-03-31T22:00"),
        # In Cairo 24 April 2026 has no midnight: its clock goes from 00:00 to 01:00.
        ("2026-04-24T10:00", "Africa/Cairo", "2026-04-23T22:00", "2026-03-31T22:00"),
    ],
)
def test_days_and_months_begin_by_the_clock_of_the_group(now: str, zone: str, day: str, month: str) -> None:
    at, where = datetime.fromisoformat(now).replace(tzinfo=UTC), ZoneInfo(zone)

    assert day_began(at, where) == datetime.fromisoformat(day).replace(tzinfo=UTC)
    assert month_began(at, where) == datetime.fromisoformat(month).replace(tzinfo=UTC)


@given(
    seconds=st.integers(946_684_800, 2_051_222_400),
    zone=st.sampled_from([BERLIN, CAIRO, ZoneInfo("UTC"), ZoneInfo("America/Sao_Paulo")]),
)
def test_now_lies_in_its_day_and_its_month_and_both_end_later(seconds: int, zone: ZoneInfo) -> None:
    now = datetime.fromtimestamp(seconds, UTC)
    spent = Spent(day=day_began(now, zone), month=month_began(now, zone), tokens_today=1, usd_this_month=1)
    tokens, usd = states_of(Budget(tokens_per_day=1, usd_per_month=1), spent, zone)

    assert spent.month <= spent.day <= now < tokens.ends_at <= usd.ends_at
    assert tokens.ends_at - spent.day <= timedelta(hours=25)
    assert timedelta(days=27, hours=23) <= usd.ends_at - spent.month <= timedelta(days=31, hours=1)
    assert tokens.ends_at.astimezone(zone).date() == now.astimezone(zone).date() + timedelta(days=1)
    assert usd.ends_at.astimezone(zone).day == 1


@pytest.mark.parametrize(
    ("tokens", "usd", "levels"),
    [
        (0, 0.0, []),
        (79, 7.99, []),
        (80, 0.0, [(BudgetKind.TOKENS, BudgetLevel.WARN)]),
        (99, 8.0, [(BudgetKind.TOKENS, BudgetLevel.WARN), (BudgetKind.USD, BudgetLevel.WARN)]),
        (100, 0.0, [(BudgetKind.TOKENS, BudgetLevel.SPENT)]),
        (500, 10.0, [(BudgetKind.TOKENS, BudgetLevel.SPENT), (BudgetKind.USD, BudgetLevel.SPENT)]),
    ],
)
def test_a_bound_warns_at_four_fifths_and_is_spent_when_it_is_reached(
    tokens: int, usd: float, levels: list[tuple[BudgetKind, BudgetLevel]]
) -> None:
    spent = Spent(
        day=day_began(NOON, BERLIN),
        month=month_began(NOON, BERLIN),
        tokens_today=tokens,
        usd_this_month=usd,
    )

    states = states_of(Budget(tokens_per_day=100, usd_per_month=10.0), spent, BERLIN)

    assert [(state.kind, state.level) for state in states] == levels


def test_without_a_budget_nothing_is_ever_spent() -> None:
    spent = Spent(day=NOON, month=NOON, tokens_today=10**12, usd_this_month=10.0**6)

    assert states_of(Budget(), spent, BERLIN) == []


def test_a_budget_of_nothing_is_spent_at_once() -> None:
    spent = Spent(day=day_began(NOON, BERLIN), month=month_began(NOON, BERLIN))
    (state,) = states_of(Budget(tokens_per_day=0), spent, BERLIN)

    assert state.level is BudgetLevel.SPENT


def test_of_two_spent_bounds_the_one_counts_that_lasts_longer() -> None:
    spent = Spent(
        day=day_began(NOON, BERLIN), month=month_began(NOON, BERLIN), tokens_today=9, usd_this_month=9
    )
    both = states_of(Budget(tokens_per_day=1, usd_per_month=1), spent, BERLIN)
    near = [replace(state, level=BudgetLevel.WARN) for state in both]

    found = spent_of(both)

    assert found is not None
    assert found.kind is BudgetKind.USD
    assert spent_of(near) is None
