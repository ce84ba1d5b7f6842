"""The life of a scheduled task. Source: contracts.md section 7."""

from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.tasks import TaskStatus
from orchestrator.core.states.machine import Machine


class TaskEvent(StrEnum):
    """What can happen to a task."""

    PAUSED = "paused"
    FAILED_TOO_OFTEN = "failed too often"
    GROUP_GONE = "group gone"
    UNREADABLE = "schedule unreadable"
    RESUMED = "resumed"
    RAN_LAST = "had its last run"
    CANCELLED = "cancelled"


_S = TaskStatus
_E = TaskEvent

TASK: Final = Machine(
    "task",
    start=_S.ACTIVE,
    table={
        (_S.ACTIVE, _E.PAUSED): _S.PAUSED,
        (_S.ACTIVE, _E.FAILED_TOO_OFTEN): _S.PAUSED,
        (_S.ACTIVE, _E.GROUP_GONE): _S.PAUSED,
        (_S.ACTIVE, _E.UNREADABLE): _S.PAUSED,
        (_S.ACTIVE, _E.RAN_LAST): _S.COMPLETED,
        (_S.ACTIVE, _E.CANCELLED): _S.CANCELLED,
        (_S.PAUSED, _E.RESUMED): _S.ACTIVE,
        (_S.PAUSED, _E.RAN_LAST): _S.COMPLETED,  # paused while its last run was on its way
        (_S.PAUSED, _E.CANCELLED): _S.CANCELLED,
    },
)
