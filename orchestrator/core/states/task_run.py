"""The life of one run of a task. Source: contracts.md section 7."""

from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.tasks import RunStatus
from orchestrator.core.states.machine import Machine


class RunEvent(StrEnum):
    """What can happen to a run."""

    STARTED = "started"
    SUCCEEDED = "ended well"
    FAILED = "failed"
    RAN_OUT = "ran out of time"
    GIVEN_BACK = "given back"
    BROKEN_OFF = "broken off"
    STOPPED = "stopped on wish"
    TOO_LATE = "too late"
    PASSED_OVER = "passed over"


_S = RunStatus
_E = RunEvent

TASK_RUN: Final = Machine(
    "task run",
    start=_S.CLAIMED,
    table={
        (_S.CLAIMED, _E.STARTED): _S.STARTED,
        (_S.CLAIMED, _E.FAILED): _S.FAILED,  # no agent could be started for it
        (_S.CLAIMED, _E.BROKEN_OFF): _S.INTERRUPTED,  # a crash, and the grace is over or it ran twice
        (_S.CLAIMED, _E.TOO_LATE): _S.MISSED,
        (_S.CLAIMED, _E.PASSED_OVER): _S.SKIPPED,  # the one before still runs, or its task rests
        (_S.STARTED, _E.SUCCEEDED): _S.SUCCEEDED,
        (_S.STARTED, _E.FAILED): _S.FAILED,
        (_S.STARTED, _E.RAN_OUT): _S.TIMED_OUT,
        (_S.STARTED, _E.GIVEN_BACK): _S.CLAIMED,  # no effect yet: provider full, or a crash
        (_S.STARTED, _E.BROKEN_OFF): _S.INTERRUPTED,
        (_S.STARTED, _E.STOPPED): _S.STOPPED,
    },
)
