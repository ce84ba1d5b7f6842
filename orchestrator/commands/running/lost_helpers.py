"""Helpers that ended with Dovecote itself: the chat that has lost them is told."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent, AgentStatus, EndReason, TurnOutcome
from orchestrator.contracts.records.spawns import OnParentExit, SpawnRecord, StopReason
from orchestrator.core.sentence_keys import Say
from orchestrator.core.text_cleaning import clean_name
from orchestrator.store import agents, lineage, spawns
from orchestrator.store.transaction import Transaction

_MOST_NAMED: Final = 5
_DIED: Final = (Say.HELPER_LOST, Say.HELPERS_LOST)
_STOPPED: Final = (Say.HELPER_STOPPED, Say.HELPERS_STOPPED)


def tell_of_lost_helpers(tx: Transaction, services: Services, agent: Agent, *, at: datetime) -> None:
    """A chat's agent is dead because Dovecote died: its helpers that were not done end with it."""
    if agent.depth or agent.task_run_id is not None:
        return
    lost = [spawn for child in lineage.children(tx, agent.agent_id) if (spawn := _lost(tx, child))]
    _tell(tx, services, agent, lost, _DIED, at=at)


def helpers_at_work(tx: Transaction) -> list[AgentId]:
    """Those of chats that have not ended, oldest first."""
    found: list[AgentId] = []
    for child in lineage.unended(tx):
        parent = None if child.parent_agent_id is None else agents.get(tx, child.parent_agent_id)
        if parent is not None and not parent.depth and parent.task_run_id is None and _has_chat(tx, parent):
            found.append(child.agent_id)
    return found


def tell_of_stopped_helpers(
    tx: Transaction, services: Services, helpers: Sequence[AgentId], *, at: datetime
) -> None:
    """Dovecote was stopped. helpers: those that were at work by then; some may have been done in time."""
    stopped: dict[AgentId, list[SpawnRecord]] = {}
    for agent_id in helpers:
        child, spawn = agents.get(tx, agent_id), spawns.get(tx, agent_id)
        if child is None or spawn is None or child.parent_agent_id is None:
            continue
        if _went_with_us(tx, child, spawn):
            stopped.setdefault(child.parent_agent_id, []).append(spawn)
    for parent_id, lost in stopped.items():
        parent = agents.get(tx, parent_id)
        if parent is not None:
            _tell(tx, services, parent, lost, _STOPPED, at=at)


def _has_chat(tx: Transaction, agent: Agent) -> bool:
    """One that a program outside or the operator started has none."""
    return spawns.get(tx, agent.agent_id) is None


def _went_with_us(tx: Transaction, child: Agent, spawn: SpawnRecord) -> bool:
    """Whether our end is why it was not done: nobody had it stopped, and it did not end by itself."""
    outcome, _ = agents.last_turn_end(tx, child.agent_id)
    if child.status is AgentStatus.COMPLETED or outcome is TurnOutcome.SUCCESS:
        return False
    if child.ended_at is None:
        return child.status is not AgentStatus.PENDING or spawn.on_parent_exit is not OnParentExit.DETACH
    return child.end_reason is EndReason.STOPPED and spawn.stop_reason in (None, StopReason.CASCADE)


def tell_of_lost_helper(
    tx: Transaction, services: Services, agent: Agent, spawn: SpawnRecord, *, at: datetime
) -> None:
    """One that was to outlive the agent of its chat has died because Dovecote died."""
    if agent.depth == 1 and spawn.on_parent_exit is OnParentExit.DETACH:
        _tell(tx, services, agent, [spawn], _DIED, at=at)


def _lost(tx: Transaction, child: Agent) -> SpawnRecord | None:
    """What it was to do, unless it was done, or may outlive its parent."""
    outcome, _ = agents.last_turn_end(tx, child.agent_id)
    has_ended = child.ended_at is not None and child.end_reason is not EndReason.ORCHESTRATOR_DIED
    if has_ended or child.status is AgentStatus.COMPLETED or outcome is TurnOutcome.SUCCESS:
        return None
    spawn = spawns.get(tx, child.agent_id)
    return None if spawn is None or spawn.on_parent_exit is OnParentExit.DETACH else spawn


def _tell(
    tx: Transaction,
    services: Services,
    agent: Agent,
    lost: list[SpawnRecord],
    words: tuple[Say, Say],
    *,
    at: datetime,
) -> None:
    """words: of one, and of several."""
    if not lost:
        return
    named = [_in_words(spawn) for spawn in lost[:_MOST_NAMED]]
    if len(lost) > _MOST_NAMED:
        named.append(f"… (+{len(lost) - _MOST_NAMED})")
    queue_notice(
        tx,
        services,
        chat=agent.chat_jid,
        what=words[0] if len(lost) == 1 else words[1],
        incident=f"helpers-lost:{agent.agent_id}",
        at=at,
        words_of=agent.agent_id,
        helpers=", ".join(named),
    )


def _in_words(spawn: SpawnRecord) -> str:
    """Its name, if it has one, and what it was to do."""
    task = f"“{clean_name(spawn.task)}”"
    return task if spawn.name is None else f"{clean_name(spawn.name)} ({task})"
