"""The life of a directory that agents may be given as a workspace. Source: agents.md section 2.

What was rejected and is asked for again is a new wish.
"""

from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.spawns import RootStatus
from orchestrator.core.states.machine import Machine


class RootEvent(StrEnum):
    """What can happen to such a directory."""

    APPROVED = "approved by an operator"
    REJECTED = "rejected by an operator"


_S = RootStatus
_E = RootEvent

WORKSPACE_ROOT: Final = Machine(
    "workspace root",
    start=_S.PROPOSED,
    table={
        (_S.PROPOSED, _E.APPROVED): _S.APPROVED,
        (_S.PROPOSED, _E.REJECTED): _S.REJECTED,
        (_S.APPROVED, _E.REJECTED): _S.REJECTED,
    },
)
