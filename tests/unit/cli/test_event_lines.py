"""Events as lines in a terminal."""

from collections.abc import Mapping
from dataclasses import fields
from typing import get_args

import pytest

from orchestrator.cli.event_lines import event_line
from orchestrator.contracts.events import AuditEvent, LifeEvent, RestartEvent
from orchestrator.contracts.records.spawns import StopReason
from orchestrator.contracts.records.tokens import TokenFault

# Faults that are events of a type of their own.
OF_THEIR_OWN_TYPE = (TokenFault.SIGNATURE, TokenFault.EXPIRED)
ORPHANED = ("parent_not_found", "parent_terminated", "tree_terminated")
EXTRA: Mapping[str, Mapping[str, object]] = {
    "spawn.parent_not_running": {"parentStatus": "failed"},
    "spawn.depth_limit_exceeded": {"depth": 2, "maxDepth": 1},
    "spawn.tree_limit_exceeded": {"totalAgents": 2, "maxAgents": 2},
    "agent.terminated": {"reason": "manual"},
    "agent.restarted": {"restarts": 1},
    "terminate.cascade": {"reason": "manual", "terminatedCount": 1},
    "terminate.orphan": {"reason": "parent_terminated"},
    "tree.terminated": {"totalAgents": 1},
}
WHEN = {"timestamp": "2026-01-15T10:30:00.123Z"}


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        ({"type": "agent.log", "agentId": "a-1", "message": "one\ntwo\x1b[2J"}, "a-1 agent.log one / two[2J"),
        (
            {"type": "agent.progress", "agentId": "a-1", "progress": 40, "description": "half"},
            "a-1 agent.progress 40% half",
        ),
        (
            {"type": "agent.started", "agentId": "a-1", "task": "Write tests"},
            "a-1 agent.started started: Write tests",
        ),
        ({"type": "agent.failed", "agentId": "a-1", "error": "crashed"}, "a-1 agent.failed failed: crashed"),
        (
            {"type": "agent.terminated", "agentId": "a-1", "reason": "timeout"},
            "a-1 agent.terminated stopped because its time was over",
        ),
        (
            {"type": "agent.terminated", "agentId": "a-1", "reason": "cascade"},
            "a-1 agent.terminated stopped by Dovecote, or with it",
        ),
        (
            {"type": "agent.terminated", "agentId": "a-1", "parentAgentId": "a-0", "reason": "cascade"},
            "a-1 agent.terminated stopped with what had started it, or with Dovecote",
        ),
        (
            {
                "type": "agent.terminated",
                "agentId": "a-1",
                "parentAgentId": "a-0",
                "reason": "cascade",
                "terminatedBy": "a-9",
            },
            "a-1 agent.terminated stopped with what had started it",
        ),
        *(
            (
                {
                    "type": kind,
                    "agentId": "a-1",
                    "reason": "cascade",
                    "terminatedCount": 1,
                    "stoppedWith": whose,
                },
                f"a-1 {kind} {words}",
            )
            for kind in ("agent.terminated", "terminate.cascade")
            for whose, words in (
                ("parent", "stopped with what had started it"),
                ("orchestrator", "stopped by Dovecote, or with it"),
                ("orchestrator_died", "ended, since Dovecote ended while it ran"),
            )
        ),
        (
            {"type": "spawn.depth_limit_exceeded", "depth": 2, "maxDepth": 2, "treeId": "t-1"},
            "t-1 spawn.depth_limit_exceeded refused: its parent is at depth 2, and 2 is the deepest",
        ),
        (
            {"type": "spawn.tree_limit_exceeded", "totalAgents": 10, "maxAgents": 10, "treeId": "t-1"},
            "t-1 spawn.tree_limit_exceeded refused: its tree has 10 agents, and 10 is the most",
        ),
        (
            {"type": "spawn.parent_not_found", "parentAgentId": "a-9"},
            "spawn.parent_not_found refused: there is no parent a-9; who asked: dovecote errors",
        ),
        (
            {"type": "spawn.parent_not_running", "parentAgentId": "a-9", "parentStatus": "completed"},
            "spawn.parent_not_running "
            "refused: a-9, which was to be its parent, is completed; who asked: dovecote errors",
        ),
        (
            {"type": "spawn.nested", "agentId": "a-2", "parentAgentId": "a-1", "task": "Read"},
            "a-2 spawn.nested asked for by a-1: Read",
        ),
        *(
            (
                {
                    "type": "spawn.nested",
                    "agentId": "a-2",
                    "parentAgentId": "a-1",
                    "task": "Read",
                    "askedBy": asker,
                },
                f"a-2 spawn.nested asked for by {who}, below a-1: Read",
            )
            for asker, who in (("key:ci", "the API key ci"), ("operator", "the operator"))
        ),
        ({"type": "agent.completed", "agentId": "a-1", "output": ""}, "a-1 agent.completed ended well"),
        (
            {"type": "agent.restarted", "agentId": "a-1", "restarts": 2, "delayMs": 5, "error": "crashed"},
            "a-1 agent.restarted started again, for the 2nd time: crashed",
        ),
        ({"type": "token.generated", "agentId": "a-1"}, "a-1 token.generated was given a token"),
        (
            {
                "type": "terminate.orphan",
                "agentId": "a-1",
                "parentAgentId": "a-0",
                "reason": "tree_terminated",
            },
            "a-1 terminate.orphan stopped: its tree is over",
        ),
        (
            {"type": "tree.terminated", "treeId": "t-1", "totalAgents": 4},
            "t-1 tree.terminated the tree is over; it had 4 agents",
        ),
        (
            {"type": "terminate.cascade", "agentId": "a-1", "reason": "manual", "terminatedCount": 3},
            "a-1 terminate.cascade stopped, with 2 below it",
        ),
        *(
            (
                {
                    "type": kind,
                    "agentId": "a-1",
                    "reason": "manual",
                    "terminatedCount": 1,
                    "terminatedBy": by,
                },
                f"a-1 {kind} stopped by {who}",
            )
            for kind in ("agent.terminated", "terminate.cascade")
            for by, who in (
                ("operator", "the operator"),
                ("key:ci", "the API key ci"),
                ("agent-7", "agent agent-7"),
            )
        ),
        (
            {"type": "gap", "treeId": "t-1", "firstSeq": 3, "lastSeq": 5, "reason": "overflow"},
            "t-1 events 3 to 5 are missing: they came faster than they were read",
        ),
        (
            {"type": "gap", "treeId": "*", "reason": "expired"},
            "events are missing: they are not kept any more",
        ),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_an_event_is_one_line_that_says_when_who_what_and_why(
    event: Mapping[str, object], shown: str
) -> None:
    line = event_line({**WHEN, **event})

    assert " ".join(line.split()) == f"2026-01-15 10:30:00 UTC {shown}"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        *(("token.validation_failed", fault) for fault in TokenFault if fault not in OF_THEIR_OWN_TYPE),
        *(("agent.terminated", reason) for reason in StopReason),
        *(("terminate.orphan", reason) for reason in ORPHANED),
    ],
)
def test_a_reason_is_told_in_words_of_its_own(kind: str, reason: str) -> None:
    event = {**WHEN, "type": kind, "agentId": "a-1", "reason": reason}

    line = event_line(event)
    of_no_reason = event_line({**event, "reason": "no reason that there is"})

    assert line != of_no_reason
    assert "_" not in line.split(kind)[1]


def test_every_event_there_is_says_something_beside_its_name() -> None:
    classes = [each for union in (LifeEvent, AuditEvent, RestartEvent) for each in get_args(union)]
    types = [str(field.default) for each in classes for field in fields(each) if field.name == "type"]
    common = {
        "agentId": "a-1",
        "parentAgentId": "a-0",
        "task": "t",
        "message": "m",
        "progress": 1,
        "error": "e",
    }

    lines = {kind: event_line({**WHEN, **EXTRA.get(kind, {}), **common, "type": kind}) for kind in types}
    silent = [kind for kind, line in lines.items() if line.endswith(kind)]

    assert len(types) == 20
    assert silent == []
    places = {len(line) - len(line.split(kind + " ", 1)[1].lstrip()) for kind, line in lines.items()}
    assert len(places) == 1, "what they say stands below each other"


def test_a_line_shows_no_markdown() -> None:
    line = event_line({**WHEN, "type": "agent.log", "agentId": "a-1", "message": "It is **03:08** now"})

    assert line.endswith("It is 03:08 now")
