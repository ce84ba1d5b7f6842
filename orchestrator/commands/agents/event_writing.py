"""What happens to an agent goes into the event log here, in the transaction in which it happens.

What happens to a whole tree and its orphans is noted by `commands.spawning.spawn_ends`, what is refused by
`spawn_refusals` there, what happens to tokens by `tokens`.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.contracts.events import (
    AgentCompleted,
    AgentFailed,
    AgentLogged,
    AgentProgressed,
    AgentRestarted,
    AgentStarted,
    AgentTerminated,
    ChildSpawned,
    LogLevel,
    RestartsGivenUp,
)
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent, AgentStatus, DeathCause
from orchestrator.contracts.records.spawns import Restarts, SpawnRecord, SpawnResult
from orchestrator.core.agents.endings import ended_in_words, stop_reason_of, stopped_with
from orchestrator.core.text_cleaning import cap_text, clean_text
from orchestrator.store import agents, event_log, spawns, task_runs
from orchestrator.store.group_folders import group_workspace
from orchestrator.store.transaction import Transaction

MAX_OUTPUT_BYTES: Final = 64 * 1024
"""Of an output in an event; the agent's record has all of it."""
MAX_LINE_BYTES: Final = 4 * 1024
MAX_FILES: Final = 1_000
"""Names of changed files in an event; the agent's record has more."""


def note_spawned(
    tx: Transaction, child: Agent, parent_id: AgentId, task: str, *, asked_by: str, at: datetime
) -> None:
    """A child was reserved. asked_by: as `asker_of` says it."""
    event = ChildSpawned(
        agent_id=child.agent_id,
        parent_agent_id=parent_id,
        tree_id=child.tree_id,
        depth=child.depth,
        task=cap_text(clean_text(task), MAX_LINE_BYTES),
        asked_by=None if asked_by == parent_id else asked_by,
    )
    event_log.append(tx, child.tree_id, event, at)


def note_started(tx: Transaction, services: Services, agent: Agent, *, at: datetime) -> None:
    """An agent took its input."""
    spawn = spawns.get(tx, agent.agent_id)
    workspace = spawn.workspace if spawn else str(group_workspace(services.paths.groups, agent.group))
    event = AgentStarted(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        depth=agent.depth,
        parent_agent_id=agent.parent_agent_id,
        task=cap_text(clean_text(task_of(tx, agent, spawn)), MAX_LINE_BYTES),
        workspace_path=workspace,
    )
    event_log.append(tx, agent.tree_id, event, at)


def task_of(tx: Transaction, agent: Agent, spawn: SpawnRecord | None) -> str:
    """What an agent is for: the task that it was spawned with, a scheduled one's title, or its chat."""
    return tasks_of(tx, [agent], {} if spawn is None else {agent.agent_id: spawn.task})[agent.agent_id]


def tasks_of(tx: Transaction, found: Iterable[Agent], known: Mapping[AgentId, str]) -> dict[AgentId, str]:
    """As `task_of`, of many at once. known: the tasks of those that were spawned."""
    others = [agent for agent in found if agent.agent_id not in known]
    runs = [agent.task_run_id for agent in others if agent.task_run_id is not None]
    titles = task_runs.titles(tx, runs) if runs else {}
    told = dict(known)
    for agent in others:
        title = None if agent.task_run_id is None else titles.get(agent.task_run_id)
        told[agent.agent_id] = f"Answer {agent.chat_jid}" if title is None else title
    return told


def note_said(
    tx: Transaction, agent: Agent, message: str, *, at: datetime, level: LogLevel = LogLevel.INFO
) -> None:
    """An agent said something, to people or for its log."""
    event = AgentLogged(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        depth=agent.depth,
        parent_agent_id=agent.parent_agent_id,
        message=cap_text(clean_text(message), MAX_LINE_BYTES),
        level=level,
    )
    event_log.append(tx, agent.tree_id, event, at)


def note_progress_of(
    tx: Transaction, agent: Agent, progress: float, description: str | None, *, at: datetime
) -> None:
    """An agent said how far it is. progress: what is not from 0 to 100 is moved there."""
    event = AgentProgressed(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        depth=agent.depth,
        parent_agent_id=agent.parent_agent_id,
        progress=min(max(progress, 0), 100),
        description=None if description is None else cap_text(clean_text(description), MAX_LINE_BYTES),
    )
    event_log.append(tx, agent.tree_id, event, at)


