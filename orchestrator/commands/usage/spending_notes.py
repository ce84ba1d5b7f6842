"""What people are told of a group's budget: nearly used up, used up, room again. Each once."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from orchestrator.commands.saying.operator_alerts import tell_operators
from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.seams import Topic
from orchestrator.core.agents.spending import BudgetKind, BudgetState, spent_of
from orchestrator.core.sentence_keys import Say
from orchestrator.core.tasks.schedule import zone_or_utc
from orchestrator.core.wording import say
from orchestrator.store import notices
from orchestrator.store.transaction import Transaction

SPENT: Final = "budget"
"""Of a chat: its budget is used up. The incident is `budget:{chat}`."""


def note_budget(
    tx: Transaction, services: Services, group: Group, states: Sequence[BudgetState], *, at: datetime
) -> None:
    """Say what is new: the chat and the main chat hear of it, once a bound, day or month, and incident."""
    spent = spent_of(states)
    if spent is None:
        _note_room(tx, services, group, at=at)
        for state in states:
            since = f"{state.since.timestamp():.0f}"
            key = f"budget-near:{state.kind}:{group.jid}:{since}:{state.limit:g}"
            _tell(tx, services, group, state, key, (Say.BUDGET_NEAR, Say.OPERATOR_BUDGET_NEAR), at=at)
        return
    name = f"{SPENT}:{group.jid}"
    _, is_told = notices.count_one(tx, name, at=at)
    if not is_told:
        notices.mark_told(tx, name, at=at)
        key = f"{name}:{at.timestamp():.3f}:{spent.limit:g}"
        _tell(tx, services, group, spent, key, (Say.BUDGET_SPENT, Say.OPERATOR_BUDGET_SPENT), at=at)


def _note_room(tx: Transaction, services: Services, group: Group, *, at: datetime) -> None:
    if not notices.close(tx, f"{SPENT}:{group.jid}"):
        return
    key = f"budget-again:{group.jid}:{at.timestamp():.3f}"
    queue_notice(tx, services, chat=group.jid, what=Say.BUDGET_AGAIN, incident=key, at=at)
    incident, what = f"{key}:operator", Say.OPERATOR_BUDGET_AGAIN
    tell_operators(tx, services, what=what, incident=incident, at=at, about=group.jid, group=group.name)
    tx.wake(Topic.WORK)


def _tell(
    tx: Transaction,
    services: Services,
    group: Group,
    state: BudgetState,
    key: str,
    what: tuple[Say, Say],
    *,
    at: datetime,
) -> None:
    facts: dict[str, Any] = {
        "amount": amount_of(state, group.locale),
        "until": until_of(services, group, state),
    }
    queue_notice(tx, services, chat=group.jid, what=what[0], incident=key, at=at, **facts)
    tell_operators(
        tx,
        services,
        what=what[1],
        incident=f"{key}:operator",
        at=at,
        about=group.jid,
        group=group.name,
        folder=group.folder,
        **facts,
    )


def amount_of(state: BudgetState, locale: str) -> str:
    """How much of the bound is used."""
    if state.kind is BudgetKind.TOKENS:
        return say(Say.BUDGET_TOKENS, locale, used=f"{state.used:,.0f}", limit=f"{state.limit:,.0f}")
    return say(Say.BUDGET_USD, locale, used=f"{state.used:,.2f}", limit=f"{state.limit:,.2f}")


def until_of(services: Services, group: Group, state: BudgetState) -> str:
    """When the bound begins anew, on the clock of the group."""
    zone = zone_or_utc(group.timezone or services.settings.assistant.timezone)
    return f"{state.ends_at.astimezone(zone):%Y-%m-%d %H:%M} ({zone})"


def note_unpriced(
    tx: Transaction, services: Services, group: Group, *, model: str, provider: str, at: datetime
) -> None:
    """A budget in dollars, and a model whose price nobody knows: operators hear it once."""
    incident = f"unpriced:{group.folder}:{provider}:{model}"
    facts: dict[str, Any] = {"group": group.name, "model": model, "provider": provider}
    tell_operators(tx, services, what=Say.OPERATOR_UNPRICED, incident=incident, at=at, **facts)
