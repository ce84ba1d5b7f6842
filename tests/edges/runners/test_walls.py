"""Mounts are opened first and compared afterwards; this process stands for the one inside."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.contracts.errors import StartFailed
from orchestrator.contracts.ids import AgentId, GroupFolder
from orchestrator.contracts.records.launch import LaunchPlan, Mount
from orchestrator.runners import mount_check


def plan_with(*mounts: Mount) -> LaunchPlan:
    return LaunchPlan(
        agent_id=AgentId("agent-1"),
        instance_id="home-1",
        group=GroupFolder("kitchen"),
        command=("true",),
        mounts=mounts,
        environment={},
        working_directory="/",
    )


def test_a_mount_that_is_what_it_was_compares_equal() -> None:
    # Seen from this process, a place where something is mounted is mounted at its own path.
    plan = plan_with(Mount(source=Path("/proc"), target="/proc", is_writable=True))

    with mount_check.opened_mounts(plan) as mounts:
        found = mount_check.differences(os.getpid(), mounts)

    assert found == []


def test_e11_a_place_where_nothing_is_mounted_is_found_though_its_number_is_the_same(tmp_path: Path) -> None:
    """Case E11: what is made in the place of what was removed may have its number."""
    plan = plan_with(Mount(source=tmp_path, target=str(tmp_path), is_writable=True))

    with mount_check.opened_mounts(plan) as mounts:
        found = mount_check.differences(os.getpid(), mounts)

    assert found == [f"{tmp_path} is not a mount"]


def test_e11_a_directory_exchanged_meanwhile_is_found(tmp_path: Path) -> None:
    """Case E11."""
    place = tmp_path / "workspace"
    place.mkdir()
    plan = plan_with(Mount(source=place, target=str(place), is_writable=True))

    with mount_check.opened_mounts(plan) as mounts:
        place.rename(tmp_path / "aside")
        place.mkdir()
        found = mount_check.differences(os.getpid(), mounts)

    assert len(found) == 1
    with pytest.raises(StartFailed, match="workspace"):
        mount_check.refuse_differences(found)


def test_a_place_that_should_be_read_only_is_found_writable(tmp_path: Path) -> None:
    plan = plan_with(Mount(source=tmp_path, target=str(tmp_path)))

    with mount_check.opened_mounts(plan) as mounts:
        found = mount_check.differences(os.getpid(), mounts)

    assert found == [f"{tmp_path} is writable"]


def test_a_link_inside_is_not_followed_out(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    plan = plan_with(Mount(source=tmp_path / "real", target=str(tmp_path / "real"), is_writable=True))

    with mount_check.opened_mounts(plan) as mounts:
        aimed = [replace(each, mount=replace(each.mount, target=str(tmp_path / "link"))) for each in mounts]
        found = mount_check.differences(os.getpid(), aimed)

    assert len(found) == 1


def test_a_source_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with (
        pytest.raises(StartFailed, match="symbolic link"),
        mount_check.opened_mounts(plan_with(Mount(source=tmp_path / "link", target="/x"))),
    ):
        pass


def test_opened_sources_are_closed_again(tmp_path: Path) -> None:
    plan = plan_with(*(Mount(source=tmp_path, target=f"/x{n}") for n in range(5)))
    before = len(os.listdir("/proc/self/fd"))

    with mount_check.opened_mounts(plan):
        meanwhile = len(os.listdir("/proc/self/fd"))

    assert meanwhile == before + 5
    assert len(os.listdir("/proc/self/fd")) == before
