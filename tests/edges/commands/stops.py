"""A bench for stops: a family of agents, and an engine that does what it is told."""

from orchestrator.commands.running.stopping import stop_cascade
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import CascadeOutcome, StopReason
from orchestrator.core.states.agent import AgentEventKind
from tests.edges.commands.conftest import Desk
from tests.edges.commands.spawn_bench import SpawnBench, open_bench


async def open_stop_bench(desk: Desk) -> SpawnBench:
    """What the engine is told to stop is dead, unless it is immortal."""
    made = await open_bench(desk)
    made.set(max_depth=10)

    async def bury(agent_id: AgentId) -> None:
        await made.end(agent_id, AgentEventKind.ENDED_BADLY, code=143)

    desk.control.bury = bury
    return made


async def stop(
    bench: SpawnBench, agent_id: AgentId, reason: StopReason = StopReason.MANUAL
) -> CascadeOutcome:
    """As the operator asks for it."""
    return await stop_cascade(bench.desk.services, OperatorCaller(), agent_id, reason)


async def family(bench: SpawnBench) -> tuple[AgentId, AgentId, AgentId]:
    """A child, its child, and one more below that which was not started yet."""
    lead = await bench.started("lead")
    helper = await bench.started("help", by=lead)
    return lead.agent_id, helper.agent_id, await bench.spawn("wait", by=helper)
