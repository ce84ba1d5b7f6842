"""What a model is told of the agents that it starts: the fields of seed 000, by its names and types."""

from typing import Any

import pytest

from container.spawn_answers import listed, not_spawned, spawned, stopped
from orchestrator.contracts.wire.agent_requests import GET_AGENT_STATUS, TERMINATE_AGENT
from orchestrator.contracts.wire.replies import ReplyError

ANSWER = {
    "agentId": "agent-1",
    "treeId": "tree-1",
    "depth": 1,
    "status": "pending",
    "effectiveTimeoutMs": 60_000,
    "cappedBy": None,
    "quotaInfo": {"treeAgentsRemaining": 8, "depthRemaining": 1},
}
TOLD: dict[str, Any] = {
    "status": "completed",
    "lifecycle": "completed",
    "exitCode": 0,
    "output": "done",
    "durationMs": 1_234,
    "filesModified": ["a.txt"],
    "sharedWith": [],
}


def test_a_result_has_the_fields_of_the_source_document() -> None:
    answer = spawned(ANSWER, TOLD)

    assert not answer.is_error
    assert answer.content == {
        "agent_id": "agent-1",
        "status": "completed",
        "exit_code": 0,
        "output": "done",
        "duration_ms": 1_234,
        "files_modified": ["a.txt"],
        "quota_info": {"tree_agents_remaining": 8, "depth_remaining": 1},
        "tree_id": "tree-1",
        "depth": 1,
        "effective_timeout_ms": 60_000,
        "capped_by": None,
    }
    assert answer.text == "Agent agent-1 has completed its task in 1.2 s.\n\ndone\n\nFiles changed: a.txt"


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (
            {"status": "failed", "exitCode": 3, "output": "", "durationMs": 0, "error": "It broke."},
            "Agent agent-1 has failed after 0.0 s: It broke.",
        ),
        (
            {"status": "timeout", "exitCode": None, "output": "half", "durationMs": 60_000},
            "Agent agent-1 was stopped after 60.0 s: its time was over.\n\nhalf",
        ),
        (
            {},
            "Agent agent-1 is at work. Call get_agent_status with its id for its result.",
        ),
    ],
)
def test_the_text_says_how_it_ended_and_what_it_said(told: dict[str, object], text: str) -> None:
    answer = spawned(ANSWER, told)

    assert answer.text == text
    assert answer.content["status"] == told.get("status", "running")
    assert answer.content["exit_code"] == told.get("exitCode")
    assert answer.content.get("error") == told.get("error")


def test_another_writer_of_the_same_files_is_named() -> None:
    assert spawned(ANSWER, TOLD | {"sharedWith": ["agent-2"]}).content["shared_with"] == ["agent-2"]


def test_of_a_long_output_a_model_gets_beginning_and_end() -> None:
    output = "a" * 50_000 + "b" * 50_000

    shown = str(spawned(ANSWER, TOLD | {"output": output}).content["output"])

    assert shown == "a" * 30_000 + "\n[… 40000 characters left out …]\n" + "b" * 30_000


@pytest.mark.parametrize(
    ("code", "message", "told"),
    [
        ("SPAWN_DISABLED", "Nested spawning is disabled: none.", "Nested spawning is disabled: none."),
        ("DEPTH_EXCEEDED", "2 is the deepest.", "Depth limit exceeded. 2 is the deepest."),
        ("QUOTA_EXCEEDED", "10 is the most.", "Tree agent limit exceeded. 10 is the most."),
        ("PARENT_NOT_FOUND", "There is none.", "Parent agent not found. There is none."),
        ("PARENT_NOT_RUNNING", "It has ended.", "Parent agent not running. It has ended."),
        ("WORKSPACE_NOT_ALLOWED", "/srv is not.", "Workspace not allowed. /srv is not."),
        ("RATE_LIMITED", "Too many.", "Too many."),
    ],
)
def test_a_refusal_says_what_the_source_document_says(code: str, message: str, told: str) -> None:
    answer = not_spawned(ReplyError(code=code, message=message, suggestion="Wait.", details={"max": 2}))

    assert answer.is_error
    assert answer.content == {
        "error": {"code": code, "message": told, "suggestion": "Wait.", "details": {"max": 2}}
    }
    assert answer.text == f"{code}: {told} Wait."


def test_agents_are_listed_a_line_each_and_one_alone_with_what_it_said() -> None:
    agents = [{"id": f"agent-{n}", "lifecycle": "running", "name": None, "task": "a\nb"} for n in range(60)]

    many = listed(GET_AGENT_STATUS, {"agents": agents})
    one = listed(GET_AGENT_STATUS, {"agents": [agents[0] | {"output": "hello"}]})

    assert many.content == {"agents": agents}
    assert many.text.splitlines()[:2] == ["Agents: 60.", "- agent-0 (running) none: a b"]
    assert many.text.splitlines()[-1] == "- … and 10 more"
    assert one.text.splitlines()[-1] == "hello"


def test_a_stop_names_those_that_are_gone_and_those_that_are_not() -> None:
    result = {"stopping": ["a", "b", "c"], "terminated": ["d"], "skipped": ["e"], "totalProcessed": 5}

    answer = stopped(TERMINATE_AGENT, result, {"a": "terminated", "b": "lost"})

    assert answer.content == {
        "success": False,
        "terminated": ["a", "d"],
        "failed": [
            {"agentId": "b", "error": "It was told to stop, and nobody knows whether it still runs."},
            {"agentId": "c", "error": "It was told to stop, and nothing was heard of it."},
        ],
        "skipped": ["e"],
        "totalProcessed": 5,
    }
    assert answer.text == "Stopped: 5. Not gone: b, c."
