"""The hint that one directory's children have nothing to do with each other."""

import os
from pathlib import Path

from orchestrator.store.safe_dir import SafeDir
from orchestrator.store.spreading import spread_children


def test_a_spread_directory_is_used_as_any_other_and_may_be_spread_again(tmp_path: Path) -> None:
    with SafeDir.open(tmp_path) as held:
        spread_children(held.fileno())
        spread_children(held.fileno())

        with held.make_child("box", mode=0o700) as box:
            box.write_new("note", b"milk")

    assert (tmp_path / "box" / "note").read_bytes() == b"milk"


def test_where_there_is_no_such_hint_nothing_happens() -> None:
    reading, writing = os.pipe()
    try:
        spread_children(reading)
    finally:
        os.close(reading)
        os.close(writing)
