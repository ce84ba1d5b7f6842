"""The end of a run: its death verified, its box drained and read, what it left settled."""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator.commands.running.burial import begin_acknowledged_turns, bury
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.errors import Unavailable
from orchestrator.contracts.ids import TurnId
from orchestrator.contracts.records.agents import DeathCause, EndReason, ExitStatus
from orchestrator.contracts.seams import AgentHandle
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.engine.persistence import persist
from orchestrator.engine.run_state import RunState
from orchestrator.engine.session_homes import end_session_home
from orchestrator.store import agents
from orchestrator.store.dir_compare import changed_since
from orchestrator.store.transaction import Transaction
from orchestrator.store.unsafe import UnsafeEntry

_DEAD_WITHIN_S: Final = 10.0


async def bury_run(state: RunState, exit_status: ExitStatus | None) -> None:
    """Settle all that the agent left. exit_status: None when nobody saw it end."""
    services, boxes = state.services, state.parts.boxes
    if state.handle is not None:
        await _make_sure_it_is_dead(state, state.handle)
    services.checkpoints.reached("agent.dead")
    acks: dict[TurnId, object] = {}
    if state.box is not None:
        acks = await state.box.read_acks()
        caller = await last_caller(services, state.caller, acks)
        await boxes.drain(caller, state.box)
    cause, reason, event = _verdict(state, exit_status)
    if not state.is_dead:
        event = AgentEventKind.NOT_FOUND
    remains = Remains(
        cause=cause,
        reason=reason,
        event=event,
        acks=acks,
        unread=() if state.box is None else tuple(await state.box.unread_inputs()),
        exit=exit_status,
        misconfigured=state.misconfigured,
        is_budget_spent=state.is_budget_spent,
        provider_failure=state.provider_failure,
        needed=state.needed,
        failed_start=state.failed_start,
        files_modified=await _files_modified(state),
    )
    at = services.clock.now()
    await persist(services, lambda tx: bury(tx, services, state.agent_id, remains, at=at))
    await boxes.remove(state.box_name)
    await end_session_home(services.paths, state.box_name)
    is_wanted = reason in (EndReason.EXITED, EndReason.STOPPED, EndReason.START_FAILED)
    (state.log.info if is_wanted else state.log.error)(
        "agent.ended",
        reason=reason.value,
        cause=cause.value,
        exit_code=None if exit_status is None else exit_status.code,
    )


async def _files_modified(state: RunState) -> tuple[str, ...] | None:
    """What a spawned agent changed of the files that it may write; None if that can't be told."""
    if state.spawned is None:
        return None
    spawn, marks = state.spawned.spawn, state.marks
    if not spawn.writable_paths and not spawn.is_own_workspace:
        return ()
    if marks is None:
        return None
    try:
        return await asyncio.to_thread(changed_since, marks, Path(spawn.workspace), spawn.writable_paths)
    except (OSError, UnsafeEntry) as error:
        state.log.warning("files.not_compared", error=str(error))
        return None


async def last_caller(services: Services, caller: AgentCaller, acks: Mapping[TurnId, object]) -> AgentCaller:
    """Whose account the requests go on that a dead agent left: its last turn's, if one was open."""

    def body(tx: Transaction) -> TurnId | None:
        agent = agents.get(tx, caller.agent_id)
        return None if agent is None else begin_acknowledged_turns(tx, agent, acks)

    return replace(caller, turn_id=await persist(services, body))


async def _make_sure_it_is_dead(state: RunState, handle: AgentHandle) -> None:
    if not await handle.is_gone():
        with contextlib.suppress(TimeoutError, Unavailable):
            await handle.kill()
            async with asyncio.timeout(_DEAD_WITHIN_S):
                await handle.wait()
    state.is_dead = await handle.is_gone()
    if not state.is_dead:
        state.log.error("agent.not_dead", suggestion="Find it and kill it: dovecote doctor")


def _verdict(state: RunState, status: ExitStatus | None) -> tuple[DeathCause, EndReason, AgentEventKind]:
    """On whose account it ended, how, and what that means for its record."""
    stopped_by = state.stop_cause
    if stopped_by is DeathCause.TIMED_OUT:
        return stopped_by, EndReason.TIMED_OUT, AgentEventKind.RAN_OUT
    if stopped_by is not None:
        event = AgentEventKind.ENDED_BADLY if state.has_taken_input else AgentEventKind.START_FAILED
        return stopped_by, EndReason.STOPPED, event
    if not state.has_taken_input:
        return DeathCause.AGENT, EndReason.START_FAILED, AgentEventKind.START_FAILED
    if status is None:
        # Not the message's doing: it runs again without a try.
        return DeathCause.HOST, EndReason.ENGINE_LOST, AgentEventKind.ENDED_BADLY
    if status.is_clean:
        return DeathCause.AGENT, EndReason.EXITED, AgentEventKind.ENDED_WELL
    reason = EndReason.OOM if status.is_oom else EndReason.CRASHED
    return DeathCause.AGENT, reason, AgentEventKind.ENDED_BADLY
