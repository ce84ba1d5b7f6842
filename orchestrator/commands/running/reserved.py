"""Agents that were reserved and will never be started, or are lost: each gets its one true end."""

from datetime import datetime
from typing import Final

from orchestrator.commands.running.burial import bury
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.running.waiting import is_wanted
from orchestrator.commands.services import Services
from orchestrator.contracts.records.agents import DeathCause, EndReason
from orchestrator.contracts.records.spawns import SpawnRecord, StopReason
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store import agents, groups, spawns
from orchestrator.store.transaction import Transaction

_NO_GROUP: Final = "Its group is gone."
LOST: Final = Remains(
    cause=DeathCause.HOST,
    reason=EndReason.ENGINE_LOST,
    event=AgentEventKind.NOT_FOUND,
    acks={},
    unread=(),
    exit=None,
)
"""What is known of an agent of which nothing is seen any more."""


def end_unwanted(tx: Transaction, services: Services, *, at: datetime) -> datetime | None:
    """End those whose time has passed or whose parent is gone; when the next one's time passes."""
    reserved = agents.pending(tx)
    records = spawns.some(tx, [agent.agent_id for agent in reserved]) if reserved else {}
    next_at: datetime | None = None
    for agent in reserved:
        spawn = records.get(agent.agent_id)
        if spawn is None:
            bury(tx, services, agent.agent_id, LOST, at=at)
            continue
        has_group = groups.by_folder(tx, agent.group) is not None
        if has_group and is_wanted(tx, agent, spawn, at=at):
            next_at = spawn.deadline_at if next_at is None else min(next_at, spawn.deadline_at)
            continue
        remains = _remains(spawn, has_group=has_group, at=at)
        if remains.reason is EndReason.STOPPED:
            spawns.note_stop(tx, agent.agent_id, StopReason.CASCADE, stopped_by=None)
        bury(tx, services, agent.agent_id, remains, at=at)
    return next_at


def _remains(spawn: SpawnRecord, *, has_group: bool, at: datetime) -> Remains:
    """Nothing of it ran, so there is nothing but why."""
    if at >= spawn.deadline_at:
        cause, reason, event = DeathCause.TIMED_OUT, EndReason.TIMED_OUT, AgentEventKind.RAN_OUT
    elif has_group:
        cause, reason, event = DeathCause.STOPPED, EndReason.STOPPED, AgentEventKind.TOLD_TO_STOP
    else:
        cause, reason, event = DeathCause.HOST, EndReason.START_FAILED, AgentEventKind.START_FAILED
    return Remains(
        cause=cause,
        reason=reason,
        event=event,
        acks={},
        unread=(),
        exit=None,
        failed_start=None if has_group else _NO_GROUP,
    )
