"""Who of those that wait goes next: a bounded number of agents, nobody twice before another once.

One agent a chat; isolated runs of tasks and spawned agents run beside it.
"""

from collections.abc import Mapping, Sequence

from orchestrator.commands.running.holds import note_no_room
from orchestrator.commands.running.waiting import WaitingWork
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.agents import QueueReason
from orchestrator.core.admission import Live, Waiting, choose
from orchestrator.engine.agent_run import AgentRun
from orchestrator.engine.child_work import ChildWork
from orchestrator.engine.disk_floor import DiskFloor
from orchestrator.engine.running_agents import RunningAgents
from orchestrator.engine.size_ledger import SizeLedger
from orchestrator.engine.work import ChatWork, TaskWork, Work
from orchestrator.store.transaction import Transaction


class GroupQueue:
    """The queue of work for agents. Its entries are rows of the store; who runs is in it no more."""

    def __init__(
        self, services: Services, agents: RunningAgents, *, floor: DiskFloor, ledger: SizeLedger
    ) -> None:
        self._services = services
        self._agents = agents
        self._floor = floor
        self._ledger = ledger

    async def admit(self, waiting: Sequence[WaitingWork]) -> None:
        """Start, feed or close what the rules of admission say for those that wait."""
        if not self._agents.takes_more:
            return
        queue = self._services.settings.queue
        works = {work.key: work for work in waiting if self._can_take(work)}
        decision = choose(
            [_waiting(work) for work in works.values()],
            [_live(run) for run in self._agents.live],
            max_running=queue.max_running,
            max_live=queue.max_live,
        )
        for key in decision.close:
            self._close(self._agents.by_key[key], f"close {key}")
        for key in decision.feed:
            self._feed_or_send_home(self._agents.by_key[key], works[key])
        has_room = not decision.start or await self._floor.allows_start()
        held = dict(decision.held)
        if not has_room:
            held |= dict.fromkeys(decision.start, QueueReason.DISK_FULL)
        self._note_held(waiting, works, held)
        if has_room:
            for key in decision.start:
                self._agents.start(works[key].group, _work(self._services, works[key]))
        else:
            await self._tell_no_room([works[key].group.jid for key in decision.start])

    def _note_held(
        self,
        waiting: Sequence[WaitingWork],
        works: Mapping[str, WaitingWork],
        held: Mapping[str, QueueReason],
    ) -> None:
        """For whoever asks why an agent is not started. works: what of them the files leave room for."""
        noted = self._services.queued_by
        noted.clear()
        for work in waiting:
            why = held.get(work.key) if work.key in works else QueueReason.GROUP_FULL
            is_being_started = work.key in self._agents.by_key
            if work.spawned is not None and why is not None and not is_being_started:
                noted[work.spawned.agent.agent_id] = why

    def _feed_or_send_home(self, run: AgentRun, work: WaitingWork) -> None:
        """Where an agent lives in the box that work waits for: messages are fed to it; for a task it is sent
        home once it is idle, since that gets an agent of its own."""
        if work.spawned is not None:
            return  # it runs already
        if work.task is None:
            self._agents.begin(run.follow_ups.feed(), f"feed {work.key}")
        elif not run.state.clock.is_busy:
            self._close(run, f"close {work.key} for a task")

    def _close(self, run: AgentRun, name: str) -> None:
        self._agents.begin(run.follow_ups.close(), name)

    def _can_take(self, work: WaitingWork) -> bool:
        run = self._agents.by_key.get(work.key)
        return not self._ledger.is_full(work.group.folder) if run is None else run.state.takes_more

    async def _tell_no_room(self, chats: Sequence[Jid]) -> None:
        services, at = self._services, self._services.clock.now()

        def body(tx: Transaction) -> None:
            for chat in chats:
                note_no_room(tx, services, chat, at=at)

        await services.db.run(body)


def _work(services: Services, waiting: WaitingWork) -> Work:
    if waiting.spawned is not None:
        return ChildWork(services=services, group=waiting.group, spawned=waiting.spawned)
    if waiting.task is None or waiting.run_id is None:
        return ChatWork(services=services, group=waiting.group)
    return TaskWork(services=services, group=waiting.group, task=waiting.task, run_id=waiting.run_id)


def _waiting(work: WaitingWork) -> Waiting:
    return Waiting(
        key=work.key,
        since_seq=work.since,
        last_served=work.last_served,
        tree=None if work.spawned is None else work.spawned.agent.tree_id,
    )


def _live(run: AgentRun) -> Live:
    clock = run.state.clock
    return Live(
        key=run.state.work.key,
        is_busy=clock.is_busy,
        idle_since=clock.idle_since,
        is_held=clock.is_held,
        has_children=clock.has_children,
        tree=run.state.identity.tree_id,
    )
