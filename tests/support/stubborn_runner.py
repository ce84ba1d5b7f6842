"""A runner whose agents can't be asked to stop: the engine refuses."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence

from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import ExitStatus
from orchestrator.contracts.records.launch import LaunchPlan
from orchestrator.contracts.seams import AgentHandle, Runner


class StubbornRunner:
    """Implements `Runner` around a real one. refusals: how many kills are refused too."""

    def __init__(self, real: Runner, *, refusals: int = 0) -> None:
        self._real = real
        self._refusals = refusals
        self.name = real.name

    async def why_not(self) -> str | None:
        """As the real one."""
        return await self._real.why_not()

    async def start(self, plan: LaunchPlan) -> AgentHandle:
        """An agent that only a kill ends."""
        return StubbornHandle(await self._real.start(plan), refusals=self._refusals)

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


class StubbornHandle:
    """Implements `AgentHandle` around a real one; what stops it is refused."""

    def __init__(self, real: AgentHandle, *, refusals: int) -> None:
        self._real = real
        self._refusals = refusals

    @property
    def process_ref(self) -> str:
        """As the real one."""
        return self._real.process_ref

    @property
    def is_legacy(self) -> bool:
        """As the real one."""
        return self._real.is_legacy

    async def check_walls(self, reported: Mapping[str, str]) -> None:
        """As the real one."""
        await self._real.check_walls(reported)

    async def write_input(self, line: bytes) -> None:
        """As the real one."""
        await self._real.write_input(line)

    def output(self) -> AsyncIterator[bytes]:
        """As the real one."""
        return self._real.output()

    def log_output(self) -> AsyncIterator[bytes]:
        """As the real one."""
        return self._real.log_output()

    async def wait(self) -> ExitStatus:
        """As the real one."""
        return await self._real.wait()

    async def terminate(self) -> None:
        """Refused, always."""
        raise Unavailable("The engine refuses to stop it.", code=ErrorCode.RUNNER_UNAVAILABLE)

    async def kill(self) -> None:
        """Refused the first times."""
        if self._refusals > 0:
            self._refusals -= 1
            raise Unavailable("The engine refuses to kill it.", code=ErrorCode.RUNNER_UNAVAILABLE)
        await self._real.kill()

    async def is_gone(self) -> bool:
        """As the real one."""
        return await self._real.is_gone()

    async def close(self) -> None:
        """As the real one."""
        await self._real.close()
