"""Agents that outlived an earlier process. agents.md section 2."""

import pytest

from orchestrator.contracts.wire.framing import EventLine, LogLine, OutputItem, Text
from orchestrator.engine.adoption import says_ready


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (EventLine(plain={"type": "ready", "protocol": 1}), True),
        (EventLine(plain={"type": "tool", "name": "x"}), False),
        (EventLine(plain=["ready"]), False),
        (Text(text="ready"), False),
        (LogLine(text="AGENT_EVENT"), False),
    ],
)
def test_an_output_is_whole_when_it_begins_with_what_is_said_first(item: OutputItem, expected: bool) -> None:
    assert says_ready(item) is expected
