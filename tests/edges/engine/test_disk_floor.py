"""The floor of free space, on a real disk of a few megabytes."""

from pathlib import Path

from orchestrator.app.parts import SystemClock
from orchestrator.engine.disk_floor import DiskFloor
from tests.support.small_disk import small_disk

MIB = 1024 * 1024


async def test_a_disk_is_low_below_its_floor_and_well_only_when_clearly_above_it(tmp_path: Path) -> None:
    disk, ballast = tmp_path / "disk", tmp_path / "disk" / "ballast"
    looks: list[bool] = []
    with small_disk(disk, 20 * MIB):
        floor = DiskFloor(tmp_path, disk, floor_bytes=10 * MIB, clock=SystemClock())
        for used_mib in (5.0, 9.9, 10.1, 9.9, 9.5, 8.5):
            ballast.write_bytes(bytes(int(used_mib * MIB)))
            looks.append(await floor.look())

    assert looks == [False, False, True, True, True, False]


async def test_a_directory_that_is_gone_says_nothing_of_the_disk(tmp_path: Path) -> None:
    floor = DiskFloor(tmp_path, tmp_path / "gone", floor_bytes=1, clock=SystemClock())

    assert await floor.allows_start()
