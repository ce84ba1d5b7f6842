"""How long events are kept: those for the audit longer, those of agents also only so many."""

from datetime import timedelta
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.contracts.events import EventClass
from orchestrator.store import event_log
from orchestrator.store.transaction import Transaction

_AT_ONCE: Final = 5_000
"""Rows that one transaction removes, so that nothing waits long for it."""


async def prune_events(services: Services) -> int:
    """Forget what is older, or more, than the settings keep; how many. Raises Unavailable."""
    gone = 0
    while removed := await services.db.run(lambda tx: _prune_some(tx, services)):
        gone += removed
    return gone


def _prune_some(tx: Transaction, services: Services) -> int:
    settings, now = services.settings.events, services.clock.now()
    audit_before = now - timedelta(days=settings.audit_days)
    agents_before = now - timedelta(days=settings.keep_days)
    gone = event_log.prune(tx, EventClass.AGENT, before=agents_before, count=_AT_ONCE)
    gone += event_log.prune(tx, EventClass.AUDIT, before=audit_before, count=_AT_ONCE)
    gone += event_log.prune_over(tx, EventClass.AGENT, keep=settings.max_kept, count=_AT_ONCE)
    event_log.prune_sequences(tx, before=max(audit_before, agents_before) - timedelta(days=1))
    return gone
