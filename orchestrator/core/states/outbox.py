"""The life of an outbound text. Source: contracts.md section 6."""

from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.messages import OutboxStatus
from orchestrator.core.states.machine import Machine


class OutboxEvent(StrEnum):
    """What can happen to an outbound text."""

    CLAIMED = "claimed"
    ACCEPTED = "accepted"
    HELD_OFF = "held off"
    REFUSED = "refused"
    GAVE_UP = "gave up"
    ANSWER_LOST = "answer lost"
    RESENT = "sent again"


_S = OutboxStatus
_E = OutboxEvent

OUTBOX: Final = Machine(
    "outbox",
    start=_S.QUEUED,
    table={
        (_S.QUEUED, _E.CLAIMED): _S.SENDING,
        (_S.SENDING, _E.ACCEPTED): _S.SENT,
        (_S.SENDING, _E.HELD_OFF): _S.QUEUED,  # backs off but keeps its place: order is a promise
        (_S.SENDING, _E.REFUSED): _S.FAILED,
        (_S.SENDING, _E.GAVE_UP): _S.FAILED,
        (_S.SENDING, _E.ANSWER_LOST): _S.UNKNOWN,
        (_S.UNKNOWN, _E.ACCEPTED): _S.SENT,  # its echo came
        (_S.UNKNOWN, _E.RESENT): _S.SENDING,
        (_S.UNKNOWN, _E.GAVE_UP): _S.FAILED,
    },
)
