"""One running agent, from its first message to its burial."""

import asyncio
import contextlib
from typing import Any, Final

from orchestrator.commands.agents.event_writing import note_started
from orchestrator.commands.running.holds import note_good_start
from orchestrator.commands.setup.definitions import definition_of, provider_name_of
from orchestrator.commands.spawning.spawn_replies import note_ready
from orchestrator.contracts.errors import DovecoteError, InvalidSettings, StartFailed, Unavailable
from orchestrator.contracts.ids import TurnId, new_id
from orchestrator.contracts.records.agents import Agent, AgentKind, DeathCause, ExitStatus
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.seams import AgentHandle
from orchestrator.contracts.wire.container_io import PROTOCOL, Ready, TurnEnded
from orchestrator.contracts.wire.framing import OutputReader
from orchestrator.core.agents.rights import permissions_of_root
from orchestrator.core.agents.unstartable import how_to_mend_start
from orchestrator.core.states.agent import AGENT, AgentEventKind
from orchestrator.engine.adoption import Adopted, says_ready
from orchestrator.engine.agent_log import AgentLogFile
from orchestrator.engine.follow_ups import FollowUps
from orchestrator.engine.legacy_collector import LegacyCollector
from orchestrator.engine.log_events import LogEvents
from orchestrator.engine.output_rate import OutputRate
from orchestrator.engine.pair_keeping import keep_for_chat, keep_for_result
from orchestrator.engine.persistence import persist
from orchestrator.engine.questions import RunQuestions
from orchestrator.engine.run_end import bury_run
from orchestrator.engine.run_launch import RunLaunch
from orchestrator.engine.run_minder import RunMinder
from orchestrator.engine.run_state import Phase, RunParts, RunState
from orchestrator.engine.shielding import finish
from orchestrator.engine.snapshots import RunSnapshots
from orchestrator.engine.start_limit import StartLimit
from orchestrator.engine.turn_collector import RunCallbacks, TurnCollector
from orchestrator.engine.work import FirstInput, Work
from orchestrator.store import agents
from orchestrator.store.transaction import Transaction

_OUTPUT_AFTER_EXIT_S: Final = 10.0
_BURIAL_WITHIN_S: Final = 30.0


