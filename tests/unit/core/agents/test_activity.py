"""What an agent is doing, in a word."""

import pytest

from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.core.agents.activity import Activity, activity_of
from orchestrator.core.states.agent import AGENT


@pytest.mark.parametrize(
    ("has_open_turn", "asks_people", "waits_for_agents", "doing"),
    [
        (False, False, False, Activity.IDLE),
        (True, False, False, Activity.BUSY),
        (True, False, True, Activity.WAITING_AGENT),
        (True, True, False, Activity.WAITING_INPUT),
        (True, True, True, Activity.WAITING_INPUT),
    ],
)
def test_a_running_agent_is_idle_busy_or_waits(
    has_open_turn: bool, asks_people: bool, waits_for_agents: bool, doing: Activity
) -> None:
    found = activity_of(
        AgentStatus.RUNNING,
        has_open_turn=has_open_turn,
        asks_people=asks_people,
        waits_for_agents=waits_for_agents,
    )

    assert found is doing


@pytest.mark.parametrize(
    ("status", "doing"),
    [
        (AgentStatus.PENDING, Activity.QUEUED),
        (AgentStatus.STARTING, Activity.STARTING),
        (AgentStatus.STOPPING, Activity.STOPPING),
        *((status, Activity.NONE) for status in sorted(AGENT.finals())),
    ],
)
def test_one_that_does_not_run_does_what_its_status_says(status: AgentStatus, doing: Activity) -> None:
    assert activity_of(status, has_open_turn=True, asks_people=True, waits_for_agents=True) is doing
