"""Transcripts on the disk, also such as an agent may have written there."""

import json
import os
from pathlib import Path

import pytest

from container.drivers.claude_sessions import ClaudeSessions, KeptSessions


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    directory = tmp_path / "projects" / "-workspace"
    directory.mkdir(parents=True)
    return directory


@pytest.fixture
def sessions(tmp_path: Path) -> ClaudeSessions:
    return ClaudeSessions(tmp_path)


def write(projects: Path, name: str, *rows: object, age_s: int = 0) -> Path:
    path = projects / f"{name}.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    os.utime(path, (1_700_000_000 - age_s,) * 2)
    return path


def said(kind: str, content: object, **more: object) -> dict[str, object]:
    return {"type": kind, "message": {"role": kind, "content": content}} | more


def test_the_size_is_that_of_the_transcript_and_none_without_one(
    projects: Path, sessions: ClaudeSessions
) -> None:
    write(projects, "one", "x" * 99)

    assert sessions.size_bytes("one") == 100
    assert sessions.size_bytes("two") is None


@pytest.mark.parametrize("name", ["../-workspace/one", "*", "", "."])
def test_a_name_that_is_no_file_name_is_no_session(
    projects: Path, sessions: ClaudeSessions, name: str
) -> None:
    write(projects, "one")

    assert sessions.size_bytes(name) is None
    assert sessions.last_words(name, max_chars=100) == ""


def test_what_is_no_plain_file_is_no_session_and_hangs_nobody(
    projects: Path, sessions: ClaudeSessions, tmp_path: Path
) -> None:
    os.mkfifo(projects / "fifo.jsonl")
    (projects / "folder.jsonl").mkdir()
    (tmp_path / "elsewhere").write_text("secret")
    (projects / "link.jsonl").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "dovecote-costs.json")

    assert [sessions.size_bytes(name) for name in ("fifo", "folder", "link")] == [None] * 3
    assert sessions.prune(KeptSessions(count=0, size_bytes=0), in_use=None) == []
    assert sessions.cost_usd("one") is None


def test_the_last_words_are_what_was_said_and_done_and_nothing_of_the_programs_own(
    projects: Path, sessions: ClaudeSessions
) -> None:
    write(
        projects,
        "one",
        "no JSON",
        {"type": "attachment", "message": {"content": "reminder"}},
        said("user", "water the plants"),
        said("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]),
        said("user", [{"type": "tool_result", "content": "can.txt"}]),
        said("assistant", [{"type": "text", "text": "aside"}], isSidechain=True),
        said("assistant", [{"type": "text", "text": "API Error"}], isApiErrorMessage=True),
        said("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Done."}]),
        said("assistant", None),
        ["a", "list"],
    )

    assert sessions.last_words("one", max_chars=1_000).splitlines() == [
        "They: water the plants",
        'You used Bash: {"command": "ls"}',
        "It answered: can.txt",
        "You: Done.",
    ]


def test_of_a_long_conversation_the_newest_words_are_kept(projects: Path, sessions: ClaudeSessions) -> None:
    write(projects, "one", *(said("user", f"message {n}") for n in range(1_000)))

    words = sessions.last_words("one", max_chars=40).splitlines()

    assert words == ["They: message 998", "They: message 999"]


def test_i4_the_newest_are_kept_within_both_bounds_and_the_one_in_use_beside_them(
    projects: Path, sessions: ClaudeSessions
) -> None:
    for age_s, name in enumerate(["newest", "second", "third", "fourth", "used"]):
        write(projects, name, "x" * 9, age_s=age_s)
    (projects / "third").mkdir()
    (projects / "third" / "helper.jsonl").touch()

    by_count = sessions.prune(KeptSessions(count=2, size_bytes=1_000), in_use="used")
    by_size = sessions.prune(KeptSessions(count=2, size_bytes=19), in_use="used")

    assert (by_count, by_size) == (["third", "fourth"], ["second"])
    assert sorted(path.name for path in projects.iterdir()) == ["newest.jsonl", "used.jsonl"]


def test_the_cost_of_a_session_is_remembered_beside_those_of_others(
    sessions: ClaudeSessions, tmp_path: Path
) -> None:
    sessions.keep_cost("one", 0.5)
    sessions.keep_cost("two", 1)
    sessions.keep_cost("one", 0.75)

    assert (sessions.cost_usd("one"), sessions.cost_usd("two")) == (0.75, 1.0)
    assert sessions.cost_usd("three") is None
    assert [path.name for path in tmp_path.iterdir()] == ["dovecote-costs.json"]


@pytest.mark.parametrize("content", ["", "no JSON", "[1]", '{"one": "dear"}', '{"one": null}'])
def test_costs_that_nobody_can_read_are_unknown(
    sessions: ClaudeSessions, tmp_path: Path, content: str
) -> None:
    (tmp_path / "dovecote-costs.json").write_text(content)

    assert sessions.cost_usd("one") is None
    sessions.keep_cost("one", 0.5)
    assert sessions.cost_usd("one") == 0.5
