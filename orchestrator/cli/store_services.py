"""The store of a home in which no orchestrator runs, opened for commands under the home's lock."""

import contextlib
import os
from collections.abc import AsyncIterator, Sequence

from orchestrator.app.parts import NoCheckpoints, SystemClock
from orchestrator.cli.home import Home
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, Jid
from orchestrator.contracts.records.agents import StopReach
from orchestrator.contracts.records.spawns import StopOutcome, StopReason, StopVerdict
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.store.database import Database
from orchestrator.store.instance_lock import InstanceLock
from orchestrator.store.secret_values import SecretKeeper


class NoAgents:
    """Where no orchestrator runs, no agent does."""

    async def close_chat(self, chat: Jid) -> None:
        """No agent runs here."""

    async def hand_over_answers(self, agent_id: AgentId) -> None:
        """No agent waits here."""

    async def stop_answer(self, chat: Jid) -> StopReach:
        """There is none to stop."""
        return StopReach.NOTHING_RAN

    async def stop_chat(self, chat: Jid) -> StopReach:
        """There is none to stop."""
        return StopReach.NOTHING_RAN

    async def stop_agents(self, agents: Sequence[AgentId], reason: StopReason) -> list[StopOutcome]:
        """Whether one runs that an earlier process left, only a start of the orchestrator finds out."""
        why = "No orchestrator runs here; its next start ends what was left."
        return [StopOutcome(agent_id=each, verdict=StopVerdict.FAILED, error=why) for each in agents]

    def begin_stop(self, agents: Sequence[AgentId], reason: StopReason) -> None:
        """No agent runs here."""


@contextlib.asynccontextmanager
async def open_store_services(home: Home) -> AsyncIterator[Services]:
    """What commands need, while the lock is held. Raises DovecoteError when another process has it."""
    paths = home.paths
    with InstanceLock.acquire(paths.lock, pid=os.getpid()):
        wakeups = TopicWakeups()
        async with contextlib.AsyncExitStack() as stack:
            database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
            stack.push_async_callback(database.close)
            yield Services(
                db=database,
                clock=SystemClock(),
                wakeups=wakeups,
                checkpoints=NoCheckpoints(),
                settings=home.settings,
                paths=paths,
                text_limit=lambda _: 0,
                control=NoAgents(),
                secrets=SecretKeeper(paths.secrets, environment=os.environ),
            )
