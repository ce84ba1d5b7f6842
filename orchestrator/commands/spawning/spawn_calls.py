"""A spawn whose caller stays for what comes of it, as HTTP and tool servers ask for one.

Who hangs up loses nothing: the agent goes on, and its record and its parent's box have the result. Source:
agents.md section 2.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from orchestrator.commands.agents.agent_waits import wait_for_agent
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_replies import end_word
from orchestrator.commands.spawning.spawning import spawn_for
from orchestrator.contracts.callers import AnyCaller
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import AgentView, SpawnSpec, WaitFor

_BEHIND_ITS_DEADLINE_S: Final = 120.0
"""An agent that ran out of time is stopped, killed and buried within this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnCall:
    """What a caller is told. answer: what it was told at once. view: how the agent stood when its caller had
    waited as it wished."""

    answer: Mapping[str, object]
    view: AgentView


async def spawn_and_wait(
    services: Services,
    caller: AnyCaller,
    spec: SpawnSpec,
    *,
    parent: AgentId | None = None,
    reword: Callable[[DovecoteError], None] | None = None,
) -> SpawnCall:
    """Start an agent and stay until it is as `spec.wait` wants. reword: as of `spawn_for`, whose errors it
    raises.

    The wait begins after the spawn and ends with this call, so that one who hangs up in between is not
    believed to wait for ever.
    """
    at_once = replace(spec, wait=WaitFor.NONE)
    answer = await spawn_for(services, caller, at_once, parent=parent, reword=reword)
    agent_id, timeout_ms = answer["agentId"], answer["effectiveTimeoutMs"]
    assert isinstance(agent_id, str)
    assert isinstance(timeout_ms, int)
    at_most_s = timeout_ms / 1000 + _BEHIND_ITS_DEADLINE_S
    view = await wait_for_agent(services, caller, AgentId(agent_id), spec.wait, at_most_s=at_most_s)
    return SpawnCall(answer=answer, view=view)


def spawn_response(call: SpawnCall) -> Mapping[str, object]:
    """`SpawnResponse` of seed 000, and what we know beyond it; of an agent that runs still, how it stands.

    status has no word of theirs for one that is queued; lifecycle has `pending`.
    """
    answer, view, result = call.answer, call.view, call.view.result
    told: dict[str, object] = {
        "agent_id": view.agent_id,
        "status": end_word(view.status),
        "lifecycle": view.status.value,
        "exit_code": view.exit_code,
        "output": "" if result is None else result.output,
        "duration_ms": 0 if result is None else result.duration_ms,
    }
    if result is not None and result.files_modified is not None:
        told["files_modified"] = list(result.files_modified)
    if result is not None and result.error is not None:
        told["error"] = result.error
    if result is not None and result.shared_with:
        told["shared_with"] = list(result.shared_with)
    return {
        **told,
        "quota_info": _quota(answer["quotaInfo"]),
        "tree_id": view.tree_id,
        "depth": view.depth,
        "effective_timeout_ms": answer["effectiveTimeoutMs"],
        "capped_by": answer["cappedBy"],
    }


def _quota(told: object) -> Mapping[str, object]:
    assert isinstance(told, Mapping)
    return {
        "tree_agents_remaining": told["treeAgentsRemaining"],
        "depth_remaining": told["depthRemaining"],
    }