class AgentRun:
    """One agent, for a group's chat, a run of a task or a spawn. `run` returns when it is dead and buried.

    adopted: it runs already, since an earlier process.
    """

    def __init__(self, parts: RunParts, group: Group, work: Work, *, adopted: Adopted | None = None) -> None:
        self.state = RunState(
            parts, group, work, agent_id=None if adopted is None else adopted.agent.agent_id
        )
        self._adopted = adopted
        self.follow_ups = FollowUps(self.state)
        self.snapshots = RunSnapshots(self.state)
        self.questions = RunQuestions(self.state)
        self._services = parts.services
        self._begun_s = self.state.now_s()
        self._legacy: LegacyCollector | None = None
        self._caught_up = asyncio.Event()
        self._ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        settings, path = self._services.settings, self._services.paths.logs / "agents" / self.state.log_name
        self._agent_log = AgentLogFile(path, max_bytes=settings.logs.max_bytes, keep=settings.logs.keep)
        self._start_limit = StartLimit(group.folder, limit_s=settings.agent.start_timeout_s, logs=path)
        ipc = settings.ipc
        self._rate = OutputRate(self._services.clock, per_minute=ipc.rate_per_minute, burst=ipc.burst)

    async def over(self, *, within_s: float) -> bool:
        """Wait until it is dead and buried; False when the time ran out first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._over.wait()
        return self._over.is_set()

    async def run(self) -> None:
        """Claim what waits, start, work, end. Raises nothing but cancellation and faults of ours."""
        if self._adopted is not None:
            await self._take_over(self._adopted)
            return
        turn_id = TurnId(new_id("turn"))
        try:
            first = await self._claim(turn_id)
        except Unavailable as error:
            self.state.log.error("start.store_unavailable", error=error.message)
            first = None
        if first is None:
            self._over.set()
            return
        self._services.checkpoints.reached("batch.dispatched")
        self.state.log.info("agent.starting", messages=len(first.ids), runner=self.state.parts.runner.name)
        exit_status: ExitStatus | None = None
        try:
            await self.state.set_typing(is_typing=True)
            exit_status = await self._live(first, turn_id)
        except (StartFailed, Unavailable) as error:
            self._note_failed_start(error)
        finally:
            self.state.phase = Phase.OVER
            await finish(self._end(exit_status), within_s=_BURIAL_WITHIN_S, what="burial of an agent")

    async def _take_over(self, adopted: Adopted) -> None:
        """Go on with an agent that outlived who started it; what it said before is passed over."""
        state, exit_status = self.state, None
        state.handle, state.has_taken_input = adopted.handle, True
        try:
            await self._provider()
            await RunLaunch(state, self.snapshots, self._start_limit).take_over(adopted.box)
            await state.set_typing(is_typing=True)
            exit_status = await self._attend(adopted.handle, TurnId(new_id("turn")), first_input=None)
        except (StartFailed, Unavailable) as error:
            state.stop(DeathCause.ORCHESTRATOR)
            self._note_failed_start(error)
        finally:
            state.phase = Phase.OVER
            await finish(self._end(exit_status), within_s=_BURIAL_WITHIN_S, what="burial of an agent")

    async def _claim(self, turn_id: TurnId) -> FirstInput | None:
        """In one transaction: the agent's record, and what is now its own."""
        state, services = self.state, self._services
        provider, at = await self._provider(), services.clock.now()
        agent = Agent(
            agent_id=state.agent_id,
            tree_id=state.identity.tree_id,
            group=state.group.folder,
            chat_jid=state.group.jid,
            box=state.box_name,
            runner=state.parts.runner.name,
            provider=provider,
            status=AGENT.after(AGENT.start, AgentEventKind.CLAIMED),
            is_main=state.group.is_main,
            kind=AgentKind.SESSION if state.work.takes_follow_ups else AgentKind.JOB,
            started_at=at,
            rights=state.work.rights,
            task_run_id=state.work.task_run_id,
            permissions=permissions_of_root(state.definition),
        )

        return await services.db.run(lambda tx: state.work.claim(tx, agent, turn_id))

    async def _provider(self) -> str:
        """Look at how the agent is defined now. What is wrong with that fails the start later, once the
        messages are its own."""
        state = self.state
        try:
            state.definition = await definition_of(
                self._services, state.group, has_walls=state.parts.has_walls
            )
        except InvalidSettings as error:
            state.misconfigured = str(error)
            return await provider_name_of(self._services, state.group)
        return state.definition.provider.name

    async def _live(self, first: FirstInput, turn_id: TurnId) -> ExitStatus | None:
        """Start it and take what it says until it is gone; None if nobody can say how it ended."""
        state, services = self.state, self._services
        self._start_limit.begin()
        line = await RunLaunch(state, self.snapshots, self._start_limit).launch(first, turn_id)
        handle = state.handle
        assert handle is not None
        await persist(
            services,
            lambda tx: agents.set_process(tx, state.agent_id, handle.process_ref, is_legacy=handle.is_legacy),
        )
        services.checkpoints.reached("agent.started")
        return await self._attend(handle, turn_id, first_input=line)

    async def _attend(
        self, handle: AgentHandle, turn_id: TurnId, *, first_input: bytes | None
    ) -> ExitStatus | None:
        """Give it its input, and take what it says until it is gone. first_input: None of one that has it."""
        state = self.state
        # Before anything is read or written: a legacy agent's input begins its first turn.
        collector = await self._collector(handle, turn_id)
        minder = RunMinder(
            state,
            handle,
            close=self.follow_ups.close,
            expire_questions=self.questions.expire,
            caught_up=self._caught_up if first_input is None else None,
        )
        async with asyncio.TaskGroup() as tasks:
            heard = collector.log
            draining = self._agent_log.drain(
                handle.log_output(), new=heard.new_error_lines, also=heard.note_error_lines
            )
            logging = tasks.create_task(draining, name="agent log")
            minding = tasks.create_task(minder.run(), name="agent clock")
            reading = tasks.create_task(self._read(handle, collector), name="agent output")
            try:
                if first_input is None:
                    await self.follow_ups.open()
                else:
                    await self._open(handle, first_input=first_input, reading=reading)
            except (StartFailed, Unavailable) as error:
                self._note_failed_start(error)
                with contextlib.suppress(Unavailable):  # its burial tries again
                    await handle.kill()
            status = await self._wait_for_end(handle, reading)
            minding.cancel()
            await asyncio.wait({logging}, timeout=1.0)
            logging.cancel()
        return status

    async def _open(self, handle: AgentHandle, *, first_input: bytes, reading: "asyncio.Task[None]") -> None:
        """Hear that it is ready, check its walls, give it its input."""
        async with self._start_limit.holds("did not take its input"):
            ready = None if handle.is_legacy else await self._hear_ready(reading)
            await handle.check_walls({} if ready is None else ready.mounts or {})
            await handle.write_input(first_input)
        if self._legacy is not None:
            await self._legacy.begin()
        await persist(self._services, self._note_running)
        self.state.has_taken_input = True
        await self.follow_ups.open()
        start_ms = round((self.state.now_s() - self._begun_s) * 1000)
        self.state.log.info("agent.running", legacy=handle.is_legacy, start_ms=start_ms)

    def _note_running(self, tx: Transaction) -> None:
        agent = agents.get(tx, self.state.agent_id)
        assert agent is not None
        if agent.status not in AGENT.sources(AgentEventKind.GOT_INPUT):
            return  # told to stop while it was being started
        now = AGENT.after(agent.status, AgentEventKind.GOT_INPUT)
        agents.move(tx, agent.agent_id, was=agent.status, now=now)
        at = self._services.clock.now()
        note_good_start(tx, self._services, agent, at=at)
        note_started(tx, self._services, agent, at=at)
        note_ready(tx, agent)

    async def _hear_ready(self, reading: "asyncio.Task[None]") -> Ready:
        either: tuple[asyncio.Future[Any], ...] = (self._ready, reading)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.done():
            last_words = " / ".join(self._agent_log.tail[-3:])
            raise StartFailed(
                f"The agent of group {self.state.group.folder!r} ended before it was ready. {last_words}",
                suggestion=self._how_to_mend_start(),
            )
        spoken = self._ready.result().protocol
        if spoken != PROTOCOL:
            raise StartFailed(
                f"The agent speaks protocol {spoken}, this Dovecote speaks {PROTOCOL}.",
                suggestion=self._how_to_mend_start(),
            )
        self._services.checkpoints.reached("agent.ready")
        return self._ready.result()

    def _how_to_mend_start(self) -> str:
        return how_to_mend_start(self.state.parts.runner.name, log=self.state.log_name)

    async def _read(self, handle: AgentHandle, collector: TurnCollector | LegacyCollector) -> None:
        """Take its output in order until the end."""
        take = collector.take
        reader = OutputReader()
        try:
            async for chunk in handle.output():
                if not chunk:
                    self._has_caught_up()
                items = reader.feed(chunk)
                if (
                    self._adopted is not None
                    and items
                    and not self._ready.done()
                    and not says_ready(items[0])
                ):
                    self.state.log.error("agent.output_incomplete")
                    self.state.stop(DeathCause.ORCHESTRATOR)
                    return
                await self._agent_log.write(await take(items))
        except Unavailable as error:  # the engine went away: what came is all there is
            self.state.log.error("agent.output_lost", error=error.message)
        await self._agent_log.write(await take(reader.finish()))
        self._has_caught_up()

    def _has_caught_up(self) -> None:
        self._caught_up.set()
        self.state.changed.set()

    async def _collector(self, handle: AgentHandle, turn_id: TurnId) -> TurnCollector | LegacyCollector:
        state = self.state
        agent = await persist(self._services, lambda tx: agents.get(tx, state.agent_id))
        assert agent is not None
        assert state.box is not None
        callbacks = RunCallbacks(
            ready=lambda ready: None if self._ready.done() else self._ready.set_result(ready),
            turn_started=state.turn_started,
            turn_ended=self._turn_ended,
            asked=self.questions.asked,
            showed_life=lambda: state.clock.showed_life(state.now_s()),
            said_something=lambda: state.clock.said_something(state.now_s()),
            cancelled_by=lambda: state.stop_cause or DeathCause.HOST,
            provider_failure=lambda: state.provider_failure,
            needed=lambda: state.needed,
        )
        collector = TurnCollector(
            self._services,
            state.parts.boxes,
            agent,
            callbacks,
            self._rate,
            log=LogEvents(self._services, agent),
            keep=keep_for_chat if state.spawned is None else keep_for_result,
        )
        if not handle.is_legacy:
            return collector
        self._legacy = LegacyCollector(
            self._services,
            agent,
            state.box,
            collector,
            first_turn=turn_id,
            turn_over=state.legacy_turn_over,
        )
        return self._legacy

    async def _turn_ended(self, event: TurnEnded) -> None:
        state, is_last = self.state, not self.state.work.takes_follow_ups
        if is_last:
            state.clock.close_asked(state.now_s())  # before: its deadline must not fall between the two
        await state.turn_ended(event)
        if is_last:
            await self.follow_ups.close()

    async def _wait_for_end(self, handle: AgentHandle, reading: "asyncio.Task[None]") -> ExitStatus | None:
        """Its output ends when it dies; one that only closes its output is helped along."""
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(self._exit_of(handle), name="agent exit")
            ending: tuple[asyncio.Task[Any], ...] = (waiting, reading)
            await asyncio.wait(ending, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                await asyncio.wait({waiting}, timeout=_OUTPUT_AFTER_EXIT_S)
            if not waiting.done():
                self.state.log.warning("agent.closed_its_output")
                self.state.stop(DeathCause.AGENT)
        self._rate.stop_waiting()
        await asyncio.wait({reading}, timeout=_OUTPUT_AFTER_EXIT_S)
        if not reading.done():
            self.state.log.warning("agent.output_held_open")
            reading.cancel()
        status = waiting.result()
        if reading.done() and self._legacy is not None:
            await self._legacy.finish(ended_well=status is not None and status.is_clean)
        return status

    async def _exit_of(self, handle: AgentHandle) -> ExitStatus | None:
        try:
            return await handle.wait()
        except Unavailable as error:
            self.state.log.error("agent.engine_lost", error=error.message, suggestion=error.suggestion)
            return None

    async def _end(self, exit_status: ExitStatus | None) -> None:
        try:
            await bury_run(self.state, exit_status)
        finally:
            if self.state.handle is not None:
                await self.state.handle.close()
            if self.state.way_out is not None:
                await self.state.way_out.close(self._services, self.state.agent_id)
            await self._agent_log.close()
            await self.state.set_typing(is_typing=False)
            self._over.set()

    def _note_failed_start(self, error: DovecoteError) -> None:
        self.state.failed_start = error.message
        if self.state.stop_cause is DeathCause.STOPPED:
            self.state.log.info("agent.stopped_early")  # it was to end before it was ready
            return
        self.state.log.error("agent.not_started", error=error.message, suggestion=error.suggestion)
