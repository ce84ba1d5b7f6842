"""The end of a spawned agent: its turn closed, its result put together, its caller told."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import PurePosixPath

from orchestrator.commands.running.holds import tell_not_set_up
from orchestrator.commands.running.remains import Remains, exit_code_of
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent, AgentStatus, TurnOutcome
from orchestrator.contracts.records.spawns import SpawnRecord, SpawnResult
from orchestrator.contracts.seams import Topic
from orchestrator.core.agents.endings import end_of_spawned, why_it_failed
from orchestrator.core.agents.restarts import all_files
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store import agents, lineage, spawn_texts, spawns, waits
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
    ended_as: AgentStatus,
    error: str | None,
    at: datetime,
) -> None:
    """Keep what came of it, and tell who waits. Its record says its end by then."""
    result = SpawnResult(
        output=spawn_texts.joined(tx, agent.agent_id),
        files_modified=_files_modified(agent, spawn, remains),
        shared_with=_beside(tx, services, agent, spawn),
        exit_code=exit_code_of(remains, ended_as),
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
    return tuple(_writers_beside(tx, agent, spawn, group_workspace=str(workspace)))


def close_open_turn(tx: Transaction, agent: Agent, *, at: datetime) -> None:
    """A turn that it had not ended died with it."""
    agents.end_open_turns(tx, agent.agent_id, outcome=TurnOutcome.DIED, at=at)


def _writers_beside(
    tx: Transaction, agent: Agent, spawn: SpawnRecord, *, group_workspace: str
) -> list[AgentId]:
    """The other live agents that may write what this one may. One that is held until this one ends does not.

    group_workspace: where the files of this agent's group lie.
    """
    mine = _places(spawn.workspace, spawn.writable_paths, whole=spawn.is_own_workspace)
    others = [each for each in lineage.unended(tx) if each.agent_id != agent.agent_id]
    records = spawns.some(tx, [each.agent_id for each in others])
    held = {wait.waiter for wait in waits.all_waits(tx) if wait.awaited == agent.agent_id}
    found: list[AgentId] = []
    for each in others:
        theirs = records.get(each.agent_id)
        if each.agent_id in held or each.status is AgentStatus.PENDING:
            continue
        if theirs is not None:
            places = _places(theirs.workspace, theirs.writable_paths, whole=theirs.is_own_workspace)
        elif each.group == agent.group:
            places = _places(group_workspace, (), whole=True)
        else:
            continue
        if any(_overlap(one, other) for one in mine for other in places):
            found.append(each.agent_id)
    return found


def _places(workspace: str, writable: Iterable[str], *, whole: bool) -> list[PurePosixPath]:
    top = PurePosixPath(workspace)
    paths = [top / path for path in writable]
    return [top] if whole and not paths else paths


def _overlap(one: PurePosixPath, other: PurePosixPath) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)
