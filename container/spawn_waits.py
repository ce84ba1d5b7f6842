"""The tools of the set `spawn` wait for what follows the host's first answer: a result, an end."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from container.box_client import BoxClient, ReplyUnknown, Request
from container.spawn_answers import ENDED, RUNNING, ids_in, listed, not_spawned, spawned, stopped
from container.tool_answers import ToolAnswer, answer_of, error_of, failure
from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.ids import RequestId
from orchestrator.contracts.wire.agent_requests import GetAgentStatus, SpawnAgent, TerminateAgent
from orchestrator.contracts.wire.replies import Reply, ReplyError
from orchestrator.contracts.wire.tools import Tool

_BEHIND_ITS_DEADLINE_S: Final = 120.0
"""An agent that ran out of time is stopped, killed and buried within this."""
_GONE_WITHIN_S: Final = 60.0
_FIRST_LOOK_S: Final = 0.1
_LAST_LOOK_S: Final = 1.0
_LOST: Final = "lost"
_NO_WAIT: Final = "none"
_READY: Final = "ready"


class SpawnWaits:
    """Follows the requests of one box."""

    def __init__(self, client: BoxClient, *, reply_wait_s: float) -> None:
        self._client = client
        self._reply_wait_s = reply_wait_s

    async def answer(self, tool: Tool, request: Request, reply: Reply) -> ToolAnswer:
        """What the model is told in the end. Cancelled, it stops nobody. Raises Unavailable."""
        match request:
            case SpawnAgent() if not reply.ok:
                return not_spawned(error_of(reply))
            case SpawnAgent():
                return await self._result(request, reply.result or {})
            case GetAgentStatus() if reply.ok:
                return listed(tool, reply.result or {})
            case TerminateAgent() if reply.ok:
                result = reply.result or {}
                return stopped(tool, result, await self._ends(ids_in(result, "stopping")))
            case _:
                return answer_of(tool, reply)

    async def _result(self, request: SpawnAgent, answer: Mapping[str, object]) -> ToolAnswer:
        if request.wait == _NO_WAIT:
            return spawned(answer, {})
        agent_id, timeout_ms = str(answer.get("agentId")), answer.get("effectiveTimeoutMs")
        most_s = timeout_ms / 1000 if isinstance(timeout_ms, int) else 0.0

        def is_met(reply: Reply) -> bool:
            return request.wait == _READY or (reply.result or {}).get("status") != RUNNING

        told = await self._client.reply_when(
            RequestId(agent_id), is_met, timeout_s=most_s + _BEHIND_ITS_DEADLINE_S
        )
        if isinstance(told, ReplyUnknown):
            return failure(
                ReplyError(
                    code=ErrorCode.TIMEOUT.value,
                    message=f"Agent {agent_id} was started; its time is over, and nothing was heard of it.",
                    suggestion="Call get_agent_status with its id.",
                )
            )
        return spawned(answer, told.result or {})

    async def _ends(self, wanted: Sequence[str]) -> Mapping[str, str]:
        """How these agents stand once all have ended, or after a minute."""
        stand: Mapping[str, str] = {}
        pause_s = _FIRST_LOOK_S
        try:
            async with asyncio.timeout(_GONE_WITHIN_S):
                while wanted and not all(stand.get(each) in {*ENDED, _LOST} for each in wanted):
                    stand = await self._stand() or stand
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, _LAST_LOOK_S)
        except TimeoutError:
            pass  # what is not gone by then is told as it is
        return stand

    async def _stand(self) -> Mapping[str, str]:
        reply = await self._client.request(GetAgentStatus(), timeout_s=self._reply_wait_s)
        if isinstance(reply, ReplyUnknown) or not reply.ok:
            return {}
        agents = (reply.result or {}).get("agents")
        known = [each for each in agents if isinstance(each, Mapping)] if isinstance(agents, list) else []
        return {str(each.get("id")): str(each.get("lifecycle")) for each in known}
