"""Snapshots in the box itself: whole at any moment, the host's own, whatever lies in their place."""

import os
from pathlib import Path

import pytest

from orchestrator.contracts.ids import BoxName
from orchestrator.contracts.wire.boxes import TASKS_SNAPSHOT
from orchestrator.store.unsafe import UnsafeEntry
from tests.edges.ipc.conftest import World


async def test_a_snapshot_replaces_the_one_before_and_leaves_nothing_else(world: World) -> None:
    agent = await world.agent("family")

    await agent.port.write_snapshot(TASKS_SNAPSHOT, b"[1, 2, 3]")
    held_open = (agent.path / TASKS_SNAPSHOT).open("rb")
    await agent.port.write_snapshot(TASKS_SNAPSHOT, b"[]")

    with held_open:
        assert held_open.read() == b"[1, 2, 3]"  # a reader has the whole of the one or of the other
    assert (agent.path / TASKS_SNAPSHOT).read_bytes() == b"[]"
    assert [each.name for each in agent.path.iterdir() if not each.is_dir()] == [TASKS_SNAPSHOT]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives agents a user of their own")
async def test_an_agent_with_a_user_of_its_own_may_read_it_and_nothing_more(world: World) -> None:
    port = await world.keeper.make(BoxName("family"), uid=64_123, gid=64_123)

    await port.write_snapshot(TASKS_SNAPSHOT, b"[]")

    status = os.stat(Path(world.keeper.path_of(BoxName("family")), TASKS_SNAPSHOT))
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (0, 64_123, 0o640)


async def test_d_9_a_link_in_its_place_is_replaced_and_what_it_points_to_stays(
    world: World, tmp_path: Path
) -> None:
    """Case D-9."""
    agent = await world.agent("family")
    target = tmp_path / "precious"
    target.write_text("precious")
    os.symlink(target, agent.path / TASKS_SNAPSHOT)

    await agent.port.write_snapshot(TASKS_SNAPSHOT, b"[]")

    assert target.read_text() == "precious"
    assert not (agent.path / TASKS_SNAPSHOT).is_symlink()
    assert (agent.path / TASKS_SNAPSHOT).read_bytes() == b"[]"


async def test_a_directory_in_its_place_is_refused_and_stays(world: World) -> None:
    agent = await world.agent("family")
    (agent.path / TASKS_SNAPSHOT / "full").mkdir(parents=True)

    with pytest.raises((UnsafeEntry, OSError)):
        await agent.port.write_snapshot(TASKS_SNAPSHOT, b"[]")

    assert (agent.path / TASKS_SNAPSHOT / "full").is_dir()
