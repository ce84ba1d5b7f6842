"""Each event has the fields of the seed document, spelled and typed as there, and no others."""

import json
from collections.abc import Mapping
from typing import Any, get_args

import pytest

from orchestrator.contracts.events import (
    AgentCompleted,
    AgentFailed,
    AgentLogged,
    AgentProgressed,
    AgentRestarted,
    AgentStarted,
    AgentTerminated,
    AuditEvent,
    CascadeTerminated,
    ChildSpawned,
    DepthLimitExceeded,
    Event,
    EventClass,
    LifeEvent,
    LogLevel,
    OrphanTerminated,
    ParentNotFound,
    ParentNotRunning,
    RestartEvent,
    RestartsGivenUp,
    TokenExpired,
    TokenGenerated,
    TokenSignatureInvalid,
    TokenValidationFailed,
    TreeLimitExceeded,
    TreeTerminated,
    class_of,
)
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.wire.codec import to_json

ID, PARENT, TREE = AgentId("agent-1"), AgentId("agent-0"), TreeId("tree-1")
PLACE: Mapping[str, Any] = {"agent_id": ID, "tree_id": TREE, "depth": 1, "parent_agent_id": PARENT}
HIERARCHY: Mapping[str, Any] = {
    "agentId": "agent-1",
    "parentAgentId": "agent-0",
    "treeId": "tree-1",
    "depth": 1,
}
STR, INT, NUMBER, STRINGS = str, int, (int, float), list

LIFE: list[tuple[LifeEvent, str, Mapping[str, Any]]] = [
    (
        AgentStarted(**PLACE, task="Write tests", workspace_path="/home/user/project"),
        "agent.started",
        {"task": STR, "workspacePath": STR},
    ),
    (
        AgentLogged(**PLACE, message="reading", level=LogLevel.WARN),
        "agent.log",
        {"message": STR, "level": STR},
    ),
    (
        AgentProgressed(**PLACE, progress=40, description="half"),
        "agent.progress",
        {"progress": NUMBER, "description": STR},
    ),
    (
        AgentCompleted(**PLACE, exit_code=0, output="done", duration_ms=5, files_modified=("src/a.py",)),
        "agent.completed",
        {"exitCode": INT, "output": STR, "durationMs": INT, "filesModified": STRINGS},
    ),
    (
        AgentFailed(**PLACE, exit_code=1, error="crashed", output="half"),
        "agent.failed",
        {"exitCode": INT, "error": STR, "output": STR},
    ),
    (
        AgentTerminated(**PLACE, reason="cascade", terminated_by=PARENT, stopped_with="parent"),
        "agent.terminated",
        {"reason": STR, "terminatedBy": STR, "stoppedWith": STR},
    ),
]
AUDIT: list[tuple[AuditEvent, str, Mapping[str, Any]]] = [
    (
        ChildSpawned(
            agent_id=ID, parent_agent_id=PARENT, tree_id=TREE, depth=1, task="Write tests", asked_by="key:ci"
        ),
        "spawn.nested",
        {"agentId": STR, "parentAgentId": STR, "treeId": STR, "depth": INT, "task": STR, "askedBy": STR},
    ),
    (ParentNotFound(parent_agent_id=PARENT), "spawn.parent_not_found", {"parentAgentId": STR}),
    (
        ParentNotRunning(parent_agent_id=PARENT, parent_status="completed"),
        "spawn.parent_not_running",
        {"parentAgentId": STR, "parentStatus": STR},
    ),
    (
        DepthLimitExceeded(depth=3, max_depth=2, tree_id=TREE),
        "spawn.depth_limit_exceeded",
        {"depth": INT, "maxDepth": INT, "treeId": STR},
    ),
    (
        TreeLimitExceeded(total_agents=10, max_agents=10, tree_id=TREE),
        "spawn.tree_limit_exceeded",
        {"totalAgents": INT, "maxAgents": INT, "treeId": STR},
    ),
    (
        TokenGenerated(agent_id=ID, tree_id=TREE, depth=1, expires_at=1_700_000_000_000),
        "token.generated",
        {"agentId": STR, "treeId": STR, "depth": INT, "expiresAt": INT},
    ),
    (
        TokenValidationFailed(reason="malformed", agent_id=ID),
        "token.validation_failed",
        {"reason": STR, "agentId": STR},
    ),
    (TokenSignatureInvalid(agent_id=ID), "token.signature_invalid", {"agentId": STR}),
    (
        TokenExpired(agent_id=ID, expired_at=1_700_000_000_000),
        "token.expired",
        {"agentId": STR, "expiredAt": INT},
    ),
    (
        CascadeTerminated(
            agent_id=ID,
            reason="cascade",
            terminated_count=3,
            terminated_by="operator",
            stopped_with="orchestrator",
        ),
        "terminate.cascade",
        {"agentId": STR, "reason": STR, "terminatedCount": INT, "terminatedBy": STR, "stoppedWith": STR},
    ),
    (
        OrphanTerminated(agent_id=ID, parent_agent_id=PARENT, reason="parent_terminated"),
        "terminate.orphan",
        {"agentId": STR, "parentAgentId": STR, "reason": STR},
    ),
    (
        TreeTerminated(tree_id=TREE, root_agent_id=PARENT, total_agents=4),
        "tree.terminated",
        {"treeId": STR, "rootAgentId": STR, "totalAgents": INT},
    ),
]
RESTARTS: list[tuple[RestartEvent, str, Mapping[str, Any]]] = [
    (
        AgentRestarted(**PLACE, restarts=2, delay_ms=2_000, error="crashed"),
        "agent.restarted",
        {"restarts": INT, "delayMs": INT, "error": STR},
    ),
    (
        RestartsGivenUp(**PLACE, restarts=3, error="crashed"),
        "agent.restarts_given_up",
        {"restarts": INT, "error": STR},
    ),
]


