"""Counts what agents use, by what the providers' answers say, and says whose budget is used up.

Budgets and prices are looked up anew once their files have changed. Source: agents.md sections 4, 5.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import structlog

from orchestrator.commands.services import Services
from orchestrator.commands.setup.definitions import GLOBAL, budget_now, load_providers
from orchestrator.commands.usage.spending_notes import amount_of, note_budget, note_unpriced, until_of
from orchestrator.contracts.errors import InvalidSettings
from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.definitions import Budget
from orchestrator.contracts.records.egress import ProviderCall
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.providers import Price
from orchestrator.contracts.records.usage import Spent, UsedCall
from orchestrator.core.agents.spending import (
    BudgetState,
    cost_usd,
    day_began,
    month_began,
    spent_of,
    states_of,
)
from orchestrator.core.sentence_keys import Say
from orchestrator.core.tasks.schedule import zone_or_utc
from orchestrator.core.wording import say
from orchestrator.store import agents, groups, usage
from orchestrator.store.group_folders import AGENT_FILE
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
_UNKNOWN: Final = "unknown"
Stamps = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a group may spend, and what its models cost, by provider."""

    budget: Budget = field(default_factory=Budget)
    prices: Mapping[str, tuple[Price, ...]] = field(default_factory=dict)


class StoredUsage:
    """The meter of the egress proxy: a `UsageMeter` on the store."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._terms: dict[GroupFolder, tuple[Stamps, Terms]] = {}
        # Groups without a budget of which nobody still believes that it is used up.
        self._boundless: set[GroupFolder] = set()

    async def why_not(self, agent: AgentId, group: GroupFolder) -> str | None:
        """None while the group may spend more; else why not. Who has to hear of a change is told it."""
        services = self._services
        found = await services.db.run(lambda tx: groups.by_folder(tx, group))
        if found is None:
            return None
        budget = (await self._terms_of(found)).budget
        if budget == Budget() and group in self._boundless:
            return None
        spent = await services.db.run(lambda tx: self._spent(tx, found, budget))
        if spent is None:
            if budget == Budget():
                self._boundless.add(group)
            return None
        self._boundless.discard(group)
        amount, until = amount_of(spent, found.locale), until_of(services, found, spent)
        return say(Say.BUDGET_SPENT, found.locale, amount=amount, until=until)

    def _spent(self, tx: Transaction, group: Group, budget: Budget) -> BudgetState | None:
        services, at = self._services, self._services.clock.now()
        states = budget_states(tx, services, group, budget, at=at)
        note_budget(tx, services, group, states, at=at)
        return spent_of(states)

    async def record(self, call: ProviderCall) -> None:
        """Keep a finished call with its cost, and tell of what it used up."""
        services = self._services
        group = await services.db.run(lambda tx: groups.by_folder(tx, call.group))
        terms = Terms() if group is None else await self._terms_of(group)
        await services.db.run(lambda tx: self._keep(tx, call, group, terms))

    def _keep(self, tx: Transaction, call: ProviderCall, group: Group | None, terms: Terms) -> None:
        services, at = self._services, self._services.clock.now()
        used = _used(tx, call, terms)
        usage.add(tx, used)
        if group is None or not used.tokens:
            return
        wants_cost = terms.budget.usd_per_month is not None
        if wants_cost and used.cost_usd is None:
            model = used.model or _UNKNOWN
            note_unpriced(tx, services, group, model=model, provider=used.provider, at=at)
        states = budget_states(tx, services, group, terms.budget, at=at)
        if states:
            note_budget(tx, services, group, states, at=at)

    async def _terms_of(self, group: Group) -> Terms:
        """As the files say now; as they said before where they can't be read any more."""
        known = self._terms.get(group.folder)
        stamps, terms = await asyncio.to_thread(self._look, group, known)
        self._terms[group.folder] = (stamps, terms)
        return terms

    def _look(self, group: Group, known: tuple[Stamps, Terms] | None) -> tuple[Stamps, Terms]:
        paths, settings = self._services.paths, self._services.settings
        files = (paths.groups / GLOBAL / AGENT_FILE, paths.group(group.folder) / AGENT_FILE)
        stamps = tuple(_stamp(file) for file in (*files, paths.providers_file))
        if known is not None and known[0] == stamps:
            return known
        before = Terms() if known is None else known[1]
        try:
            providers = load_providers(paths, settings).known
            prices = {name: provider.prices for name, provider in providers.items()}
            return stamps, Terms(budget=budget_now(paths, group), prices=prices)
        except InvalidSettings as error:
            _log.warning("usage.terms_unreadable", group=group.folder, error=error.message)
            return stamps, before


def budget_states(
    tx: Transaction, services: Services, group: Group, budget: Budget, *, at: datetime
) -> list[BudgetState]:
    """The bounds of a group that are nearly or quite used up now."""
    if budget == Budget():
        return []
    zone = zone_of(services, group)
    return states_of(budget, spent_now(tx, group, zone, at=at), zone)


def spent_now(tx: Transaction, group: Group, zone: ZoneInfo, *, at: datetime) -> Spent:
    """What a group used on its present day and in its present month."""
    return usage.spent(tx, group.folder, day=day_began(at, zone), month=month_began(at, zone))


def zone_of(services: Services, group: Group) -> ZoneInfo:
    """Where a group's days begin."""
    return zone_or_utc(group.timezone or services.settings.assistant.timezone)


def _used(tx: Transaction, call: ProviderCall, terms: Terms) -> UsedCall:
    agent = agents.get(tx, call.agent_id)
    provider = _UNKNOWN if agent is None else agent.provider
    return UsedCall(
        at=call.at,
        group=call.group,
        agent_id=call.agent_id,
        turn_id=usage.turn_at(tx, call.agent_id, at=call.at),
        provider=provider,
        model=call.model,
        status=call.status,
        failure=call.failure,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        cache_read_tokens=call.cache_read_tokens,
        cache_write_tokens=call.cache_write_tokens,
        cost_usd=cost_usd(call, terms.prices.get(provider, ())),
    )


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
