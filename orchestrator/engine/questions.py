"""What one running agent asks of people, and the way of the answers back into its box."""

import asyncio
from typing import Final

from orchestrator.commands.saying.questions import ask, expire_questions
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.ids import TurnId, new_id
from orchestrator.contracts.records.agents import DeathCause
from orchestrator.contracts.records.questions import Question, QuestionStatus
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.boxes import Answer, AnswerStatus
from orchestrator.contracts.wire.container_io import WaitingInput
from orchestrator.engine.persistence import persist
from orchestrator.engine.run_state import RunState
from orchestrator.store import agents, questions
from orchestrator.store.transaction import Transaction

_FOR_THE_AGENT: Final = {
    QuestionStatus.ANSWERED: AnswerStatus.ANSWERED,
    QuestionStatus.EXPIRED: AnswerStatus.EXPIRED,
}
_NOT_THE_CHATS: Final = "This agent may not speak in the chat, so it can ask nobody there."


class RunQuestions:
    """The questions of one run. The row is the truth; each answer is written into its box once."""

    def __init__(self, state: RunState) -> None:
        self._state = state
        self._handed_over: set[int] = set()
        self._one_at_a_time = asyncio.Lock()

    async def asked(self, event: WaitingInput, turn_id: TurnId | None) -> None:
        """Put it to the chat; the turn's clocks stand still while one is open."""
        state, services = self._state, self._state.services
        at = services.clock.now()

        def body(tx: Transaction) -> str | None:
            agent = agents.get(tx, state.agent_id)
            return None if agent is None else ask(tx, services, agent, event, turn_id=turn_id, at=at)

        if state.spawned is not None and not state.spawned.agent.permissions.chat:
            await self._refuse(event, _NOT_THE_CHATS)
            return
        async with self._one_at_a_time:  # no look at what is open may lie between the row and the clocks
            refusal = await persist(services, body)
            if refusal is None:
                state.clock.wait_began(state.now_s())
                await self._tell_of_wait()
        services.checkpoints.reached("question.committed")
        if refusal is not None:
            await self._refuse(event, refusal)
            return
        await self.hand_over()

    async def hand_over(self) -> None:
        """Write the answers that are stored and not in its box yet; go on when none is open any more."""
        state = self._state
        async with self._one_at_a_time:
            asked = await persist(state.services, lambda tx: questions.of_agent(tx, state.agent_id))
            for question in asked:
                if question.status in _FOR_THE_AGENT and question.number not in self._handed_over:
                    self._handed_over.add(question.number)
                    await self._write(_answer(question))
            is_over = not any(each.status is QuestionStatus.OPEN for each in asked)
            if is_over and state.clock.is_held:
                state.clock.wait_ended(state.now_s())
                await self._tell_of_wait()

    async def expire(self) -> None:
        """Nobody answered in time."""
        services, at = self._state.services, self._state.services.clock.now()
        agent_id = self._state.agent_id
        await persist(services, lambda tx: expire_questions(tx, services, agent_id, at=at))
        await self.hand_over()

    async def _refuse(self, event: WaitingInput, why: str) -> None:
        self._state.log.warning("question.refused", why=why)
        refused = Answer(question_id=event.question_id, status=AnswerStatus.REFUSED, text=why)
        await self._write(refused)

    async def _tell_of_wait(self) -> None:
        """It waits now, or goes on: the chat sees it by the typing, and a running slot is free or taken."""
        state = self._state
        state.changed.set()
        if state.clock.is_busy:
            await state.set_typing(is_typing=not state.clock.is_held)
            state.services.wakeups.wake(Topic.WORK)

    async def _write(self, answer: Answer) -> None:
        state = self._state
        if state.box is None:
            return
        stem = f"{state.services.clock.now().timestamp() * 1000:.0f}-{new_id('')[-6:]}-answer"
        try:
            await state.box.write_answer(answer, file_stem=stem)
        except (OSError, DovecoteError) as error:
            # Its box is gone or full: it would wait for ever.
            state.log.error("answer.not_delivered", error=str(error))
            state.stop(DeathCause.HOST)


def _answer(question: Question) -> Answer:
    return Answer(
        question_id=question.question_id,
        status=_FOR_THE_AGENT[question.status],
        text=question.answer or "",
        option=question.chosen,
    )
