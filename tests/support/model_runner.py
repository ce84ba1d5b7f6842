"""A runner that treats every agent as one that runs a model, so that it has the tools of one."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.launch import LaunchPlan
from orchestrator.contracts.seams import AgentHandle, Runner


class ModelRunner:
    """Implements `Runner` around a real one."""

    def __init__(self, real: Runner) -> None:
        self._real = real
        self.name = real.name

    async def why_not(self) -> str | None:
        """As the real one."""
        return await self._real.why_not()

    async def start(self, plan: LaunchPlan) -> AgentHandle:
        """Start it as if its driver ran a model."""
        return await self._real.start(replace(plan, runs_model_commands=True))

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
