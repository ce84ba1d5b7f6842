"""How an agent stands, in the words that a terminal and a chat share."""

import pytest

from orchestrator.contracts.records.agents import AgentStatus
from orchestrator.contracts.wire.agent_words import stand_of
from orchestrator.core.agents.activity import Activity


@pytest.mark.parametrize(
    ("lifecycle", "activity", "waits_for", "words"),
    [
        ("pending", "queued", 0, "queued"),
        ("running", "busy", 0, "running"),
        ("running", None, 0, "running"),
        ("running", "idle", 0, "idle"),
        ("running", "waiting_agent", 1, "waits for 1 helper"),
        ("running", None, 2, "waits for 2 helpers"),
        ("running", "waiting_input", 1, "waits for an answer"),
        ("stopping", "stopping", 1, "stopping"),
        ("timed_out", "none", 0, "timed out"),
        ("terminated", "none", 1, "terminated"),
    ],
)
def test_what_an_agent_does_is_said_in_words(
    lifecycle: str, activity: str | None, waits_for: int, words: str
) -> None:
    assert stand_of(lifecycle, activity=activity, waits_for=waits_for) == words


@pytest.mark.parametrize("status", AgentStatus)
@pytest.mark.parametrize("activity", [None, *Activity])
def test_no_word_has_the_spelling_of_a_program(status: AgentStatus, activity: Activity | None) -> None:
    words = stand_of(status.value, activity=None if activity is None else activity.value)

    assert "_" not in words
