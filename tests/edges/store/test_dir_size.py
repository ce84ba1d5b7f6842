"""What a directory holds, whatever its owner puts into it: counted once, in slices, and never left."""

import os
from pathlib import Path

import pytest

from orchestrator.contracts.records.dir_sizes import MAX_DEPTH, DirBudget, DirSize
from orchestrator.store.dir_removal import remove_dir
from orchestrator.store.dir_size import SLICE, measure_dir
from orchestrator.store.safe_dir import SafeDir
from tests.support.plain_user import as_plain_user, plain_users_directory

WIDE = DirBudget(max_bytes=1 << 40, max_entries=1_000_000)
MIB = 1024 * 1024


def measured(top: Path, budget: DirBudget = WIDE) -> tuple[DirSize, int]:
    """The size, and in how many slices it was found."""
    slices = 1
    with SafeDir.open(top) as held:
        walk = measure_dir(held, budget)
        while True:
            try:
                next(walk)
            except StopIteration as end:
                return end.value, slices
            slices += 1


def by_du(top: Path) -> int:
    """What the disk gave away, found by another way."""
    seen = {(each.lstat().st_ino): each.lstat().st_blocks * 512 for each in top.rglob("*")}
    return sum(seen.values())


def test_a_tree_holds_what_the_disk_gave_away_for_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "one").write_bytes(b"x" * 100_000)
    (tmp_path / "a" / "b" / "two").write_bytes(b"y" * 5)
    (tmp_path / "link").symlink_to("a/one")

    size, _ = measured(tmp_path)

    assert size == DirSize(size_bytes=by_du(tmp_path), entries=5)
    assert size.size_bytes >= 100_000


def test_attack_a_sparse_file_costs_what_it_holds_and_not_what_it_says(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)

    assert measured(tmp_path)[0].size_bytes < MIB


def test_attack_two_names_of_one_file_cost_once(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * MIB)
    for number in range(5):
        os.link(tmp_path / "one", tmp_path / f"again{number}")

    size, _ = measured(tmp_path)

    assert MIB <= size.size_bytes < 2 * MIB
    assert size.entries == 6


def test_attack_links_out_of_the_tree_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "large").write_bytes(b"x" * MIB)
    (tmp_path / "directory").mkdir()
    (tmp_path / "directory" / "away").symlink_to(tmp_path / "outside")
    (tmp_path / "directory" / "up").symlink_to("..")

    size, _ = measured(tmp_path / "directory")

    assert size.entries == 2
    assert size.size_bytes < MIB


def test_attack_a_link_in_the_trees_own_place_is_not_measured(tmp_path: Path) -> None:
    (tmp_path / "directory").symlink_to("/")

    with pytest.raises(Exception, match="not a directory"):
        SafeDir.open(tmp_path / "directory")


def test_attack_a_flood_of_files_is_looked_at_in_slices_and_no_further_than_the_budget(
    tmp_path: Path,
) -> None:
    for number in range(2 * SLICE + 500):
        (tmp_path / str(number)).touch()

    everything = measured(tmp_path)
    bounded, _ = measured(tmp_path, DirBudget(max_bytes=1 << 40, max_entries=100))

    assert everything[0].entries == 2 * SLICE + 500
    assert everything[1] == 3
    assert bounded.entries == 101


def test_attack_directories_deeper_than_can_be_looked_at_are_said_so(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(MAX_DEPTH - 1):
        deep = deep / "d"
        deep.mkdir()
    within = measured(tmp_path)[0]
    (deep / "d").mkdir()
    beyond = measured(tmp_path)[0]

    assert within == DirSize(size_bytes=by_du(tmp_path) - by_du(deep), entries=MAX_DEPTH - 1)
    assert beyond.is_too_deep


def test_attack_two_thousand_directories_in_a_row_end_the_look_at_the_bound(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(2_000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)

    size, _ = measured(tmp_path)
    with SafeDir.open(tmp_path) as top:  # too deep for what clears up after tests
        while not remove_dir(top, max_entries=5_000).is_done:
            pass

    assert size.is_too_deep
    assert size.entries == MAX_DEPTH


def test_attack_what_is_hidden_behind_closed_directories_is_counted(tmp_path: Path) -> None:
    def seen(ground: Path) -> DirSize:
        for mode in (0, 0o400, 0o100):
            closed = ground / f"closed{mode}"
            closed.mkdir()
            (closed / "large").write_bytes(b"x" * MIB)
            closed.chmod(mode)
        return measured(ground)[0]

    with plain_users_directory() as ground:
        size = as_plain_user(lambda: seen(ground))

    assert size.entries == 6
    assert size.size_bytes >= 3 * MIB


def test_a_read_only_directory_keeps_its_modes(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o555)

    measured(tmp_path)

    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o555
