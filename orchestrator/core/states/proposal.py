"""The life of a proposal: it is decided once. Source: contracts.md section 4."""

from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.proposals import ProposalStatus
from orchestrator.core.states.machine import Machine


class ProposalEvent(StrEnum):
    """What can happen to a proposal."""

    CARRIED_OUT = "confirmed and carried out"
    WENT_WRONG = "confirmed, but refused by then"
    DECLINED = "declined"
    LAPSED = "not answered in time"


_S = ProposalStatus
_E = ProposalEvent

PROPOSAL: Final = Machine(
    "proposal",
    start=_S.OPEN,
    table={
        (_S.OPEN, _E.CARRIED_OUT): _S.CONFIRMED,
        (_S.OPEN, _E.WENT_WRONG): _S.FAILED,
        (_S.OPEN, _E.DECLINED): _S.DECLINED,
        (_S.OPEN, _E.LAPSED): _S.EXPIRED,
    },
)
