"""The result of a spawned agent: its texts as they come, and at its end what came of it."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import PurePosixPath

from orchestrator.commands.agents.event_writing import note_said
from orchestrator.commands.running.turns import PairKey, count_pair
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent, AgentStatus
from orchestrator.contracts.records.spawns import SpawnRecord
from orchestrator.store import lineage, spawn_texts, spawns, waits
from orchestrator.store.transaction import Transaction


def take_result_text(tx: Transaction, key: PairKey, text: str, *, at: datetime) -> bool:
    """Take a pair of a spawned agent: part of its result, not of a chat. False if it was taken before."""
    if not count_pair(tx, key):
        return False
    spawn_texts.add(tx, key.agent.agent_id, key.ordinal, text)
    note_said(tx, key.agent, text, at=at)
    return True


def writers_beside(
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
