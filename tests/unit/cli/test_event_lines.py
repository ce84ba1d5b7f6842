"""Events as lines in a terminal."""

from collections.abc import Mapping

import pytest

from orchestrator.cli.events import event_line

WHEN = {"timestamp": "2026-01-15T10:30:00.123Z"}


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({"type": "agent.log", "agentId": "a-1", "message": "one\ntwo\x1b[2J"}, "a-1 agent.log one / two[2J"),
        (
            {"type": "agent.progress", "agentId": "a-1", "progress": 40, "description": "half"},
            "a-1 agent.progress 40% half",
        ),
        ({"type": "agent.started", "agentId": "a-1", "task": "Write tests"}, "a-1 agent.started Write tests"),
        ({"type": "agent.failed", "agentId": "a-1", "error": "crashed"}, "a-1 agent.failed crashed"),
        (
            {"type": "agent.terminated", "agentId": "a-1", "reason": "timeout"},
            "a-1 agent.terminated its time was over",
        ),
        (
            {"type": "agent.terminated", "agentId": "a-1", "reason": "cascade"},
            "a-1 agent.terminated with what had started it, or with Dovecote",
        ),
        (
            {"type": "spawn.depth_limit_exceeded", "depth": 3, "maxDepth": 2, "treeId": "t-1"},
            "t-1 spawn.depth_limit_exceeded depth 3 of 2",
        ),
        (
            {"type": "spawn.tree_limit_exceeded", "totalAgents": 10, "maxAgents": 10, "treeId": "t-1"},
            "t-1 spawn.tree_limit_exceeded 10 of 10 agents",
        ),
        (
            {"type": "spawn.parent_not_found", "parentAgentId": "a-9"},
            "spawn.parent_not_found there is no parent a-9; who asked: dovecote errors",
        ),
        (
            {"type": "spawn.parent_not_running", "parentAgentId": "a-9", "parentStatus": "completed"},
            "spawn.parent_not_running the parent a-9 is completed; who asked: dovecote errors",
        ),
        ({"type": "tree.terminated", "treeId": "t-1", "totalAgents": 4}, "t-1 tree.terminated 4 agents"),
        (
            {"type": "terminate.cascade", "agentId": "a-1", "reason": "manual", "terminatedCount": 3},
            "a-1 terminate.cascade manual, 3 agents",
        ),
        (
            {"type": "gap", "treeId": "t-1", "firstSeq": 3, "lastSeq": 5, "reason": "overflow"},
            "t-1 events 3 to 5 are missing (overflow)",
        ),
        ({"type": "gap", "treeId": "*", "reason": "expired"}, "* events are missing (expired)"),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_an_event_is_one_line_that_says_when_who_what_and_why(
    event: Mapping[str, object], shown: str
) -> None:
    line = event_line({**WHEN, **event})

    assert " ".join(line.split()) == f"2026-01-15 10:30:00 {shown}"
