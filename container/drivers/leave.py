"""Leave for a tool, asked of people: the question, the wait, and what their answer means to a model."""

import asyncio
from typing import Final

from container.drivers.driver import Turn
from orchestrator.contracts.wire.boxes import Answer, AnswerStatus

DENY_ALL: Final = "deny-all"
APPROVE_READS: Final = "approve-reads"
APPROVE_ALL: Final = "approve-all"

OWN_SERVER: Final = "dovecote"
"""Our own tool server's name. Its tools need no leave: the host judges each of their requests."""

LEAVE_WAIT_S: Final = 300.0
"""So long a person may take to give leave. Source: contracts.md section 2 and agents.md section 4."""

YES: Final = "Yes"
NO: Final = "No"
_YES_WORDS: Final = frozenset({"yes", "y", "ok", "okay", "sure", "go ahead", "allow"})
_NO_WORDS: Final = frozenset({"no", "n", "stop", "don't", "deny"})

NOT_ALLOWED: Final = "The operator does not allow this tool. Do without it, or say that you can't."
NOBODY_ANSWERED: Final = "People were asked for leave and nobody answered in time. Do without this tool."
NOT_ASKED: Final = "People could not be asked for leave. Do without this tool."
TURN_OVER: Final = "The turn was over before anybody could give leave."
PERSON_SAID_NO: Final = "The person who was asked does not allow this. Do without it."


class LeaveAsker:
    """Asks the people of the running turn whether something may be done."""

    def __init__(self, *, wait_s: float = LEAVE_WAIT_S) -> None:
        self._wait_s = wait_s
        self._turn: Turn | None = None
        self._asking: set[asyncio.Task[Answer]] = set()

    @property
    def is_waiting(self) -> bool:
        """Whether somebody is being asked at this moment."""
        return bool(self._asking)

    def begin(self, turn: Turn) -> None:
        """From now on people are asked in this turn."""
        self._turn = turn

    def end(self) -> None:
        """The turn is over; whoever still waits for leave gets none."""
        self._turn = None
        for asking in self._asking:
            asking.cancel()

    async def ask(self, question: str) -> str | None:
        """Ask; None: leave was given, else why not, in words for the model."""
        turn = self._turn
        if turn is None:
            return TURN_OVER
        async with asyncio.TaskGroup() as tasks:
            asking = tasks.create_task(turn.ask(question, (YES, NO)), name="ask for leave")
            self._asking.add(asking)
            try:
                _, late = await asyncio.wait({asking}, timeout=self._wait_s)
                for task in late:
                    task.cancel()
                await asyncio.wait({asking})
            finally:
                self._asking.discard(asking)
        if asking.cancelled():
            return NOBODY_ANSWERED if self._turn is turn else TURN_OVER
        return _verdict(asking.result())


def means_yes(text: str) -> bool | None:
    """Whether an answer gives leave; None for words that are neither yes nor no."""
    said = " ".join(text.lower().split()).strip(".,! ")
    if said in _YES_WORDS:
        return True
    return False if said in _NO_WORDS else None


def not_leave(text: str) -> str:
    """The refusal for an answer in a person's own words, which the model should hear."""
    return f"Leave was not given. The person who was asked said: {text}"


def _verdict(answer: Answer) -> str | None:
    if answer.status is AnswerStatus.EXPIRED:
        return NOBODY_ANSWERED
    if answer.status is AnswerStatus.REFUSED:
        return NOT_ASKED
    gives = answer.option == 0 if answer.option is not None else means_yes(answer.text)
    if gives:
        return None
    return PERSON_SAID_NO if gives is False else not_leave(answer.text)
