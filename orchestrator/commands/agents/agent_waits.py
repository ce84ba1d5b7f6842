"""Waiting for an agent: to be ready, or to have ended. A timeout is a value. Source: agents.md section 2."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from orchestrator.commands.agents.agent_sight import seen_agent
from orchestrator.commands.agents.agent_views import agent_views
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller, AnyCaller
from orchestrator.contracts.errors import Conflict, ErrorCode, Unavailable
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.records.spawns import AgentView, WaitFor
from orchestrator.contracts.seams import Listener, Topic
from orchestrator.core.agents.waits import closes_cycle
from orchestrator.store import agents, waits
from orchestrator.store.transaction import Transaction
from orchestrator.store.waits import Wait

_LOOK_AGAIN_S: Final = 5.0
_NOT_READY: Final = frozenset({AgentStatus.PENDING, AgentStatus.STARTING})
_LIVE: Final = frozenset({*_NOT_READY, AgentStatus.RUNNING, AgentStatus.STOPPING})


async def wait_for_agent(
    services: Services,
    caller: AnyCaller,
    agent_id: AgentId,
    want: WaitFor,
    *,
    at_most_s: float,
) -> AgentView:
    """How the agent stands once it is as wanted, or when the time is over.

    An agent that waits lends its running slot. Raises NotFound, and Conflict for a wait that would close a
    circle of agents that wait for each other.
    """
    listener = services.wakeups.listen(Topic.AGENTS)
    if not isinstance(caller, AgentCaller):
        return await _held(services, caller, agent_id, want, listener, at_most_s=at_most_s)
    async with _remembered(services, caller, agent_id, want):
        return await _held(services, caller, agent_id, want, listener, at_most_s=at_most_s)


@contextlib.asynccontextmanager
async def _remembered(
    services: Services, caller: AgentCaller, agent_id: AgentId, want: WaitFor
) -> AsyncIterator[None]:
    """The store knows of the wait while the block runs. Raises NotFound, Conflict."""

    async def forget() -> None:
        # A store that is away does not keep the answer back; the end of its turn ends the wait at the latest.
        with contextlib.suppress(Unavailable):
            await services.db.run(lambda tx: _end(tx, caller.agent_id, agent_id))

    try:
        await services.db.run(lambda tx: _begin(tx, services, caller, agent_id, want))
    except asyncio.CancelledError:
        await forget()  # what was under way is done all the same
        raise
    try:
        yield
    finally:
        await forget()


async def _held(
    services: Services,
    caller: AnyCaller,
    agent_id: AgentId,
    want: WaitFor,
    listener: Listener,
    *,
    at_most_s: float,
) -> AgentView:
    until_s = services.clock.monotonic() + at_most_s
    while True:
        (view,) = await agent_views(services, caller, agent_id)
        left_s = until_s - services.clock.monotonic()
        if is_met(view.status, want) or left_s <= 0:
            return view
        await listener.wait(at_most_s=min(left_s, _LOOK_AGAIN_S))


def is_met(status: AgentStatus, want: WaitFor) -> bool:
    """Whether an agent that stands so is as wanted."""
    match want:
        case WaitFor.NONE:
            return True
        case WaitFor.READY:
            return status not in _NOT_READY
        case WaitFor.RESULT:
            return status not in _LIVE


def _begin(
    tx: Transaction, services: Services, caller: AgentCaller, agent_id: AgentId, want: WaitFor
) -> None:
    awaited = seen_agent(tx, caller, agent_id)
    if is_met(awaited.status, want):
        return
    edges = [(wait.waiter, wait.awaited) for wait in waits.all_waits(tx)]
    circle = closes_cycle(edges, (caller.agent_id, awaited.agent_id))
    if circle:
        raise would_deadlock(circle)
    waiter = agents.get(tx, caller.agent_id)
    if waiter is None or waiter.ended_at is not None:
        return  # nobody is left whose slot could be lent
    wait = Wait(waiter=caller.agent_id, awaited=awaited.agent_id, wanted=want)
    waits.add(tx, wait, at=services.clock.now())
    tx.wake(Topic.AGENTS)


def _end(tx: Transaction, waiter: AgentId, awaited: AgentId) -> None:
    waits.drop(tx, waiter, awaited)
    tx.wake(Topic.AGENTS)


def would_deadlock(circle: tuple[AgentId, ...]) -> Conflict:
    """The error for a wait that nothing could ever end."""
    return Conflict(
        f"This wait would close a circle: {' waits for '.join(circle)}.",
        code=ErrorCode.WOULD_DEADLOCK,
        suggestion="Go on without waiting, or end your turn.",
        details={"path": list(circle)},
    )
