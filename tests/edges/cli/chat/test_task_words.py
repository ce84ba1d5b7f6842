"""`dovecote task`, `messages` and `errors` as processes: with the orchestrator up, and with it down."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.edges.cli.chat.conftest import Serve
from tests.edges.cli.conftest import Dovecote

PROMPT = "water the plants"


def plain(ended: "subprocess.CompletedProcess[str]") -> Any:
    """What a command with `--json` printed."""
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def daily(dovecote: Dovecote) -> str:
    """A task of the main group, every day; its id."""
    words = ("task", "add", "main", PROMPT, "--cron", "0 9 * * *", "--timezone", "Europe/Berlin")
    return str(plain(dovecote(*words, "--json"))["id"])


def use_once(dovecote: Dovecote) -> None:
    """A home with a main group, in which nothing runs."""
    assert dovecote("group", "add", "main", "--jid", "console:main", "--main").returncode == 0


@pytest.mark.parametrize("is_up", [True, False], ids=["up", "down"])
def test_f13_a_task_is_made_shown_paused_resumed_and_cancelled(
    dovecote: Dovecote, serve: Serve, is_up: bool
) -> None:
    if is_up:
        serve()
    else:
        use_once(dovecote)

    task = daily(dovecote)
    listed = plain(dovecote("task", "list", "--json"))
    said = [dovecote("task", word, task).stdout for word in ("pause", "resume", "cancel")]
    left = dovecote("task", "list")
    over = plain(dovecote("task", "list", "--ended", "--json"))
    elsewhere = dovecote("task", "list", "--ended", "--group", "club")
    shown = plain(dovecote("task", "show", task, "--json"))
    history = plain(dovecote("task", "history", task, "--json"))

    assert [(each["id"], each["prompt"], each["timezone"]) for each in listed] == [
        (task, PROMPT, "Europe/Berlin")
    ]
    assert said[0] == f"Task {task} is paused.\n"
    assert said[1].startswith(f"Task {task} is active. Next run: ")
    assert said[2] == f"Task {task} is cancelled.\n"
    assert (left.stdout, elsewhere.stdout) == ("No tasks.\n", "No tasks.\n")
    assert [(each["id"], each["status"]) for each in over] == [(task, "cancelled")]
    assert (shown["status"], shown["nextRun"]) == ("cancelled", None)
    assert history == []


def test_what_was_changed_with_the_orchestrator_down_holds_when_it_is_up(
    dovecote: Dovecote, serve: Serve
) -> None:
    use_once(dovecote)
    task = daily(dovecote)
    dovecote("task", "pause", task)

    serve()

    (listed,) = plain(dovecote("task", "list", "--json"))
    assert (listed["id"], listed["status"]) == (task, "paused")


def test_a_run_asked_for_by_hand_is_in_the_history_with_what_it_said(
    dovecote: Dovecote, serve: Serve
) -> None:
    serve()
    task = daily(dovecote)

    run = plain(dovecote("task", "run", task, "--json"))
    runs = plain(dovecote("task", "history", task, "--json"))

    assert run["taskId"] == task
    assert [(each["runId"], each["plannedAt"]) for each in runs] == [(run["runId"], None)]


def test_with_the_orchestrator_down_nothing_can_be_run(dovecote: Dovecote) -> None:
    use_once(dovecote)
    task = daily(dovecote)

    ended = dovecote("task", "run", task)

    assert ended.returncode == 1
    assert "No orchestrator runs in" in ended.stderr
    assert plain(dovecote("task", "history", task, "--json")) == []


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["add", "main", "x"], "0 schedules are given, but a task has one."),
        (["add", "main", "x", "--every", "1h", "--at", "2030-01-01"], "2 schedules are given"),
        (["add", "main", "x", "--every", "soon"], "'soon' is not a span of time."),
        (["add", "main", "x", "--every", "5s"], "5"),
        (["add", "main", "x", "--cron", "61 * * * *"], "61"),
        (["add", "none", "x", "--every", "1h"], "There is no group 'none'."),
        (["pause", "none"], "There is no task 'none' here."),
        (["show", "none"], "There is no task 'none'."),
        (["history", "none"], "There is no task 'none'."),
    ],
)
def test_what_cannot_be_is_one_sentence_and_what_to_do(
    dovecote: Dovecote, words: list[str], wanted: str
) -> None:
    use_once(dovecote)

    ended = dovecote("task", *words)

    assert ended.returncode == 1
    assert wanted in ended.stderr.splitlines()[0]
    assert len(ended.stderr.splitlines()) == 2


def test_every_kind_of_schedule_can_be_given(dovecote: Dovecote) -> None:
    use_once(dovecote)
    schedules = (["--cron", "@daily"], ["--every", "90m"], ["--at", "2090-01-05T14:00"])

    made = [plain(dovecote("task", "add", "main", PROMPT, *words, "--json")) for words in schedules]

    assert [(each["scheduleType"], each["scheduleValue"]) for each in made] == [
        ("cron", "@daily"),
        ("interval", "5400000"),
        ("once", "2090-01-05T14:00"),
    ]


def test_all_that_is_wrong_with_a_new_task_is_told_in_one_round(dovecote: Dovecote) -> None:
    use_once(dovecote)

    ended = dovecote(
        "task", "add", "main", "", "--cron", "61 * * * *", "--timezone", "Mars", "--catch-up", "never"
    )
    listed = dovecote("task", "list")

    assert ended.returncode == 1
    assert [" ".join(line.split()[:4]) for line in ended.stderr.splitlines()] == [
        "Error: 4 things are",
        "There is no timezone",
        "The minute field of",
        "The prompt has 0",
        "catchUp 'never' is not",
    ]
    assert listed.stdout == "No tasks.\n"


def test_instants_of_tasks_are_written_in_one_way(dovecote: Dovecote) -> None:
    use_once(dovecote)

    added = dovecote("task", "add", "main", PROMPT, "--at", "2090-01-05T14:00", "--timezone", "UTC")
    task = added.stdout.split()[1]
    paused, resumed = dovecote("task", "pause", task), dovecote("task", "resume", task)
    shown = dovecote("task", "show", task)

    assert paused.returncode == 0
    assert added.stdout.endswith(" runs at 2090-01-05 14:00:00 UTC.\n")
    assert resumed.stdout.endswith(" Next run: 2090-01-05 14:00:00 UTC.\n")
    assert "2090-01-05 14:00:00 UTC" in shown.stdout


@pytest.mark.parametrize("words", [["task", "list"], ["messages"], ["errors"]])
def test_looking_at_a_home_that_was_never_used_makes_nothing_in_it(
    home: Path, dovecote: Dovecote, words: list[str]
) -> None:
    listed = dovecote(*words)
    as_json = dovecote(*words, "--json")

    assert (listed.returncode, as_json.stdout.strip()) == (0, "[]")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("is_up", [True, False], ids=["up", "down"])
def test_messages_are_shown_with_what_became_of_them(dovecote: Dovecote, serve: Serve, is_up: bool) -> None:
    assert dovecote("chat", stdin="@Assistant echo one\n/status\n").returncode == 0
    if is_up:
        serve()

    shown = dovecote("messages")
    message, _ = plain(dovecote("messages", "--chat", "console:main", "--json"))

    assert (message["text"], message["status"]) == ("@Assistant echo one", "settled")
    assert [line.split()[3:] for line in shown.stdout.splitlines()[1:]] == [
        ["answered", "console:main", "Operator", "@Assistant", "echo", "one"],
        ["done", "console:main", "Operator", "/status"],
    ]
    assert plain(dovecote("messages", "--chat", "console:other", "--json")) == []


@pytest.mark.parametrize("is_up", [True, False], ids=["up", "down"])
def test_refused_requests_are_shown_with_reason_advice_and_place(
    home: Path, dovecote: Dovecote, serve: Serve, is_up: bool
) -> None:
    use_once(dovecote)
    folder = home / "data" / "ipc" / "errors" / "main"
    folder.mkdir(parents=True)
    name = "4000000000000-a1b2c3-tasks-1.json"
    reason = {
        "box": "main",
        "directory": "tasks",
        "name": "1.json",
        "code": "FORBIDDEN",
        "message": "The group 'club' is not this agent's own.\x1b[31m",
        "suggestion": "Leave groupFolder out.",
        "refusedAt": "2096-10-02T07:06:40.000+00:00",
    }
    (folder / f"{name}.reason.json").write_text(json.dumps(reason))
    if is_up:
        serve()

    shown = dovecote("errors")
    (found,) = plain(dovecote("errors", "--box", "main", "--json"))

    assert found["code"] == "FORBIDDEN"
    assert shown.stdout.splitlines() == [
        "2096-10-02 07:06:40 UTC  main  FORBIDDEN  tasks/1.json",
        "    The group 'club' is not this agent's own.[31m",
        "    Leave groupFolder out.",
        f"    {home / 'data' / 'ipc' / 'errors' / 'main' / name}",
    ]
    assert plain(dovecote("errors", "--box", "club", "--json")) == []


def test_nothing_refused_says_so(dovecote: Dovecote) -> None:
    use_once(dovecote)

    assert dovecote("errors").stdout == "Nothing was refused.\n"
