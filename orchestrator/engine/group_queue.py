"""Who runs now: one agent a group, a bounded number of turns, nobody twice before another once."""

import asyncio
from collections.abc import Coroutine, Sequence

import structlog

from orchestrator.commands.outgoing import queue_notice
from orchestrator.commands.services import Services
from orchestrator.commands.turns import note_no_room
from orchestrator.contracts.ids import BoxName, GroupFolder, Jid
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.seams import Topic
from orchestrator.core.admission import Live, Waiting, choose
from orchestrator.core.chat.death import DeathCause
from orchestrator.core.wording import Say
from orchestrator.engine.agent_run import AgentRun
from orchestrator.engine.disk_floor import DiskFloor
from orchestrator.engine.persistence import persist
from orchestrator.engine.run_state import RunParts
from orchestrator.store import groups
from orchestrator.store.database import Transaction
from orchestrator.store.messages import WaitingChat

_log = structlog.get_logger(__name__)


class GroupQueue:
    """Holds the running agents and starts, feeds and closes them. Is the `AgentControl` of commands."""

    def __init__(self, floor: DiskFloor) -> None:
        self._floor = floor
        self._parts: RunParts | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._runs: dict[GroupFolder, AgentRun] = {}
        self._is_open = True

    async def run(self, parts: RunParts) -> None:
        """Own the runs until cancelled; a cancellation kills and buries them."""
        self._parts = parts
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            await asyncio.Event().wait()

    async def admit(self, waiting: Sequence[WaitingChat]) -> None:
        """Start, feed or close what the rules of admission say for those that wait."""
        if self._tasks is None or not self._is_open:
            return
        queue = self._services.settings.queue
        decision = choose(
            [_waiting(chat) for chat in waiting if self._can_take(GroupFolder(chat.folder))],
            [_live(run) for run in self._runs.values()],
            max_running=queue.max_running,
            max_live=queue.max_live,
        )
        for folder in decision.close:
            self._spawn(self._runs[folder].follow_ups.close(), f"close {folder}")
        for folder in decision.feed:
            self._spawn(self._runs[folder].follow_ups.feed(), f"feed {folder}")
        if not decision.start:
            return
        if await self._floor.allows_start():
            for folder in decision.start:
                await self._start(folder)
        else:
            await self._tell_no_room([chat.chat_jid for chat in waiting if chat.folder in decision.start])

    async def stop_chat(self, chat: Jid) -> bool:
        """Stop the agent that holds this chat; False if none does."""
        run = next((each for each in self._runs.values() if each.state.group.jid == chat), None)
        if run is None or not run.state.clock.is_busy:
            return False
        run.state.stop(DeathCause.STOPPED)
        return await run.over(within_s=self._services.settings.agent.stop_grace_s + 10)

    async def close_chat(self, chat: Jid) -> None:
        """Let the agent that holds this chat finish its turn and exit; the next one starts afresh."""
        run = next((each for each in self._runs.values() if each.state.group.jid == chat), None)
        if run is not None:
            await run.follow_ups.close()

    def stop_violator(self, box: BoxName, sentence: str) -> None:
        """End the agent that filled its box beyond what it may, and say so in its chat."""
        run = next((each for each in self._runs.values() if each.state.box_name == box), None)
        _log.error("box.violated", box=box, why=sentence)
        if run is not None:
            run.state.stop(DeathCause.VIOLATED)
            self._spawn(self._tell_of_violation(run), f"tell {box}")

    async def close_all(self, *, grace_s: float) -> None:
        """At a shutdown: start nothing more, let turns finish within the grace, then stop the rest."""
        self._is_open = False
        runs = list(self._runs.values())
        _log.info("queue.closing", agents=len(runs), grace_s=grace_s)
        await asyncio.gather(*(run.follow_ups.close() for run in runs))
        await asyncio.gather(*(run.over(within_s=grace_s) for run in runs))
        left = [run for run in runs if not await run.over(within_s=0)]
        if not left:
            return
        for run in left:
            run.state.stop(DeathCause.HOST)
        stop_s = self._services.settings.agent.stop_grace_s + 10
        await asyncio.gather(*(run.over(within_s=stop_s) for run in left))

    @property
    def live(self) -> tuple[AgentRun, ...]:
        """The runs that are not over."""
        return tuple(self._runs.values())

    @property
    def _services(self) -> Services:
        assert self._parts is not None
        return self._parts.services

    def _can_take(self, folder: GroupFolder) -> bool:
        run = self._runs.get(folder)
        return run is None or run.state.takes_more

    async def _start(self, folder: GroupFolder) -> None:
        if folder in self._runs:
            return
        group = await self._services.db.run(lambda tx: _group(tx, folder))
        if group is None or folder in self._runs:
            return
        assert self._parts is not None
        self._runs[folder] = run = AgentRun(self._parts, group)
        self._spawn(self._run_to_end(run), f"agent of {folder}")

    async def _tell_no_room(self, chats: Sequence[Jid]) -> None:
        services, at = self._services, self._services.clock.now()

        def body(tx: Transaction) -> None:
            for chat in chats:
                note_no_room(tx, services, chat, at=at)

        await services.db.run(body)

    async def _run_to_end(self, run: AgentRun) -> None:
        try:
            await run.run()
        finally:
            del self._runs[run.state.group.folder]
            self._services.wakeups.wake(Topic.MESSAGES)

    async def _tell_of_violation(self, run: AgentRun) -> None:
        services, state, at = self._services, run.state, self._services.clock.now()
        incident = f"violation:{state.agent_id}"
        await persist(
            services,
            lambda tx: queue_notice(
                tx, services, chat=state.group.jid, what=Say.OVER_BUDGET_BOX, incident=incident, at=at
            ),
        )

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        assert self._tasks is not None
        self._tasks.create_task(work, name=name)


def _group(tx: Transaction, folder: GroupFolder) -> Group | None:
    return groups.by_folder(tx, folder)


def _waiting(chat: WaitingChat) -> Waiting:
    return Waiting(group=GroupFolder(chat.folder), since_seq=chat.oldest_seq, last_served=chat.last_served)


def _live(run: AgentRun) -> Live:
    clock = run.state.clock
    return Live(group=run.state.group.folder, is_busy=clock.is_busy, idle_since=clock.idle_since)