def note_restarted(tx: Transaction, agent: Agent, kept: Restarts, error: str | None, *, at: datetime) -> None:
    """A spawned agent has ended and waits for its next start. error: how it ended; None if well."""
    delay = (kept.start_after or at) - at
    event = AgentRestarted(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        depth=agent.depth,
        parent_agent_id=agent.parent_agent_id,
        restarts=kept.count,
        delay_ms=round(delay.total_seconds() * 1000),
        error=None if error is None else cap_text(clean_text(error), MAX_LINE_BYTES),
    )
    event_log.append(tx, agent.tree_id, event, at)


def note_given_up(tx: Transaction, agent: Agent, restarts: int, error: str, *, at: datetime) -> None:
    """A spawned agent is not started again, since that was done too often. restarts: how many ever."""
    event = RestartsGivenUp(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        depth=agent.depth,
        parent_agent_id=agent.parent_agent_id,
        restarts=restarts,
        error=cap_text(clean_text(error), MAX_LINE_BYTES),
    )
    event_log.append(tx, agent.tree_id, event, at)


def note_ended(
    tx: Transaction,
    agent_id: AgentId,
    *,
    at: datetime,
    cause: DeathCause | None = None,
    why: str | None = None,
) -> None:
    """An agent's record says its end, and its spawn's the result: tell how it ended.

    cause: on whose account, where its spawn does not say. why: it failed, where nothing else says.
    """
    agent = agents.get(tx, agent_id)
    assert agent is not None
    spawn = spawns.get(tx, agent_id)
    render = _ENDS.get(agent.status, _failed)
    event_log.append(tx, agent.tree_id, render(agent, spawn, cause, why), at)


Ended = AgentCompleted | AgentFailed | AgentTerminated


def _completed(agent: Agent, spawn: SpawnRecord | None, cause: DeathCause | None, why: str | None) -> Ended:
    result = _result(spawn)
    files = result.files_modified
    return AgentCompleted(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        depth=agent.depth,
        parent_agent_id=agent.parent_agent_id,
        exit_code=agent.exit_code,
        output=cap_text(result.output, MAX_OUTPUT_BYTES),
        duration_ms=result.duration_ms if spawn is not None else _duration_ms(agent),
        files_modified=None if files is None else files[:MAX_FILES],
    )


def _failed(agent: Agent, spawn: SpawnRecord | None, cause: DeathCause | None, why: str | None) -> Ended:
    result = _result(spawn)
    reason = "" if agent.end_reason is None else ended_in_words(agent.end_reason)
    return AgentFailed(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        depth=agent.depth,
        parent_agent_id=agent.parent_agent_id,
        exit_code=agent.exit_code,
        error=cap_text(result.error or why or reason or agent.status.value, MAX_LINE_BYTES),
        output=cap_text(result.output, MAX_OUTPUT_BYTES) if result.output else None,
    )


def _terminated(agent: Agent, spawn: SpawnRecord | None, cause: DeathCause | None, why: str | None) -> Ended:
    return AgentTerminated(
        agent_id=agent.agent_id,
        tree_id=agent.tree_id,
        depth=agent.depth,
        parent_agent_id=agent.parent_agent_id,
        reason=stop_reason_of(agent.status, spawn, cause).value,
        terminated_by=None if spawn is None else spawn.stopped_by,
        stopped_with=stopped_with(agent.status, spawn, cause),
    )


_ENDS: Final[dict[AgentStatus, Callable[..., Ended]]] = {
    AgentStatus.COMPLETED: _completed,
    AgentStatus.TERMINATED: _terminated,
    AgentStatus.TIMED_OUT: _terminated,
}
"""How an agent ended, by its status; anything else is a failure."""


def _result(spawn: SpawnRecord | None) -> SpawnResult:
    return SpawnResult() if spawn is None or spawn.result is None else spawn.result


def _duration_ms(agent: Agent) -> int:
    assert agent.ended_at is not None
    return max(round((agent.ended_at - agent.started_at).total_seconds() * 1000), 0)
