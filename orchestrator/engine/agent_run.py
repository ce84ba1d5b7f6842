"""One running agent, from its first message to its burial."""

import asyncio
import contextlib
from typing import Any, Final

from orchestrator.commands.definitions import definition_of, provider_name_of
from orchestrator.commands.turns import note_good_start
from orchestrator.contracts.errors import DovecoteError, InvalidSettings, StartFailed, Unavailable
from orchestrator.contracts.ids import TurnId, new_id
from orchestrator.contracts.records.agents import Agent, ExitStatus
from orchestrator.contracts.records.definitions import Definition
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import LaunchPlan
from orchestrator.contracts.seams import AgentHandle
from orchestrator.contracts.wire.codec import to_json
from orchestrator.contracts.wire.container_io import PROTOCOL, Ready, TurnEnded
from orchestrator.contracts.wire.framing import OutputReader
from orchestrator.core.chat.death import DeathCause
from orchestrator.core.states.agent import AGENT, AgentEventKind
from orchestrator.engine.agent_launch import container_input, plan_for_group, prepare_places
from orchestrator.engine.agent_log import AgentLogFile
from orchestrator.engine.follow_ups import FollowUps
from orchestrator.engine.identity import Identity, identity_for
from orchestrator.engine.legacy_collector import LegacyCollector
from orchestrator.engine.output_rate import OutputRate
from orchestrator.engine.persistence import persist
from orchestrator.engine.questions import RunQuestions
from orchestrator.engine.run_end import bury_run
from orchestrator.engine.run_minder import RunMinder
from orchestrator.engine.run_state import Phase, RunParts, RunState
from orchestrator.engine.shielding import finish
from orchestrator.engine.snapshots import RunSnapshots
from orchestrator.engine.start_limit import StartLimit
from orchestrator.engine.turn_collector import RunCallbacks, TurnCollector
from orchestrator.engine.way_out import open_way_out
from orchestrator.engine.work import FirstInput, Work
from orchestrator.store import agents
from orchestrator.store.database import Transaction
from orchestrator.store.unsafe import UnsafeEntry

_OUTPUT_AFTER_EXIT_S: Final = 10.0
_BURIAL_WITHIN_S: Final = 30.0


