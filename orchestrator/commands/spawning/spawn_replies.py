"""What the parent of a spawned agent finds in its box: the child is ready, or all that came of it."""

from collections.abc import Mapping
from typing import Final

from orchestrator.contracts.ids import RequestId
from orchestrator.contracts.records.agents import Agent, AgentStatus
from orchestrator.contracts.records.spawns import SpawnRecord, WaitFor
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.replies import Reply
from orchestrator.store import agents, spawns, waits
from orchestrator.store.transaction import Transaction

_WORDS: Final[Mapping[AgentStatus, str]] = {
    AgentStatus.COMPLETED: "completed",
    AgentStatus.TIMED_OUT: "timeout",
    AgentStatus.FAILED: "failed",
    AgentStatus.TERMINATED: "failed",
    AgentStatus.LOST: "failed",
}
"""The end of an agent in the words of the source document."""


def end_word(status: AgentStatus) -> str:
    """How an agent ended, in the words of the source document; `running` of one that has not."""
    return _WORDS.get(status, "running")


def note_ready(tx: Transaction, agent: Agent) -> None:
    """A spawned agent has its input: who waited for that goes on."""
    spawn = spawns.get(tx, agent.agent_id)
    if spawn is None:
        return
    held = waits.meet(tx, agent.agent_id, only_ready=True)
    if held or spawn.wait is WaitFor.READY:
        spawns.set_reply_due(tx, agent.agent_id, is_due=True)
    tx.wake(Topic.AGENTS)


def due_replies(tx: Transaction) -> list[tuple[SpawnRecord, Reply]]:
    """What is to be written into the boxes of live parents."""
    found: list[tuple[SpawnRecord, Reply]] = []
    for spawn in spawns.to_tell(tx):
        agent = agents.get(tx, spawn.agent_id)
        if agent is not None:
            request_id = RequestId(agent.agent_id)
            reply = Reply(request_id=request_id, ok=True, result=result_of(agent, spawn))
            found.append((spawn, reply))
    return found


def result_of(agent: Agent, spawn: SpawnRecord) -> Mapping[str, object]:
    """How a spawned agent stands: `running`, or how it ended and with what. Source: agents.md section 2."""
    told: dict[str, object] = {
        "agentId": agent.agent_id,
        "treeId": agent.tree_id,
        "depth": agent.depth,
        "status": end_word(agent.status),
        "lifecycle": agent.status.value,
    }
    result = spawn.result
    if result is None:
        return told
    told |= {
        "exitCode": result.exit_code,
        "output": result.output,
        "durationMs": result.duration_ms,
        "filesModified": result.files_modified,
        "sharedWith": result.shared_with,
    }
    return told if result.error is None else told | {"error": result.error}
