"""Looks after spawned agents beside their runs: who waits, who is told, whose parent is gone.

Woken by every change; once a minute it looks for what no event told of. Source: agents.md section 2.
"""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from orchestrator.commands.running.burial import bury
from orchestrator.commands.running.reserved import LOST, end_unwanted
from orchestrator.commands.running.stopping import note_request, stop_cascade
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_replies import due_replies
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.errors import DovecoteError, Unavailable
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.agents import Agent, AgentStatus
from orchestrator.contracts.records.spawns import OnParentExit, SpawnRecord, StopReason
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.replies import Reply
from orchestrator.core.agents.lineage import orphans
from orchestrator.engine.running_agents import RunningAgents
from orchestrator.store import agents, lineage, spawns, waits
from orchestrator.store.restarts import left_by_restarts
from orchestrator.store.transaction import Transaction

_log = structlog.get_logger(__name__)
SWEEP_S: Final = 60.0
"""At least so often it is to look though no event told of anything."""
_AGAIN_S: Final = 1.0
_LOST_AFTER_S: Final = 60.0
"""So long nothing of an agent has been seen here whose record says that it lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Orphan:
    """An agent whose parent is gone, or begins again without it. reason: why it is stopped, if it is."""

    agent: Agent
    spawn: SpawnRecord
    reason: StopReason


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sight:
    """How things stand. waiters: who is held. parents: who has children that have not ended."""

    waiters: frozenset[AgentId]
    parents: frozenset[AgentId]
    live: tuple[Agent, ...]
    stopping: tuple[Agent, ...]
    orphans: tuple[_Orphan, ...]
    replies: tuple[tuple[SpawnRecord, Reply], ...]
    next_at: datetime | None


class Supervisor:
    """Runs until cancelled. sweep_s: how often it looks though nothing told of a change."""

    def __init__(self, services: Services, agents: RunningAgents, *, sweep_s: float) -> None:
        self._services = services
        self._agents = agents
        self._sweep_s = sweep_s
        self._asked: set[AgentId] = set()
        self._unseen_since: dict[AgentId, float] = {}
        self._stopping: set[AgentId] = set()
        self._begun_at = services.clock.now()

    async def run(self) -> None:
        """Look, act, wait for a change; until cancelled."""
        listener = self._services.wakeups.listen(Topic.AGENTS)
        async with asyncio.TaskGroup() as tasks:
            while True:
                try:
                    wait_s = await self._look(tasks)
                except Unavailable as error:
                    _log.error("supervisor.store_unavailable", error=error.message)
                    wait_s = _AGAIN_S
                await listener.wait(at_most_s=wait_s)

    async def _look(self, tasks: asyncio.TaskGroup) -> float:
        """One look; after so many seconds the next one is due."""
        services = self._services
        sight = await services.db.run(self._see)
        await self._give_up_lost(sight.live)
        self._set_clocks(sight)
        self._stop_untold(sight.stopping, tasks)
        for spawn, reply in sight.replies:
            await self._tell(spawn, reply)
        for orphan in sight.orphans:
            await self._part(orphan, tasks)
        self._asked &= {orphan.agent.agent_id for orphan in sight.orphans}
        if sight.next_at is None:
            return self._sweep_s
        left = (sight.next_at - services.clock.now()).total_seconds()
        return min(max(left, 0.0), self._sweep_s)

    def _see(self, tx: Transaction) -> _Sight:
        next_at = end_unwanted(tx, self._services, at=self._services.clock.now())
        unended = lineage.unended(tx)
        left = set(orphans({each.agent_id: each.parent_agent_id for each in unended}, _ids(unended)))
        left |= left_by_restarts(tx)
        records = spawns.some(tx, left) if left else {}
        return _Sight(
            waiters=frozenset(wait.waiter for wait in waits.all_waits(tx)),
            parents=frozenset(each.parent_agent_id for each in unended if each.parent_agent_id is not None),
            live=tuple(each for each in unended if each.status is not AgentStatus.PENDING),
            stopping=tuple(each for each in unended if each.status is AgentStatus.STOPPING),
            orphans=tuple(
                _Orphan(agent=each, spawn=records[each.agent_id], reason=self._reason(tx, each))
                for each in unended
                if each.agent_id in records
            ),
            replies=tuple(due_replies(tx)),
            next_at=next_at,
        )

    def _reason(self, tx: Transaction, orphan: Agent) -> StopReason:
        """It goes by cascade when its parent ended or began again just now; else nothing had told of that."""
        assert orphan.parent_agent_id is not None
        parent = agents.get(tx, orphan.parent_agent_id)
        if parent is not None and parent.ended_at is None:
            return StopReason.CASCADE
        ended_at = None if parent is None else parent.ended_at
        longest = timedelta(seconds=SWEEP_S)
        if ended_at is None or ended_at < self._begun_at or self._services.clock.now() - ended_at > longest:
            return StopReason.ORPHAN_CLEANUP
        return StopReason.CASCADE

    def _set_clocks(self, sight: _Sight) -> None:
        """Who waits for an agent lends its running slot, and its clocks stand still."""
        for run in self._agents.live:
            state, now_s = run.state, run.state.now_s()
            was_held, had_children = state.clock.is_held, state.clock.has_children
            state.clock.set_awaits_agent(now_s, awaits=state.agent_id in sight.waiters)
            state.clock.set_children(now_s, live=state.agent_id in sight.parents)
            if (was_held, had_children) != (state.clock.is_held, state.clock.has_children):
                state.changed.set()
                self._services.wakeups.wake(Topic.WORK)

    async def _give_up_lost(self, live: Sequence[Agent]) -> None:
        """Records that say that an agent lives of which there is no run, as after a burial that failed."""
        now_s, at = self._services.clock.monotonic(), self._services.clock.now()
        unseen = {each.agent_id for each in live if self._agents.run_of(each.agent_id) is None}
        self._unseen_since = {each: self._unseen_since.get(each, now_s) for each in unseen}
        for agent_id in unseen:
            if now_s - self._unseen_since[agent_id] < _LOST_AFTER_S:
                continue
            _log.error(
                "agent.lost", agent=agent_id, suggestion="Look for what is left of it: dovecote doctor"
            )
            await self._services.db.run(partial(self._bury_lost, agent_id=agent_id, at=at))

    def _bury_lost(self, tx: Transaction, *, agent_id: AgentId, at: datetime) -> None:
        bury(tx, self._services, agent_id, LOST, at=at)

    def _stop_untold(self, stopping: Sequence[Agent], tasks: asyncio.TaskGroup) -> None:
        """Those whose records say that they are to stop, and whom nobody has told: the deepest first."""
        wanted = [each for each in stopping if each.agent_id not in self._asked and self._is_untold(each)]
        if wanted:
            order = [each.agent_id for each in sorted(wanted, key=lambda each: -each.depth)]
            reason = StopReason.MANUAL
            tasks.create_task(self._stop_told(order, reason), name=f"stop {len(order)} agents")

    def _is_untold(self, agent: Agent) -> bool:
        run = self._agents.run_of(agent.agent_id)
        is_told = agent.agent_id in self._stopping or self._agents.is_being_stopped(agent.agent_id)
        return run is not None and run.state.stop_cause is None and not is_told

    async def _stop_told(self, order: Sequence[AgentId], reason: StopReason) -> None:
        self._stopping.update(order)
        try:
            await self._agents.stop_agents(order, reason)
        finally:
            self._stopping.difference_update(order)

    async def _tell(self, spawn: SpawnRecord, reply: Reply) -> None:
        """Write how a child stands into its parent's box."""
        parent = None if spawn.parent_agent_id is None else self._agents.run_of(spawn.parent_agent_id)
        if parent is None or parent.state.box is None:
            return
        try:
            await parent.state.box.write_reply(reply)
        except (OSError, DovecoteError) as error:  # its box is gone or full: the next look tries again
            parent.state.log.warning("reply.not_written", child=spawn.agent_id, error=str(error))
            return
        await self._services.db.run(lambda tx: spawns.set_reply_due(tx, spawn.agent_id, is_due=False))

    async def _part(self, orphan: _Orphan, tasks: asyncio.TaskGroup) -> None:
        """What was agreed for the end of its parent."""
        agent_id = orphan.agent.agent_id
        match orphan.spawn.on_parent_exit:
            case OnParentExit.DETACH:
                return
            case OnParentExit.REQUEST_STOP:
                await self._request(orphan.agent, orphan.reason)
            case OnParentExit.STOP if agent_id not in self._stopping:
                self._stopping.add(agent_id)
                tasks.create_task(self._stop_surely(agent_id, orphan.reason), name=f"stop {agent_id}")

    async def _request(self, agent: Agent, reason: StopReason) -> None:
        """Once: interrupt and close, no kill."""
        if agent.agent_id in self._asked:
            return
        self._asked.add(agent.agent_id)
        await self._services.db.run(lambda tx: note_request(tx, agent.agent_id, reason))
        await self._agents.request_stop(agent.agent_id)

    async def _stop_surely(self, agent_id: AgentId, reason: StopReason) -> None:
        """What could not be stopped now, the next sweep meets again."""
        try:
            outcome = await stop_cascade(self._services, HostCaller(), agent_id, reason)
            _log.info("orphan.stopped", agent=agent_id, reason=reason.value, outcome=str(outcome))
        except DovecoteError as error:
            _log.warning("orphan.not_stopped", agent=agent_id, error=error.message)
        finally:
            self._stopping.discard(agent_id)


def _ids(found: Collection[Agent]) -> set[AgentId]:
    return {each.agent_id for each in found}
