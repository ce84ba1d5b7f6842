"""How long rows are kept, all but events and tokens, which see to it themselves.

They go in slices, so that nothing waits long for them.
A row that something living refers to stays as long as that lives. What one crash leaves the next round finds.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol

from orchestrator.commands.decisions import expire_proposals
from orchestrator.commands.hearing.receiving import REFUSED_INCIDENTS, UNREGISTERED_INCIDENTS
from orchestrator.commands.services import Services
from orchestrator.contracts.wire.boxes import KEEP_REFUSED, KEEP_REPLIES
from orchestrator.core.chat.bounds import BOUND_INCIDENTS, WINDOW
from orchestrator.store import (
    chats,
    messages,
    notices,
    outbox,
    proposals,
    questions,
    refused_spawns,
    requests,
    slices,
    task_runs,
    tasks,
    trees,
    usage,
)
from orchestrator.store.agent_pruning import prune_agents, prune_turns
from orchestrator.store.transaction import Transaction

AT_ONCE: Final = 1_000
"""Rows that one transaction looks at or removes."""
AGENTS_FOR: Final = timedelta(days=30)
"""Agents from their end on, with what was decided and asked for them; turns of one that lives on."""
_MONTH: Final = timedelta(days=32)
"""Budgets count the calls of a month, in whichever timezone."""


class _Walk(Protocol):
    def __call__(self, tx: Transaction, *, before: datetime, after: int, count: int) -> slices.Slice: ...


class _Prune(Protocol):
    def __call__(self, tx: Transaction, *, before: datetime, count: int) -> int: ...


async def prune_rows(services: Services, *, at_once: int = AT_ONCE) -> int:
    """Forget all that is old and done with; how many rows. Raises Unavailable.

    at_once: rows of one transaction.
    """
    now = services.clock.now()
    keep = timedelta(days=services.settings.keep_messages_days)
    await services.db.run(lambda tx: _end_what_is_over(tx, services, at=now))
    walks: Mapping[_Walk, timedelta] = {messages.prune: keep, outbox.prune: keep, prune_turns: AGENTS_FOR}
    # Runs before their tasks, agents before their trees.
    prunes: Mapping[_Prune, timedelta] = {
        requests.prune: KEEP_REPLIES,
        prune_agents: AGENTS_FOR,
        trees.prune: AGENTS_FOR,
        proposals.prune: AGENTS_FOR,
        questions.prune: AGENTS_FOR,
        refused_spawns.prune: KEEP_REFUSED,
        task_runs.prune: keep,
        tasks.prune: keep,
        usage.prune: max(keep, _MONTH),
        chats.prune: keep,
    }
    gone = 0
    for walk, age in walks.items():
        gone += await _walk(services, partial(walk, before=now - age, count=at_once))
    for prune, age in prunes.items():
        gone += await _prune(services, partial(prune, before=now - age, count=at_once))
    return gone


def _end_what_is_over(tx: Transaction, services: Services, *, at: datetime) -> None:
    expire_proposals(tx, services, at=at)
    notices.forget(tx, prefix=BOUND_INCIDENTS, before=at - WINDOW)
    for prefix in (REFUSED_INCIDENTS, UNREGISTERED_INCIDENTS):
        notices.forget(tx, prefix=prefix, before=at - AGENTS_FOR)


async def _walk(services: Services, step: Callable[..., slices.Slice]) -> int:
    """From the oldest row on, until nothing old is behind."""
    gone, after = 0, slices.BEGIN
    while True:
        done = await services.db.run(partial(step, after=after))
        gone += done.removed
        if done.next_after is None:
            return gone
        after = done.next_after


async def _prune(services: Services, step: Callable[[Transaction], int]) -> int:
    """Until a step finds nothing more."""
    gone = 0
    while removed := await services.db.run(step):
        gone += removed
    return gone
