"""What was refused of boxes, read back for people."""

import json
import os
from pathlib import Path

import pytest

from orchestrator.store.refusals import list_refusals

EARLY, LATE = "1767225600000", "1767229200500"


def refuse(ipc: Path, box: str, stem: str, reason: object) -> None:
    """A refusal as the quarantine keeps it."""
    folder = ipc / "errors" / box
    folder.mkdir(parents=True, exist_ok=True)
    (folder / stem).write_text("{}")
    raw = reason if isinstance(reason, str) else json.dumps(reason)
    (folder / f"{stem}.reason.json").write_text(raw)


def test_refusals_of_all_boxes_come_newest_first_with_their_reasons(tmp_path: Path) -> None:
    refuse(tmp_path, "family", f"{EARLY}-a-tasks-1.json", {"code": "FORBIDDEN", "message": "no"})
    refuse(tmp_path, "club", f"{LATE}-b-tasks-2.json", {"code": "UNKNOWN_TYPE", "box": "club"})

    everything = list_refusals(tmp_path, box=None, count=10)

    assert everything == [
        {
            "box": "club",
            "refusedAt": "2026-01-01T01:00:00.500+00:00",
            "code": "UNKNOWN_TYPE",
            "file": f"club/{LATE}-b-tasks-2.json",
        },
        {
            "box": "family",
            "refusedAt": "2026-01-01T00:00:00.000+00:00",
            "code": "FORBIDDEN",
            "message": "no",
            "file": f"family/{EARLY}-a-tasks-1.json",
        },
    ]
    assert list_refusals(tmp_path, box=None, count=1) == everything[:1]
    assert list_refusals(tmp_path, box="family", count=10) == everything[1:]


def test_a_box_that_was_set_aside_is_one_of_them(tmp_path: Path) -> None:
    (tmp_path / "errors" / "gone" / f"{EARLY}-abc-box").mkdir(parents=True)

    (found,) = list_refusals(tmp_path, box=None, count=10)

    assert (found["box"], found["file"]) == ("gone", f"gone/{EARLY}-abc-box")
    assert "set aside" in str(found["message"])


@pytest.mark.parametrize(
    "reason",
    [pytest.param("{", id="half of it"), pytest.param("[1]", id="no object"), pytest.param("", id="nothing")],
)
def test_a_reason_that_cannot_be_read_is_still_a_refusal(tmp_path: Path, reason: str) -> None:
    refuse(tmp_path, "family", f"{EARLY}-a-tasks-1.json", reason)

    (found,) = list_refusals(tmp_path, box=None, count=10)

    assert str(found["message"]).startswith("Its reason can't be read")


def test_nothing_is_read_through_a_link(tmp_path: Path) -> None:
    refuse(tmp_path / "elsewhere", "secret", f"{EARLY}-a-tasks-1.json", {"message": "secret"})
    (tmp_path / "errors").mkdir()
    os.symlink(tmp_path / "elsewhere" / "errors" / "secret", tmp_path / "errors" / "family")

    assert list_refusals(tmp_path, box=None, count=10) == []
    assert list_refusals(tmp_path, box="family", count=10) == []


@pytest.mark.parametrize("box", [None, "family", "..", "a/b"])
def test_where_nothing_was_ever_refused_there_is_none(tmp_path: Path, box: str | None) -> None:
    assert list_refusals(tmp_path, box=box, count=10) == []
