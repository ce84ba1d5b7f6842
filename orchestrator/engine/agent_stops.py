"""Stopping single agents, and what really came of it: only what was looked up to be gone counts as gone."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

from orchestrator.commands.services import Services
from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import DeathCause
from orchestrator.contracts.records.spawns import StopOutcome, StopReason, StopVerdict
from orchestrator.engine.agent_run import AgentRun
from orchestrator.store import agents
from orchestrator.store.transaction import Transaction

BEYOND_GRACE_S: Final = 10.0
_NOT_YET: Final = "It was told to stop and is not gone yet."
_NOT_DEAD: Final = "It was killed and is not gone. Find it and kill it: dovecote doctor"
_NOBODYS: Final = "It is said to live, but no process of it is known here."


class AgentStops:
    """The engine's side of a stop. find: the run of an agent, while there is one.

    beyond_grace_s: how long a kill may take.
    """

    def __init__(
        self,
        services: Services,
        find: Callable[[AgentId], AgentRun | None],
        *,
        beyond_grace_s: float = BEYOND_GRACE_S,
    ) -> None:
        self._services = services
        self._find = find
        self._within_s = services.settings.agent.stop_grace_s + beyond_grace_s

    async def stop(self, agent_ids: Sequence[AgentId], reason: StopReason) -> list[StopOutcome]:
        """Stop these agents in this order: neighbours of one depth together, the others one after another."""
        outcomes: list[StopOutcome] = []
        for _, together in groupby(agent_ids, key=self._depth):
            outcomes += await asyncio.gather(*(self._stop(agent_id, reason) for agent_id in together))
        return outcomes

    async def request(self, agent_id: AgentId) -> None:
        """Ask an agent to break off its turn and to exit; it is not killed if it does not."""
        run = self._find(agent_id)
        if run is None:
            return
        await run.follow_ups.close()
        if run.state.handle is not None:
            with contextlib.suppress(StartFailed, Unavailable):  # its deadline ends it at the latest
                await run.state.handle.terminate()

    def _depth(self, agent_id: AgentId) -> int:
        run = self._find(agent_id)
        return 0 if run is None or run.state.spawned is None else run.state.spawned.agent.depth

    async def _stop(self, agent_id: AgentId, reason: StopReason) -> StopOutcome:
        run = self._find(agent_id)
        if run is None:
            return await self._without_run(agent_id)
        ran_out = reason is StopReason.TIMEOUT
        run.state.stop(DeathCause.TIMED_OUT if ran_out else DeathCause.STOPPED)
        if not await run.over(within_s=self._within_s):
            why = run.state.kill_error
            return _failed(agent_id, _NOT_YET if why is None else f"{_NOT_YET} {why}")
        if not run.state.is_dead:
            return _failed(agent_id, _NOT_DEAD)
        return StopOutcome(agent_id=agent_id, verdict=StopVerdict.TERMINATED)

    async def _without_run(self, agent_id: AgentId) -> StopOutcome:
        def body(tx: Transaction) -> bool:
            agent = agents.get(tx, agent_id)
            return agent is None or agent.ended_at is not None

        try:
            has_ended = await self._services.db.run(body)
        except Unavailable as error:
            return _failed(agent_id, error.message)
        if has_ended:
            return StopOutcome(agent_id=agent_id, verdict=StopVerdict.SKIPPED)
        return _failed(agent_id, _NOBODYS)


def _failed(agent_id: AgentId, error: str) -> StopOutcome:
    return StopOutcome(agent_id=agent_id, verdict=StopVerdict.FAILED, error=error)
