"""The agents that run, and the way to them for whoever stops or feeds one."""

import asyncio
from collections import Counter
from collections.abc import Collection, Coroutine, Mapping, Sequence

import structlog

from orchestrator.commands.services import Services
from orchestrator.commands.usage.dir_budgets import note_violation
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, RunId
from orchestrator.contracts.records.agents import DeathCause, StopReach
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.spawns import StopOutcome, StopReason
from orchestrator.contracts.seams import Topic
from orchestrator.engine.adoption import Adopted
from orchestrator.engine.agent_run import AgentRun
from orchestrator.engine.agent_stops import BEYOND_GRACE_S, AgentStops
from orchestrator.engine.persistence import persist
from orchestrator.engine.run_state import RunParts
from orchestrator.engine.size_ledger import LiveGroup
from orchestrator.engine.work import Work

_log = structlog.get_logger(__name__)


class RunningAgents:
    """Every run from its start to its burial, by the key of its work. Is the `AgentControl` of commands."""

    def __init__(self) -> None:
        self._parts: RunParts | None = None
        self._tasks: asyncio.TaskGroup | None = None
        self._runs: dict[str, AgentRun] = {}
        self._being_stopped: Counter[AgentId] = Counter()
        self._is_closing = False

    async def run(self, parts: RunParts, adopted: Sequence[Adopted] = ()) -> None:
        """Own the runs until cancelled; a cancellation kills and buries them. adopted: run already."""
        self._parts = parts
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            for each in adopted:
                self._own(AgentRun(parts, each.group, each.work, adopted=each))
            await asyncio.Event().wait()

    @property
    def takes_more(self) -> bool:
        """Whether agents may be started: not before `run`, not in a shutdown."""
        return self._tasks is not None and not self._is_closing

    @property
    def by_key(self) -> Mapping[str, AgentRun]:
        """The runs that are not over, by the key of their work."""
        return self._runs

    def start(self, group: Group, work: Work) -> None:
        """Start an agent for this work, of which there is none yet."""
        assert self._parts is not None
        self._own(AgentRun(self._parts, group, work))

    def begin(self, work: Coroutine[None, None, None], name: str) -> None:
        """Do something with an agent beside all else; it is cancelled with the runs."""
        assert self._tasks is not None
        self._tasks.create_task(work, name=name)

    @property
    def live(self) -> tuple[AgentRun, ...]:
        """The runs that are not over."""
        return tuple(self._runs.values())

    @property
    def task_runs(self) -> tuple[RunId, ...]:
        """The runs of tasks for which an agent lives."""
        found = (each.state.work.task_run_id for each in self._runs.values())
        return tuple(run_id for run_id in found if run_id is not None)

    @property
    def live_groups(self) -> list[LiveGroup]:
        """The groups of the runs that are not over, with their boxes."""
        boxes: dict[GroupFolder, list[BoxName]] = {}
        for run in self._runs.values():
            boxes.setdefault(run.state.group.folder, []).append(run.state.box_name)
        return [LiveGroup(group=group, boxes=tuple(names)) for group, names in boxes.items()]

    def run_of(self, agent_id: AgentId) -> AgentRun | None:
        """The run of an agent, while there is one."""
        return next((each for each in self._runs.values() if each.state.agent_id == agent_id), None)

    async def stop_chat(self, chat: Jid) -> StopReach:
        """Stop all agents at work in this chat, those of tasks too; waits for their burial, within bounds."""
        return await self._stop(self._at_work(chat))

    async def stop_answer(self, chat: Jid) -> StopReach:
        """As `stop_chat`, but only the agent that answers the chat; tasks go on."""
        return await self._stop([each for each in self._at_work(chat) if each.state.work.takes_follow_ups])

    def _at_work(self, chat: Jid) -> list[AgentRun]:
        return [
            each for each in self._runs.values() if each.state.group.jid == chat and each.state.clock.is_busy
        ]

    async def _stop(self, runs: Sequence[AgentRun]) -> StopReach:
        for run in runs:
            run.state.stop(DeathCause.STOPPED)
        if not runs:
            return StopReach.NOTHING_RAN
        within_s = self._services.settings.agent.stop_grace_s + BEYOND_GRACE_S
        are_over = await asyncio.gather(*(run.over(within_s=within_s) for run in runs))
        return StopReach.STOPPED if all(are_over) else StopReach.SLOW

    def stop_task_runs(self, runs: Collection[RunId]) -> None:
        """Tell the agents of these runs, which the store has as stopped, to stop; does not wait for it."""
        for each in self._runs.values():
            if each.state.work.task_run_id in runs:
                each.state.stop(DeathCause.STOPPED)

    async def stop_agents(self, agents: Sequence[AgentId], reason: StopReason) -> list[StopOutcome]:
        """Stop these agents in this order, neighbours of one depth together; what came of each."""
        self._being_stopped.update(agents)
        try:
            return await AgentStops(self._services, self.run_of).stop(agents, reason)
        finally:
            self._being_stopped -= Counter(agents)

    def is_being_stopped(self, agent_id: AgentId) -> bool:
        """Whether a stop is on its way to it, which takes down first what is below it."""
        return agent_id in self._being_stopped

    def begin_stop(self, agents: Sequence[AgentId], reason: StopReason) -> None:
        """As `stop_agents`, without waiting for it."""
        self.begin(self._stop_later(agents, reason), f"stop {', '.join(agents)}")

    async def _stop_later(self, agents: Sequence[AgentId], reason: StopReason) -> None:
        for outcome in await self.stop_agents(agents, reason):
            _log.info("agent.stop_ended", agent=outcome.agent_id, verdict=outcome.verdict, why=outcome.error)

    async def request_stop(self, agent_id: AgentId) -> None:
        """Ask an agent to break off and exit; it is not killed if it does not."""
        await AgentStops(self._services, self.run_of).request(agent_id)

    def stop_violator(self, box: BoxName, sentence: str) -> None:
        """Tell the agent of a box that did what none may to stop, and its chat why. Does not wait."""
        run = next((each for each in self._runs.values() if each.state.box_name == box), None)
        _log.error("box.violated", box=box, why=sentence)
        if run is not None:
            run.state.stop(DeathCause.VIOLATED)
            self.begin(self._tell_of_violation(run, sentence), f"tell {box}")

    def stop_group(self, group: GroupFolder) -> bool:
        """Tell all agents of a group whose files take too much room to stop; False if it has none."""
        runs = [each for each in self._runs.values() if each.state.group.folder == group]
        for run in runs:
            run.state.stop(DeathCause.VIOLATED)
        return bool(runs)

    async def close_chat(self, chat: Jid) -> None:
        """Let the agent that holds this chat finish its turn and exit; the next one starts afresh."""
        runs = [each for each in self._runs.values() if each.state.group.jid == chat]
        await asyncio.gather(*(run.follow_ups.close() for run in runs))

    async def hand_over_answers(self, agent_id: AgentId) -> None:
        """Give the agent what people answered, if it still runs."""
        run = self.run_of(agent_id)
        if run is not None:
            await run.questions.hand_over()

    async def close_all(self, *, grace_s: float) -> None:
        """At a shutdown: start nothing more, let turns finish within the grace, then stop the rest."""
        self._is_closing = True
        runs = list(self._runs.values())
        _log.info("agents.closing", agents=len(runs), grace_s=grace_s)
        await asyncio.gather(*(run.follow_ups.close() for run in runs))
        await asyncio.gather(*(run.over(within_s=grace_s) for run in runs))
        left = [run for run in runs if not await run.over(within_s=0)]
        if not left:
            return
        for run in left:
            run.state.stop(DeathCause.HOST)
        stop_s = self._services.settings.agent.stop_grace_s + BEYOND_GRACE_S
        await asyncio.gather(*(run.over(within_s=stop_s) for run in left))

    @property
    def _services(self) -> Services:
        assert self._parts is not None
        return self._parts.services

    def _own(self, run: AgentRun) -> None:
        key = run.state.work.key
        self._runs[key] = run
        self.begin(self._run_to_end(run, key), f"agent of {key}")

    async def _run_to_end(self, run: AgentRun, key: str) -> None:
        try:
            await run.run()
        finally:
            del self._runs[key]
            self._services.wakeups.wake(Topic.WORK)
            self._services.wakeups.wake(Topic.AGENTS)

    async def _tell_of_violation(self, run: AgentRun, sentence: str) -> None:
        services, state, at = self._services, run.state, self._services.clock.now()
        await persist(
            services, lambda tx: note_violation(tx, services, state.group, state.agent_id, sentence, at=at)
        )
