"""Helpers that died with Dovecote itself: the chat that has lost them is told."""

from datetime import datetime
from typing import Final

from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.contracts.records.agents import Agent, AgentStatus, EndReason, TurnOutcome
from orchestrator.contracts.records.spawns import OnParentExit, SpawnRecord
from orchestrator.core.sentence_keys import Say
from orchestrator.core.text_cleaning import clean_name
from orchestrator.store import agents, lineage, spawns
from orchestrator.store.transaction import Transaction

_MOST_NAMED: Final = 5


def tell_of_lost_helpers(tx: Transaction, services: Services, agent: Agent, *, at: datetime) -> None:
    """A chat's agent is dead because Dovecote died: its helpers that were not done end with it."""
    if agent.depth or agent.task_run_id is not None:
        return
    lost = [spawn for child in lineage.children(tx, agent.agent_id) if (spawn := _lost(tx, child))]
    _tell(tx, services, agent, lost, at=at)


def tell_of_lost_helper(
    tx: Transaction, services: Services, agent: Agent, spawn: SpawnRecord, *, at: datetime
) -> None:
    """One that was to outlive the agent of its chat has died because Dovecote died."""
    if agent.depth == 1 and spawn.on_parent_exit is OnParentExit.DETACH:
        _tell(tx, services, agent, [spawn], at=at)


def _lost(tx: Transaction, child: Agent) -> SpawnRecord | None:
    """What it was to do, unless it was done, or may outlive its parent."""
    outcome, _ = agents.last_turn_end(tx, child.agent_id)
    has_ended = child.ended_at is not None and child.end_reason is not EndReason.ORCHESTRATOR_DIED
    if has_ended or child.status is AgentStatus.COMPLETED or outcome is TurnOutcome.SUCCESS:
        return None
    spawn = spawns.get(tx, child.agent_id)
    return None if spawn is None or spawn.on_parent_exit is OnParentExit.DETACH else spawn


def _tell(
    tx: Transaction, services: Services, agent: Agent, lost: list[SpawnRecord], *, at: datetime
) -> None:
    if not lost:
        return
    named = [_in_words(spawn) for spawn in lost[:_MOST_NAMED]]
    if len(lost) > _MOST_NAMED:
        named.append(f"… (+{len(lost) - _MOST_NAMED})")
    queue_notice(
        tx,
        services,
        chat=agent.chat_jid,
        what=Say.HELPER_LOST if len(lost) == 1 else Say.HELPERS_LOST,
        incident=f"helpers-lost:{agent.agent_id}",
        at=at,
        words_of=agent.agent_id,
        helpers=", ".join(named),
    )


def _in_words(spawn: SpawnRecord) -> str:
    """Its name, if it has one, and what it was to do."""
    task = f"“{clean_name(spawn.task)}”"
    return task if spawn.name is None else f"{clean_name(spawn.name)} ({task})"