class AgentRun:
    """One agent, for a group's chat or for a run of a task. `run` returns when it is dead and buried."""

    def __init__(self, parts: RunParts, group: Group, work: Work) -> None:
        self.state = RunState(parts, group, work)
        self.follow_ups = FollowUps(self.state)
        self.snapshots = RunSnapshots(self.state)
        self.questions = RunQuestions(self.state)
        self._services = parts.services
        self._begun_s = self.state.now_s()
        self._legacy: LegacyCollector | None = None
        self._ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        settings, path = self._services.settings, self._services.paths.logs / "agents" / f"{group.folder}.log"
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

    async def _claim(self, turn_id: TurnId) -> FirstInput | None:
        """In one transaction: the agent's record, and what is now its own."""
        state, services = self.state, self._services
        provider, at = await self._provider(), services.clock.now()
        agent = Agent(
            agent_id=state.agent_id,
            tree_id=identity_for(services, state.group, state.agent_id).tree_id,
            group=state.group.folder,
            chat_jid=state.group.jid,
            box=state.box_name,
            runner=state.parts.runner.name,
            provider=provider,
            status=AGENT.start,
            is_main=state.group.is_main,
            started_at=at,
            rights=state.work.rights,
            task_run_id=state.work.task_run_id,
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
        line = await self._prepare(first, turn_id)
        handle = state.handle
        assert handle is not None
        await persist(
            services,
            lambda tx: agents.set_process(tx, state.agent_id, handle.process_ref, is_legacy=handle.is_legacy),
        )
        services.checkpoints.reached("agent.started")
        # Before anything is read or written: a legacy agent's input begins its first turn.
        collector = await self._collector(handle, turn_id)
        minder = RunMinder(state, handle, close=self.follow_ups.close, expire_questions=self.questions.expire)
        async with asyncio.TaskGroup() as tasks:
            logging = tasks.create_task(self._agent_log.drain(handle.log_output()), name="agent log")
            minding = tasks.create_task(minder.run(), name="agent clock")
            reading = tasks.create_task(self._read(handle, collector), name="agent output")
            try:
                await self._open(handle, first_input=line, reading=reading)
            except (StartFailed, Unavailable) as error:
                self._note_failed_start(error)
                with contextlib.suppress(Unavailable):  # its burial tries again
                    await handle.kill()
            status = await self._wait_for_end(handle, reading)
            minding.cancel()
            await asyncio.wait({logging}, timeout=1.0)
            logging.cancel()
        return status

    async def _prepare(self, given: FirstInput, turn_id: TurnId) -> bytes:
        """Box, places and walls; the agent waits for its input when this returns it."""
        state, services, parts = self.state, self._services, self.state.parts
        if state.definition is None:
            raise StartFailed(state.misconfigured or "")
        definition, has_walls = state.definition, parts.has_walls
        identity = identity_for(services, state.group, state.agent_id)
        try:
            box = state.box = await parts.boxes.make(state.box_name, uid=identity.uid, gid=identity.uid)
            snapshots = await self.snapshots.refresh(box)
            plan = await self._plan(definition, identity)
        except (OSError, UnsafeEntry) as error:
            raise StartFailed(
                f"The places of group {state.group.folder!r} can't be made: {error}.",
                suggestion="Check them: dovecote doctor",
            ) from error
        first = container_input(
            services,
            state.group,
            identity,
            given,
            snapshots,
            definition,
            turn_id=turn_id,
            has_walls=has_walls,
        )
        parts.boxes.watch(state.caller, box)
        async with self._start_limit.holds("was not started"):
            state.handle = await parts.runner.start(plan)
        return (to_json(first) + "\n").encode()

    async def _plan(self, definition: Definition, identity: Identity) -> LaunchPlan:
        """Its walls; what they show of the host is made by then. Raises OSError, StartFailed."""
        state, services, parts = self.state, self._services, self.state.parts
        path = parts.boxes.path_of(state.box_name)
        places = await prepare_places(services, state.group, identity, path, definition)
        await self._open_way_out(definition, identity.uid)
        return await plan_for_group(
            services,
            state.group,
            identity,
            places,
            definition,
            state.way_out,
            instance_id=parts.instance_id,
            command=parts.command,
            has_walls=parts.has_walls,
        )

    async def _open_way_out(self, definition: Definition, uid: int | None) -> None:
        state = self.state
        try:
            state.way_out = await open_way_out(
                self._services,
                state.parts.egress,
                definition,
                agent_id=state.agent_id,
                group=state.group.folder,
                uid=uid,
                has_walls=state.parts.has_walls,
            )
        except InvalidSettings as error:
            state.misconfigured = str(error)
            raise StartFailed(error.message, suggestion=error.suggestion) from error
        if definition.provider.api is None or state.parts.meter is None:
            return
        reason = await state.parts.meter.why_not(state.agent_id, state.group.folder)
        if reason is not None:
            state.is_budget_spent = True
            raise StartFailed(reason)

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
        note_good_start(tx, self._services, agent, at=self._services.clock.now())

    async def _hear_ready(self, reading: "asyncio.Task[None]") -> Ready:
        either: tuple[asyncio.Future[Any], ...] = (self._ready, reading)
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.done():
            last_words = " / ".join(self._agent_log.tail[-3:])
            raise StartFailed(
                f"The agent of group {self.state.group.folder!r} ended before it was ready. {last_words}",
                suggestion="Build its image again: dovecote image build",
            )
        spoken = self._ready.result().protocol
        if spoken != PROTOCOL:
            raise StartFailed(
                f"The agent speaks protocol {spoken}, this Dovecote speaks {PROTOCOL}.",
                suggestion="Build its image again: dovecote image build",
            )
        self._services.checkpoints.reached("agent.ready")
        return self._ready.result()

    async def _read(self, handle: AgentHandle, collector: TurnCollector | LegacyCollector) -> None:
        """Take its output in order until the end."""
        take = collector.take
        reader = OutputReader()
        try:
            async for chunk in handle.output():
                await self._agent_log.write(await take(reader.feed(chunk)))
        except Unavailable as error:  # the engine went away: what came is all there is
            self.state.log.error("agent.output_lost", error=error.message)
        await self._agent_log.write(await take(reader.finish()))

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
        )
        collector = TurnCollector(self._services, state.parts.boxes, agent, callbacks, self._rate)
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
        await self.state.turn_ended(event)
        if not self.state.work.takes_follow_ups:
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
                await self.state.way_out.door.close()
            await self._agent_log.close()
            await self.state.set_typing(is_typing=False)
            self._over.set()

    def _note_failed_start(self, error: DovecoteError) -> None:
        self.state.log.error("agent.not_started", error=error.message, suggestion=error.suggestion)
