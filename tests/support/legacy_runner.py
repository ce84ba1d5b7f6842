"""A runner whose agents are told apart as made before there were events, as an image without our label is."""

from collections.abc import Collection, Sequence

from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.launch import LaunchPlan
from orchestrator.contracts.seams import AgentHandle
from orchestrator.runners.process_handle import ProcessHandle
from orchestrator.runners.process_runner import ProcessRunner


class LegacyRunner:
    """Implements `Runner` around the one without walls."""

    def __init__(self, real: ProcessRunner) -> None:
        self._real = real
        self.name = real.name

    async def why_not(self) -> str | None:
        """As the real one."""
        return await self._real.why_not()

    async def start(self, plan: LaunchPlan) -> ProcessHandle:
        """Start it; only what its handle says of itself is another."""
        started = await self._real.start(plan)
        started.is_legacy = True
        return started

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
