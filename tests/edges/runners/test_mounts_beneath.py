"""What is mounted out of a tree that other agents write is what was meant, or nothing.

Source: agents.md section 2.
"""

import os
from pathlib import Path

import pytest

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.launch import LaunchPlan, Mount
from orchestrator.runners.mount_check import opened_mounts


def plan_for(source: Path, beneath: Path | None) -> LaunchPlan:
    """A launch with one mount."""
    return LaunchPlan(
        agent_id=AgentId("agent-1"),
        instance_id="home-1",
        group=GroupFolder("kitchen"),
        command=("true",),
        mounts=(Mount(source=source, target="/workspace/group/out", beneath=beneath),),
        environment={},
        working_directory="/",
    )


def test_a_path_without_links_is_opened_as_it_is(tmp_path: Path) -> None:
    out = tmp_path.resolve() / "workspace" / "out"
    out.mkdir(parents=True)

    with opened_mounts(plan_for(out, Path("/"))) as (opened,):
        assert (opened.device, opened.inode) == (out.stat().st_dev, out.stat().st_ino)


@pytest.mark.parametrize("place", ["workspace", "out"])
def test_attack_a_link_put_on_the_way_of_a_mount_after_it_was_looked_up_mounts_nothing(
    tmp_path: Path, place: str
) -> None:
    top, foreign = tmp_path.resolve(), tmp_path.resolve() / "foreign"
    (foreign / "out").mkdir(parents=True)
    workspace = top / "workspace"
    (workspace / "out").mkdir(parents=True)
    plan = plan_for(workspace / "out", top)
    moved = workspace if place == "workspace" else workspace / "out"
    os.rename(moved, top / "moved")
    moved.symlink_to(foreign if place == "workspace" else foreign / "out")

    with pytest.raises(StartFailed), opened_mounts(plan):
        pass
