"""The end of a spawned agent's attempt: its last, or it is started again. Source: agents.md section 2.

A restart keeps the agent's id, its place in its tree and in every limit, its deadline and its scratch.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from orchestrator.commands.agents.event_writing import note_given_up, note_restarted
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.running.spawned_burial import spawned_end_event, why_of
from orchestrator.commands.running.waiting import is_wanted
from orchestrator.commands.services import Services
from orchestrator.contracts.records.agents import Agent
from orchestrator.contracts.records.spawns import Restarts, SpawnRecord
from orchestrator.contracts.seams import Topic
from orchestrator.core.agents.endings import too_many_restarts
from orchestrator.core.agents.restarts import (
    Ending,
    NextStep,
    RestartLimits,
    after_restart,
    counted,
    next_step,
)
from orchestrator.core.agents.unstartable import UNSTARTABLE
from orchestrator.core.states.agent import AGENT, AgentEventKind
from orchestrator.store import agents, restarts, spawn_texts
from orchestrator.store.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class LastEnd:
    """An end after which nothing comes. event: what it means for the record. error: one sentence."""

    event: AgentEventKind
    error: str | None


def end_or_restart(
    tx: Transaction, services: Services, agent: Agent, spawn: SpawnRecord, remains: Remains, *, at: datetime
) -> LastEnd | None:
    """How a spawned agent that is dead has ended; None if it waits for its next start from now on.

    Its last turn is closed by then.
    """
    event, why = spawned_end_event(tx, agent, remains), why_of(tx, agent, spawn, remains)
    ending = Ending(status=agent.status, cause=remains.cause, reason=remains.reason, event=event)
    limits = _limits(services)
    step = next_step(spawn.restarts, ending, limits, now=at)
    if step is NextStep.NOTHING or _is_vain(tx, agent, remains):
        return LastEnd(event=event, error=why)
    if step is NextStep.GIVES_UP:
        count = len(counted(spawn.restarts, limits, now=at))
        error = too_many_restarts(count, window_s=limits.window.total_seconds(), why=why)
        note_given_up(tx, agent, spawn.restarts.count, error, at=at)
        return LastEnd(event=AgentEventKind.ENDED_BADLY, error=error)
    kept = after_restart(spawn.restarts, limits, now=at, files_modified=remains.files_modified)
    if kept.start_after is None or not is_wanted(tx, agent, spawn, at=kept.start_after):
        return LastEnd(event=event, error=why)  # its time, or its parent's, is over before it could start
    _restart(tx, agent, kept, why, at=at)
    return None


def _restart(tx: Transaction, agent: Agent, kept: Restarts, why: str | None, *, at: datetime) -> None:
    """What it said so far is in the event log only, from now on."""
    now = AGENT.after(agent.status, AgentEventKind.RESTARTED)
    is_moved = restarts.reserve_again(tx, agent.agent_id, kept, was=agent.status, now=now)
    assert is_moved, "the agent was read in this transaction"
    spawn_texts.forget(tx, agent.agent_id)
    note_restarted(tx, agent, kept, why, at=at)
    tx.wake(Topic.AGENTS)
    tx.wake(Topic.WORK)


def _is_vain(tx: Transaction, agent: Agent, remains: Remains) -> bool:
    """Whether only an operator can mend what kept it from starting."""
    _, error = agents.last_turn_end(tx, agent.agent_id)
    if error is not None and error.code in UNSTARTABLE:
        return True
    return remains.misconfigured is not None or remains.is_budget_spent


def _limits(services: Services) -> RestartLimits:
    spawn = services.settings.spawn
    return RestartLimits(most=spawn.restart_intensity, window=timedelta(seconds=spawn.restart_window_s))
