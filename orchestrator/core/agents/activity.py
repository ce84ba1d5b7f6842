"""What an agent is doing right now, in a word. Source: agents.md section 2."""

from enum import StrEnum

from orchestrator.contracts.records.agents import AgentStatus


class Activity(StrEnum):
    """What an agent is doing. Ended ones do nothing."""

    QUEUED = "queued"
    STARTING = "starting"
    IDLE = "idle"
    BUSY = "busy"
    WAITING_AGENT = "waiting_agent"
    WAITING_INPUT = "waiting_input"
    STOPPING = "stopping"
    NONE = "none"


_BY_STATUS = {
    AgentStatus.PENDING: Activity.QUEUED,
    AgentStatus.STARTING: Activity.STARTING,
    AgentStatus.STOPPING: Activity.STOPPING,
}


def activity_of(
    status: AgentStatus, *, has_open_turn: bool, asks_people: bool, waits_for_agents: bool
) -> Activity:
    """What it is doing; that it waits says more than that its turn is open."""
    if status is not AgentStatus.RUNNING:
        return _BY_STATUS.get(status, Activity.NONE)
    if asks_people:
        return Activity.WAITING_INPUT
    if waits_for_agents:
        return Activity.WAITING_AGENT
    return Activity.BUSY if has_open_turn else Activity.IDLE
