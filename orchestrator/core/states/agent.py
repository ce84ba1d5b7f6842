"""The life of an agent. Source: agents.md section 2."""

from enum import StrEnum
from typing import Final

from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.core.states.machine import Machine


class AgentEventKind(StrEnum):
    """What can happen to an agent."""

    CLAIMED = "given a place to run"
    GOT_INPUT = "took its input"
    START_FAILED = "failed to start"
    TOLD_TO_STOP = "told to stop"
    ENDED_WELL = "ended well"
    ENDED_BADLY = "ended badly"
    RAN_OUT = "ran out of time"
    FOUND_DEAD = "found dead after a restart"
    NOT_FOUND = "not to be verified"
    RESTARTED = "to be started again"


_S = AgentStatus
_E = AgentEventKind

AGENT: Final = Machine(
    "agent",
    start=_S.PENDING,
    table={
        (_S.PENDING, _E.CLAIMED): _S.STARTING,
        # Nothing of it runs, so there is nothing to stop.
        (_S.PENDING, _E.TOLD_TO_STOP): _S.TERMINATED,
        (_S.PENDING, _E.START_FAILED): _S.FAILED,
        (_S.PENDING, _E.RAN_OUT): _S.TIMED_OUT,
        (_S.PENDING, _E.NOT_FOUND): _S.LOST,
        (_S.STARTING, _E.GOT_INPUT): _S.RUNNING,
        (_S.STARTING, _E.START_FAILED): _S.FAILED,
        (_S.STARTING, _E.TOLD_TO_STOP): _S.STOPPING,
        (_S.RUNNING, _E.TOLD_TO_STOP): _S.STOPPING,
        (_S.RUNNING, _E.ENDED_WELL): _S.COMPLETED,
        (_S.RUNNING, _E.ENDED_BADLY): _S.FAILED,
        (_S.RUNNING, _E.RAN_OUT): _S.TIMED_OUT,
        (_S.STARTING, _E.RESTARTED): _S.PENDING,
        (_S.RUNNING, _E.RESTARTED): _S.PENDING,
        (_S.STOPPING, _E.ENDED_WELL): _S.TERMINATED,
        (_S.STOPPING, _E.ENDED_BADLY): _S.TERMINATED,
        (_S.STOPPING, _E.RAN_OUT): _S.TIMED_OUT,  # only the clock that told it to stop says so
        **{(s, _E.FOUND_DEAD): _S.TERMINATED for s in (_S.STARTING, _S.RUNNING, _S.STOPPING)},
        **{(s, _E.NOT_FOUND): _S.LOST for s in (_S.STARTING, _S.RUNNING, _S.STOPPING)},
    },
)
