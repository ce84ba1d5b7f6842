"""Which walls, places and limits a group's agent gets."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

import pytest

from orchestrator.contracts.ids import AgentId, GroupFolder, Jid
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.launch import PROGRAMS_TARGET, AgentPlaces, LaunchPlan, ResourceLimits
from orchestrator.core.agents.environment import agent_environment
from orchestrator.core.agents.launch_plan import agent_mounts, plan_launch

PLACES: Final = AgentPlaces(
    workspace=Path("/home/d/groups/kitchen/workspace"),
    shared=Path("/home/d/groups/global/workspace"),
    box=Path("/home/d/data/ipc/kitchen"),
    home=Path("/home/d/data/sessions/kitchen/builtin"),
)
KITCHEN: Final = Group(
    folder=GroupFolder("kitchen"),
    jid=Jid("console:kitchen"),
    name="Kitchen",
    trigger="@Assistant",
    assistant_name="Assistant",
    added_at=datetime(2026, 1, 1, tzinfo=UTC),
    number=3,
)


def plan(group: Group = KITCHEN) -> LaunchPlan:
    return plan_launch(
        group=group,
        agent_id=AgentId("agent-1"),
        instance_id="home-1",
        places=PLACES,
        limits=ResourceLimits(),
        timezone="Europe/Berlin",
        uid=64_103,
        gid=64_103,
    )


def test_what_is_inherited_lies_below_ours_and_what_a_definition_adds_above() -> None:
    found = plan_launch(
        group=KITCHEN,
        agent_id=AgentId("agent-1"),
        instance_id="home-1",
        places=PLACES,
        limits=ResourceLimits(),
        timezone="UTC",
        inherited={"PYTHONPATH": "/operators", "EDITOR": "vi", "LANG": "xx"},
        variables={"LANG": "de", "COLOUR": "green"},
    ).environment

    assert (found["PYTHONPATH"], found["EDITOR"], found["LANG"]) == (PROGRAMS_TARGET, "vi", "de")
    assert found["COLOUR"] == "green"


def test_the_mounts_are_those_of_the_design() -> None:
    found = {mount.target: (str(mount.source), mount.is_writable) for mount in agent_mounts(PLACES)}

    box = "/home/d/data/ipc/kitchen"
    assert found == {
        "/workspace/group": ("/home/d/groups/kitchen/workspace", True),
        "/workspace/global": ("/home/d/groups/global/workspace", False),
        "/workspace/ipc": (box, False),
        "/workspace/ipc/messages": (f"{box}/messages", True),
        "/workspace/ipc/tasks": (f"{box}/tasks", True),
        "/workspace/ipc/agents": (f"{box}/agents", True),
        "/workspace/ipc/mail": (f"{box}/mail", True),
        "/workspace/ipc/input": (f"{box}/input", True),
        "/workspace/ipc/acks": (f"{box}/acks", True),
        "/home/agent": ("/home/d/data/sessions/kitchen/builtin", True),
    }


def test_what_lies_over_another_mount_comes_after_it() -> None:
    seen: list[PurePosixPath] = []

    for target in (PurePosixPath(mount.target) for mount in agent_mounts(PLACES)):
        assert not any(earlier.is_relative_to(target) for earlier in seen)
        seen.append(target)


def test_h4_the_operators_file_beside_the_workspace_is_not_mounted() -> None:
    sources = {mount.source for mount in agent_mounts(PLACES)}

    assert not any(Path("/home/d/groups/kitchen/AGENT.md").is_relative_to(source) for source in sources)


def test_the_agent_runner_finds_its_places_where_they_are_mounted() -> None:
    environment = agent_environment(
        group=GroupFolder("kitchen"), chat=Jid("1@g.us"), timezone="UTC", toolsets=("chat",)
    )

    targets = {mount.target for mount in agent_mounts(PLACES)}
    named = {environment[name] for name in ("DOVECOTE_WORKSPACE", "DOVECOTE_GLOBAL", "DOVECOTE_BOX", "HOME")}
    assert named <= targets


@pytest.mark.parametrize(
    ("own", "expected"),
    [(None, "Europe/Berlin"), ("Asia/Tokyo", "Asia/Tokyo")],
    ids=["the installation's", "its own"],
)
def test_the_time_zone_is_the_groups(own: str | None, expected: str) -> None:
    made = plan(replace(KITCHEN, timezone=own))

    assert made.environment["TZ"] == expected


def test_the_plan_carries_who_and_where() -> None:
    made = plan()

    assert (made.agent_id, made.instance_id, made.group) == ("agent-1", "home-1", "kitchen")
    assert (made.uid, made.gid) == (64_103, 64_103)
    assert made.command == ("python3", "-s", "-P", "-m", "container.agent_runner")
    assert made.working_directory == "/workspace/group"
    assert not made.runs_model_commands
