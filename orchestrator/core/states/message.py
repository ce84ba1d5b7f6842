"""The life of an inbound message. Source: contracts.md section 6."""

from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.messages import MessageStatus
from orchestrator.core.states.machine import Machine


class MessageEvent(StrEnum):
    """What can happen to a message."""

    GIVEN = "given to an agent"
    PASSED_OVER = "passed over"
    ANSWERED = "turn ended well"
    GIVEN_BACK = "given back"
    BROKEN_OFF = "turn died with effects"
    GAVE_UP = "gave up"
    RETRIED = "asked for again"


_S = MessageStatus
_E = MessageEvent

MESSAGE: Final = Machine(
    "message",
    start=_S.PENDING,
    table={
        (_S.PENDING, _E.GIVEN): _S.DISPATCHED,
        (_S.PENDING, _E.PASSED_OVER): _S.SKIPPED,
        (_S.DISPATCHED, _E.ANSWERED): _S.SETTLED,
        (_S.DISPATCHED, _E.GIVEN_BACK): _S.PENDING,  # no effect was committed: it may run again
        (_S.DISPATCHED, _E.BROKEN_OFF): _S.PARTIAL,
        (_S.DISPATCHED, _E.GAVE_UP): _S.FAILED,
        (_S.PARTIAL, _E.RETRIED): _S.PENDING,
        (_S.FAILED, _E.RETRIED): _S.PENDING,
    },
)
