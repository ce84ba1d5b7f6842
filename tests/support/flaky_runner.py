"""A runner whose starts fail while a test wants them to."""

import asyncio
from collections.abc import Collection, Sequence

from orchestrator.contracts.errors import DovecoteError, StartFailed
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.launch import LaunchPlan
from orchestrator.contracts.seams import AgentHandle, Runner


class FlakyRunner:
    """Implements `Runner` around a real one.

    trouble: raised by every start; None lets them through. hangs: no start ever returns.
    """

    def __init__(self, real: Runner) -> None:
        self._real = real
        self.name = real.name
        self.trouble: DovecoteError | None = StartFailed("The engine is broken.")
        self.hangs = False
        self.starts = 0

    async def why_not(self) -> str | None:
        """As the real one."""
        return await self._real.why_not()

    async def start(self, plan: LaunchPlan) -> AgentHandle:
        """Hangs, or raises the trouble, if it is to."""
        self.starts += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.trouble is not None:
            raise self.trouble
        return await self._real.start(plan)

    async def adopt(self, instance_id: str, agent_id: AgentId, ref: str) -> AgentHandle | None:
        """As the real one."""
        return await self._real.adopt(instance_id, agent_id, ref)

    async def stop_leftovers(
        self,
        instance_id: str,
        refs: Sequence[tuple[AgentId, str | None]],
        *,
        spare: Collection[AgentId] = (),
    ) -> list[AgentId]:
        """As the real one."""
        return await self._real.stop_leftovers(instance_id, refs, spare=spare)

    async def close(self) -> None:
        """As the real one."""
        await self._real.close()
