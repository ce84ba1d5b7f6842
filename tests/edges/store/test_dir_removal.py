"""Hostile directories are removed to the last entry, and nothing that they point to is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.store.dir_removal import remove_dir
from orchestrator.store.safe_dir import SafeDir
from tests.edges.ipc.conftest import mount_small_disk, unmount
from tests.support.descriptors import open_descriptors


def _remove_all(path: Path, *, max_entries: int = 500) -> tuple[int, tuple[str, ...]]:
    """Slice after slice; how many slices it took, and what is left."""
    slices = 0
    with SafeDir.open(path) as top:
        while True:
            slices += 1
            removal = remove_dir(top, max_entries=max_entries)
            if removal.is_done:
                return slices, removal.left


def _nest(path: Path, depth: int) -> None:
    """Directories deeper than a path may be long."""
    here = os.open(path, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("down", dir_fd=here)
        below = os.open("down", os.O_RDONLY, dir_fd=here)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=below))
        os.close(here)
        here = below
    os.close(here)


def test_a_mixed_tree_goes_and_what_its_links_point_to_stays(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "precious").write_text("precious")
    directory = tmp_path / "directory"
    (directory / "a" / "b").mkdir(parents=True)
    (directory / "a" / "file").write_text("x")
    (directory / "a" / "b" / "link").symlink_to(outside)
    (directory / "link").symlink_to(outside / "deep" / "precious")
    os.link(outside / "deep" / "precious", directory / "a" / "hard")
    os.mkfifo(directory / "a" / "pipe")
    os.close(os.open(os.path.join(os.fsencode(directory), b"\xff"), os.O_CREAT))

    slices, left = _remove_all(directory)

    assert (slices, left) == (1, ())
    assert list(directory.iterdir()) == []
    assert (outside / "deep" / "precious").read_text() == "precious"


def test_two_thousand_directories_in_a_row_go_with_few_descriptors(tmp_path: Path) -> None:
    _nest(tmp_path, 2_000)
    open_before = open_descriptors()

    _, left = _remove_all(tmp_path)

    assert left == ()
    assert list(tmp_path.iterdir()) == []
    assert open_descriptors() <= open_before


def test_two_thousand_directories_side_by_side_go_in_slices(tmp_path: Path) -> None:
    for number in range(2_000):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "file").touch()

    slices, left = _remove_all(tmp_path, max_entries=300)

    assert left == ()
    assert slices >= 4_000 // 600
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_is_named_and_the_rest_goes(tmp_path: Path) -> None:
    for name in ("before", "mounted", "zlast"):
        (tmp_path / name).mkdir()
    mount_small_disk(tmp_path / "mounted", size="1m")
    (tmp_path / "mounted" / "precious").write_text("another disk")
    try:
        _, left = _remove_all(tmp_path)
        kept = (tmp_path / "mounted" / "precious").read_text()
    finally:
        unmount(tmp_path / "mounted")

    assert left == ("mounted",)
    assert kept == "another disk"
    assert [path.name for path in tmp_path.iterdir()] == ["mounted"]


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_directories_whose_rights_were_taken_away_go_too(tmp_path: Path) -> None:
    directory = tmp_path / "directory"
    (directory / "closed" / "below" / "deeper").mkdir(parents=True)
    (directory / "closed" / "below" / "file").touch()
    for path in [*directory.rglob("*"), directory]:
        os.chown(path, 65_534, -1)
    for name in ("closed/below/deeper", "closed/below", "closed"):
        (directory / name).chmod(0)
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from orchestrator.store.safe_dir import SafeDir\n"
        "from orchestrator.store.dir_removal import remove_dir\n"
        "top = SafeDir.open(Path(sys.argv[1]))\n"
        "os.setuid(65534)\n"
        "removal = remove_dir(top, max_entries=1000)\n"
        "print(removal.is_done, removal.left)\n"
    )

    seen = subprocess.run(
        [sys.executable, "-c", script, str(directory)], check=True, capture_output=True, text=True
    )

    assert seen.stdout == "True ()\n"
    assert list(directory.iterdir()) == []