def _names(cases: list[tuple[Any, str, Mapping[str, Any]]]) -> list[str]:
    return [name for _, name, _ in cases]


@pytest.mark.parametrize(("event", "name", "types"), LIFE, ids=_names(LIFE))
def test_an_event_of_an_agent_has_the_documents_fields_and_its_place_in_the_tree(
    event: LifeEvent, name: str, types: Mapping[str, Any]
) -> None:
    plain = json.loads(to_json(event))

    assert plain.pop("type") == name
    assert {key: plain.pop(key) for key in HIERARCHY} == HIERARCHY
    assert plain.keys() == types.keys()
    assert all(isinstance(plain[key], kind) for key, kind in types.items())
    assert class_of(event) is EventClass.AGENT


@pytest.mark.parametrize(("event", "name", "types"), AUDIT, ids=_names(AUDIT))
def test_an_event_for_the_audit_has_the_documents_fields(
    event: AuditEvent, name: str, types: Mapping[str, Any]
) -> None:
    plain = json.loads(to_json(event))

    assert plain.pop("type") == name
    assert plain.keys() == types.keys()
    assert all(isinstance(plain[key], kind) for key, kind in types.items())
    assert class_of(event) is EventClass.AUDIT


@pytest.mark.parametrize(("event", "name", "types"), RESTARTS, ids=_names(RESTARTS))
def test_an_event_of_a_restart_says_whose_and_is_kept_for_the_audit(
    event: RestartEvent, name: str, types: Mapping[str, Any]
) -> None:
    plain = json.loads(to_json(event))

    assert plain.pop("type") == name
    assert {key: plain.pop(key) for key in HIERARCHY} == HIERARCHY
    assert plain.keys() == types.keys()
    assert all(isinstance(plain[key], kind) for key, kind in types.items())
    assert class_of(event) is EventClass.AUDIT


def test_every_event_that_there_is_has_its_row_here() -> None:
    assert {type(event) for event, _, _ in RESTARTS} == set(get_args(RestartEvent))
    assert {type(event) for event, _, _ in LIFE} == set(get_args(LifeEvent))
    assert {type(event) for event, _, _ in AUDIT} == set(get_args(AuditEvent))
    assert len(get_args(Event)) == 6 + 12 + 2


def test_a_root_has_no_parent_in_its_events() -> None:
    event = AgentStarted(agent_id=ID, tree_id=TREE, depth=0, task="Write tests", workspace_path="/w")

    assert "parentAgentId" not in json.loads(to_json(event))


@pytest.mark.parametrize("level", ["info", "warn", "error"])
def test_the_levels_of_a_log_line_are_those_of_the_document(level: str) -> None:
    assert LogLevel(level).value == level
