"""What a running agent is given after its start: later messages, and the word to close."""

import asyncio

from orchestrator.commands.running.batches import TurnBatch, give_batch, next_batch
from orchestrator.contracts.errors import DovecoteError, Unavailable
from orchestrator.contracts.ids import TurnId, new_id
from orchestrator.contracts.records.agents import AgentStatus, DeathCause
from orchestrator.contracts.wire.boxes import FollowUp
from orchestrator.core.chat.transcript import render_prompt
from orchestrator.engine.run_state import Phase, RunState
from orchestrator.store import agents, groups
from orchestrator.store.transaction import Transaction


class FollowUps:
    """Writes into `input/` of one run's box. One thing at a time: nothing is fed behind a close."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._one_at_a_time = asyncio.Lock()

    async def feed(self) -> None:
        """Give it what waits in its chat, if it takes more."""
        state = self._state
        async with self._one_at_a_time:
            if not state.takes_more:
                return
            services, chat = state.services, state.group.jid
            try:
                batch = await services.db.run(lambda tx: next_batch(tx, services, chat))
            except Unavailable as error:
                state.log.error("feed.store_unavailable", error=error.message)
                return
            if batch is None:
                return
            if batch.is_alone:
                await self._close()  # it runs in an agent of its own
            else:
                await self._publish(batch)

    async def close(self) -> None:
        """Let the agent finish its turn, take no more and exit; one that starts hears it with its input."""
        async with self._one_at_a_time:
            await self._close()

    async def open(self) -> None:
        """The agent has its input: from now on it takes more, unless it was to be closed in the meantime."""
        async with self._one_at_a_time:
            if self._state.phase is Phase.STARTING:
                self._state.phase = Phase.OPEN
            elif self._state.phase is Phase.CLOSING:
                await self._write_close()

    async def _close(self) -> None:
        is_open = self._state.phase is Phase.OPEN
        if is_open or self._state.phase is Phase.STARTING:
            self._state.phase = Phase.CLOSING
        if is_open:
            await self._write_close()

    async def _write_close(self) -> None:
        state = self._state
        if state.box is None or state.handle is None:
            return
        state.clock.close_asked(state.now_s())
        try:
            await state.box.write_close(for_legacy=state.handle.is_legacy)
        except (OSError, DovecoteError) as error:
            # Without its box it can't be told, and can't do anything either.
            state.log.warning("agent.close_not_written", error=str(error))
            state.stop(DeathCause.HOST)
        state.changed.set()

    async def _publish(self, batch: TurnBatch) -> None:
        """Temporary name, commit, rename: the row is the truth, the file its shadow."""
        state, box = self._state, self._state.box
        assert box is not None
        services = state.services
        turn_id = TurnId(new_id("turn"))
        stem = f"{services.clock.now().timestamp() * 1000:.0f}-{new_id('')[-6:]}"
        xml = render_prompt(batch.xml)
        follow_up = FollowUp(
            content=xml, text=xml, ids=batch.ids, triggers=batch.trigger_ids, turn_id=turn_id
        )
        try:
            await box.stage_follow_up(follow_up, file_stem=stem)
            services.checkpoints.reached("follow_up.staged")
            if not await services.db.run(lambda tx: self._give(tx, batch, turn_id, stem)):
                await box.discard_follow_up(stem)
                return
            services.checkpoints.reached("follow_up.committed")
            state.was_fed(batch.ids)
            await box.publish_follow_up(stem)
            services.checkpoints.reached("follow_up.published")
        except (OSError, DovecoteError) as error:
            # Its box is gone or full: it is ended, and what it never read goes back to the chat.
            state.log.error("follow_up.not_delivered", error=str(error))
            state.stop(DeathCause.HOST)
            return
        await state.set_typing(is_typing=True)

    def _give(self, tx: Transaction, batch: TurnBatch, turn_id: TurnId, stem: str) -> bool:
        agent = agents.get(tx, self._state.agent_id)
        if agent is None or agent.status is not AgentStatus.RUNNING:
            return False
        groups.note_served(tx, self._state.group.folder)
        return give_batch(
            tx, self._state.services, batch, agent_id=self._state.agent_id, turn_id=turn_id, input_file=stem
        )
