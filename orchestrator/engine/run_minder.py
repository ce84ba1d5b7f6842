"""Does what a run's clocks say, and takes the agent down when it is told to stop."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

from orchestrator.commands.running.stopping import mark_stopping
from orchestrator.commands.saying.outgoing import queue_notice
from orchestrator.contracts.errors import StartFailed, Unavailable
from orchestrator.contracts.records.agents import DeathCause
from orchestrator.contracts.seams import AgentHandle
from orchestrator.core.sentence_keys import Say
from orchestrator.engine.run_clock import Due
from orchestrator.engine.run_state import RunState

_KILL_AGAIN_S: Final = 1.0


class RunMinder:
    """Watches one run until it is cancelled or has taken the agent down.

    caught_up: of an adopted one, whether all was read again that it had said by its adoption: no clock
    counts before, and none if it has ended by then.
    """

    def __init__(
        self,
        state: RunState,
        handle: AgentHandle,
        *,
        close: Callable[[], Awaitable[None]],
        expire_questions: Callable[[], Awaitable[None]],
        caught_up: asyncio.Event | None = None,
    ) -> None:
        self._state = state
        self._caught_up = caught_up
        self._handle = handle
        self._close = close
        self._expire_questions = expire_questions

    async def run(self) -> None:
        """Mind the clocks until told to stop; then SIGTERM, the grace period, SIGKILL."""
        state = self._state
        if self._caught_up is not None and await self._handle.is_gone():
            return
        while state.stop_cause is None:
            state.changed.clear()
            if self._caught_up is not None and not self._caught_up.is_set():
                await state.changed.wait()
                continue
            due = state.clock.due(state.now_s())
            if due is not None:
                await self._act_on(due)
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(state.clock.next_in_s(state.now_s())):
                    await state.changed.wait()
        await self._note_stopping()
        await self._take_down()

    async def _act_on(self, due: Due) -> None:
        state = self._state
        match due:
            case Due.TOO_SILENT | Due.TURN_TOO_LONG | Due.DEADLINE_PASSED:
                state.log.warning("agent.timed_out", why=due.value)
                state.stop(DeathCause.TIMED_OUT)
            case Due.SLOW_TO_CLOSE:
                state.log.warning("agent.slow_to_close")
                state.stop(DeathCause.HOST)
            case Due.IDLE_TOO_LONG:
                await self._close()
            case Due.SAY_STILL_WORKING:
                await self._say_still_working()
            case Due.RENEW_TYPING:
                await state.set_typing(is_typing=True)
            case Due.NO_ANSWER:
                await self._expire_questions()

    async def _note_stopping(self) -> None:
        """Its record says so while it is being stopped; a store that is away does not delay the stop."""
        agent_id = self._state.agent_id
        with contextlib.suppress(Unavailable):
            await self._state.services.db.run(lambda tx: mark_stopping(tx, agent_id))

    async def _take_down(self) -> None:
        """Goes on until it is gone, which cancels this, or the kill was taken."""
        try:
            await self._handle.terminate()
            async with asyncio.timeout(self._state.services.settings.agent.stop_grace_s):
                await self._handle.wait()
                return
        except TimeoutError:
            pass
        except (StartFailed, Unavailable) as error:
            self._state.log.error("agent.not_terminated", error=error.message)
        while True:
            try:
                await self._handle.kill()
                return
            except (StartFailed, Unavailable) as error:
                self._state.kill_error = error.message
                self._state.log.error("agent.not_killed", error=error.message)
                await asyncio.sleep(_KILL_AGAIN_S)

    async def _say_still_working(self) -> None:
        """Tell the chat that waits for the answer; for a spawned agent none does."""
        state = self._state
        if state.spawned is not None:
            return
        services, at, chat = state.services, state.services.clock.now(), state.group.jid
        incident = f"still:{state.agent_id}:{at.timestamp():.0f}"
        with contextlib.suppress(Unavailable):  # a sign of life is not worth waiting for the store
            await services.db.run(
                lambda tx: queue_notice(
                    tx, services, chat=chat, what=Say.STILL_WORKING, incident=incident, at=at
                )
            )
