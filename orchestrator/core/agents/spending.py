"""What calls to a provider cost, and when a group has spent what it may. Source: agents.md section 4."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from orchestrator.contracts.records.definitions import Budget
from orchestrator.contracts.records.egress import ProviderCall
from orchestrator.contracts.records.providers import Price
from orchestrator.contracts.records.usage import Spent
from orchestrator.core.tasks.local_time import first_instant_of

WARN_AT: Final = 0.8
_MILLION: Final = 1_000_000


class BudgetKind(StrEnum):
    """Which of the two bounds."""

    TOKENS = "tokens"
    USD = "usd"


class BudgetLevel(StrEnum):
    """How far a bound is used up."""

    WARN = "warn"
    SPENT = "spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetState:
    """A bound that people have to hear of. since: when its day or month began. ends_at: when that is over."""

    kind: BudgetKind
    level: BudgetLevel
    used: float
    limit: float
    since: datetime
    ends_at: datetime


def cost_usd(call: ProviderCall, prices: Sequence[Price]) -> float | None:
    """What the call cost in US dollars; None if its answer named no tokens or its model has no price."""
    counts = (call.input_tokens, call.output_tokens, call.cache_read_tokens, call.cache_write_tokens)
    price = price_of(call.model, prices)
    if price is None or all(count is None for count in counts):
        return None
    # Without a price of their own, cached tokens cost as much as others.
    rates = (
        price.input_usd,
        price.output_usd,
        price.input_usd if price.cache_read_usd is None else price.cache_read_usd,
        price.input_usd if price.cache_write_usd is None else price.cache_write_usd,
    )
    return sum((count or 0) * rate for count, rate in zip(counts, rates, strict=True)) / _MILLION


def price_of(model: str | None, prices: Sequence[Price]) -> Price | None:
    """The first price whose name, or beginning of a name, fits the model."""
    if model is None:
        return None
    return next((price for price in prices if _fits(price.model, model)), None)


def _fits(pattern: str, model: str) -> bool:
    return model.startswith(pattern[:-1]) if pattern.endswith("*") else model == pattern


def day_began(now: datetime, zone: ZoneInfo) -> datetime:
    """The first instant of the day that it is in `zone`, in UTC."""
    midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    return first_instant_of(midnight, zone)


def month_began(now: datetime, zone: ZoneInfo) -> datetime:
    """The first instant of the month that it is in `zone`, in UTC."""
    local = now.astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    return first_instant_of(local, zone)


def _next_day(day: datetime, zone: ZoneInfo) -> datetime:
    local = day.astimezone(zone).replace(hour=0, minute=0, tzinfo=None)
    return first_instant_of(local + timedelta(days=1), zone)


def _next_month(month: datetime, zone: ZoneInfo) -> datetime:
    local = month.astimezone(zone).replace(hour=0, minute=0, tzinfo=None)
    return first_instant_of((local + timedelta(days=32)).replace(day=1), zone)


def states_of(budget: Budget, spent: Spent, zone: ZoneInfo) -> list[BudgetState]:
    """The bounds that are nearly or quite used up, tokens first."""
    bounds = (
        (
            BudgetKind.TOKENS,
            spent.tokens_today,
            budget.tokens_per_day,
            spent.day,
            _next_day(spent.day, zone),
        ),
        (
            BudgetKind.USD,
            spent.usd_this_month,
            budget.usd_per_month,
            spent.month,
            _next_month(spent.month, zone),
        ),
    )
    found: list[BudgetState] = []
    for kind, used, limit, since, ends_at in bounds:
        level = _level(used, limit)
        if limit is not None and level is not None:
            found.append(
                BudgetState(kind=kind, level=level, used=used, limit=limit, since=since, ends_at=ends_at)
            )
    return found


def _level(used: float, limit: float | None) -> BudgetLevel | None:
    if limit is None:
        return None
    if used >= limit:
        return BudgetLevel.SPENT
    return BudgetLevel.WARN if used >= limit * WARN_AT else None


def spent_of(states: Sequence[BudgetState]) -> BudgetState | None:
    """The bound that stops the group; of two the one that stops it longer."""
    spent = [state for state in states if state.level is BudgetLevel.SPENT]
    return max(spent, key=lambda state: state.ends_at, default=None)
