"""The life of a question that an agent asks. Source: contracts.md section 6."""

from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.questions import QuestionStatus
from orchestrator.core.states.machine import Machine


class QuestionEvent(StrEnum):
    """What can happen to a question."""

    ANSWERED = "answered by a person"
    RAN_OUT = "nobody answered in time"
    TURN_OVER = "its turn is over"


_S = QuestionStatus
_E = QuestionEvent

QUESTION: Final = Machine(
    "question",
    start=_S.OPEN,
    table={
        (_S.OPEN, _E.ANSWERED): _S.ANSWERED,
        (_S.OPEN, _E.RAN_OUT): _S.EXPIRED,
        (_S.OPEN, _E.TURN_OVER): _S.WITHDRAWN,  # its agent died, was stopped, or went on without it
    },
)
