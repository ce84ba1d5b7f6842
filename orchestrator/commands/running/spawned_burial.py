"""The end of a spawned agent: its turn closed, its result put together, its caller told."""

from datetime import datetime

from orchestrator.commands.running.holds import tell_not_set_up
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.running.results import writers_beside
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent, AgentStatus, EndReason, TurnOutcome
from orchestrator.contracts.records.spawns import SpawnRecord, SpawnResult
from orchestrator.contracts.seams import Topic
from orchestrator.core.agents.endings import end_of_spawned, why_it_failed
from orchestrator.core.agents.restarts import all_files
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store import agents, spawn_texts, spawns, waits
from orchestrator.store.group_folders import group_workspace
from orchestrator.store.transaction import Transaction


def spawned_end_event(tx: Transaction, agent: Agent, remains: Remains) -> AgentEventKind:
    """What its end means for its record. Its last turn is closed by then."""
    outcome, _ = agents.last_turn_end(tx, agent.agent_id)
    return end_of_spawned(remains.event, outcome)


def why_of(tx: Transaction, agent: Agent, spawn: SpawnRecord, remains: Remains) -> str | None:
    """One sentence for who asked for it; None where all went well."""
    outcome, error = agents.last_turn_end(tx, agent.agent_id)
    return why_it_failed(
        spawn,
        remains.reason,
        outcome=outcome,
        error=error,
        exit_status=remains.exit,
        failed_start=remains.failed_start,
    )


def settle_spawned(
    tx: Transaction,
    services: Services,
    agent: Agent,
    spawn: SpawnRecord,
    remains: Remains,
    *,
    error: str | None,
    at: datetime,
) -> None:
    """Keep what came of it, and tell who waits. Its record says its end by then."""
    result = SpawnResult(
        output=spawn_texts.joined(tx, agent.agent_id),
        files_modified=_files_modified(agent, spawn, remains),
        shared_with=_beside(tx, services, agent, spawn),
        exit_code=None if remains.exit is None or _ran_out(remains) else remains.exit.code,
        error=error,
        duration_ms=max(round((at - agent.started_at).total_seconds() * 1000), 0),
    )
    spawn_texts.forget(tx, agent.agent_id)
    if remains.misconfigured is not None:
        tell_not_set_up(tx, services, agent, why=remains.misconfigured, at=at)
    spawns.end(tx, agent.agent_id, result)
    waits.meet(tx, agent.agent_id, only_ready=False)
    spawns.set_reply_due(tx, agent.agent_id, is_due=True)
    tx.wake(Topic.AGENTS)


def _files_modified(agent: Agent, spawn: SpawnRecord, remains: Remains) -> tuple[str, ...] | None:
    """By all its attempts; one that was not started again changed nothing more."""
    if agent.status is AgentStatus.PENDING and spawn.restarts.count:
        return spawn.restarts.earlier_files
    return all_files(spawn.restarts, remains.files_modified)


def _beside(tx: Transaction, services: Services, agent: Agent, spawn: SpawnRecord) -> tuple[AgentId, ...]:
    """Who else may have written what it may; of one that never ran, nobody."""
    if agent.status is AgentStatus.PENDING:
        return ()
    workspace = group_workspace(services.paths.groups, agent.group)
    return tuple(writers_beside(tx, agent, spawn, group_workspace=str(workspace)))


def close_open_turn(tx: Transaction, agent: Agent, *, at: datetime) -> None:
    """A turn that it had not ended died with it."""
    agents.end_open_turns(tx, agent.agent_id, outcome=TurnOutcome.DIED, at=at)


def _ran_out(remains: Remains) -> bool:
    return remains.reason is EndReason.TIMED_OUT
