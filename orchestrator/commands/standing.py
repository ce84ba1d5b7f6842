"""How the whole stands: what `dovecote status`, the doctor and `/metrics` look at."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from orchestrator.commands.agents.queue_reasons import count_reasons
from orchestrator.commands.services import Services
from orchestrator.contracts.records.agents import QueueReason
from orchestrator.contracts.records.standing import Standing
from orchestrator.contracts.version import VERSION
from orchestrator.core.agents.spending import day_began
from orchestrator.core.chat.bounds import BOUND_INCIDENTS, WINDOW
from orchestrator.core.tasks.schedule import zone_or_utc
from orchestrator.settings.tree import Settings
from orchestrator.store import agents, notices, spawns
from orchestrator.store.database import Reader
from orchestrator.store.refusals import count_refusals
from orchestrator.store.standing import REFUSED_FOR, read_standing
from orchestrator.store.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """How it stands. version: of the orchestrator that says so. troubles: of each part that is being started
    again, and of each channel that is not open: why. refused: requests of agents, of the last day.
    queued: how many agents wait for a place, by what keeps them from it, as far as that is known.
    """

    version: str
    standing: Standing
    troubles: Mapping[str, str] = field(default_factory=dict)
    refused: int = 0
    queued: Mapping[QueueReason, int] = field(default_factory=dict)


async def status_report(services: Services) -> StatusReport:
    """How it stands now."""
    at = services.clock.now()
    async with services.db.reader() as reader:
        found = await standing_now(reader, services.settings, at=at)
    counting = partial(count_refusals, services.paths.ipc, since=at - REFUSED_FOR)
    refused = await asyncio.to_thread(counting)
    queued = await services.db.view(lambda tx: _queued(tx, services))
    return StatusReport(
        version=VERSION,
        standing=found,
        troubles=dict(services.troubles),
        refused=sum(refused.values()),
        queued=queued,
    )


def _queued(tx: Transaction, services: Services) -> Mapping[QueueReason, int]:
    waiting = agents.pending(tx)
    return count_reasons(tx, services, waiting, spawns.some(tx, [each.agent_id for each in waiting]))


async def standing_now(reader: Reader, settings: Settings, *, at: datetime) -> Standing:
    """The store's part of it, also for who looks at a store that another process writes."""
    zone = zone_or_utc(settings.assistant.timezone)
    found = await read_standing(reader, at=at, day_began=day_began(at, zone))
    met = await notices.opened_after(reader, prefix=BOUND_INCIDENTS, after=at - WINDOW, now=at)
    return replace(found, bounds=met)
