"""Questions to people that wait for their answers in `input/`. Source: contracts.md sections 1 and 2."""

import asyncio
from collections.abc import Sequence

from container.output import Output
from orchestrator.contracts.ids import new_id
from orchestrator.contracts.wire.boxes import Answer
from orchestrator.contracts.wire.container_io import WaitingInput


class Questions:
    """The open questions of one agent. Used from the loop's thread only."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Future[Answer]] = {}

    async def ask(self, output: Output, question: str, options: Sequence[str]) -> Answer:
        """Ask the people of the chat and wait; whoever is cancelled meanwhile gets no answer any more."""
        question_id = new_id("question")
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[question_id] = answer
        try:
            event = WaitingInput(question=question, options=tuple(options), question_id=question_id)
            await output.event(event)
            return await answer
        finally:
            del self._open[question_id]

    def take(self, answer: Answer) -> bool:
        """Give an answer to whoever waits for it; False if nobody does."""
        waiting = self._open.get(answer.question_id)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(answer)
        return True
