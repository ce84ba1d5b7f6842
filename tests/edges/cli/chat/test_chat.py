"""`dovecote chat` and `dovecote serve`, as processes, with agents of the process runner."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.edges.cli.chat.conftest import Serve
from tests.edges.cli.conftest import Dovecote

THREE = "@Assistant what time is it?\n@Assistant remember milk\n@Assistant recall\n"


def events(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "data/logs/dovecote.log").read_text().splitlines()]


def check_three_answers(stdout: str) -> None:
    lines = stdout.splitlines()
    assert re.search(r"\d\d:\d\d", lines[0])
    assert "milk" in lines[1]
    assert "milk" in "".join(lines[2:])


def test_lines_are_answered_in_order_by_an_orchestrator_in_this_process(
    home: Path, dovecote: Dovecote
) -> None:
    ended = dovecote("chat", stdin=THREE)

    assert ended.returncode == 0, ended.stderr
    check_three_answers(ended.stdout)
    assert ended.stderr.count("\n") == 1
    assert "without walls" in ended.stderr
    assert not (home / "data/run/dovecote.sock").exists()


def test_no_input_is_no_error(dovecote: Dovecote) -> None:
    ended = dovecote("chat", stdin="\n \n")

    assert (ended.returncode, ended.stdout) == (0, "")


def test_a_second_chat_does_not_print_what_the_first_one_did(dovecote: Dovecote) -> None:
    first = dovecote("chat", stdin="@Assistant remember milk\n")
    second = dovecote("chat", stdin="@Assistant echo second\n")

    assert "milk" in first.stdout
    assert second.stdout == "second\n"


def test_what_people_write_is_in_no_log(home: Path, dovecote: Dovecote) -> None:
    dovecote("chat", stdin="@Assistant remember xylophone\n@Assistant recall\n")

    logs = "".join(path.read_text() for path in (home / "data/logs").rglob("*") if path.is_file())
    assert "message.stored" in logs
    assert "xylophone" not in logs


def test_a_runner_that_does_not_work_is_a_sentence_and_exit_code_one(dovecote: Dovecote) -> None:
    more = {"DOVECOTE_AGENT__RUNNER": "bubblewrap", "DOVECOTE_AGENT__BWRAP": "/bin/false"}

    ended = dovecote("chat", stdin=THREE, more=more)

    assert ended.returncode == 1
    assert ended.stdout == ""
    assert "bubblewrap" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_turn_that_breaks_off_half_way_is_the_reason_of_exit_code_one(
    home: Path, dovecote: Dovecote
) -> None:
    workspace = home / "groups/main/workspace"
    workspace.mkdir(parents=True)
    (workspace / "scenario.yaml").write_text("default:\n  - say: half\n  - crash: SEGV\n")

    ended = dovecote("chat", stdin="@Assistant go\n", more={"DOVECOTE_AGENT__PROVIDER": "script"})

    assert ended.returncode == 1
    assert ended.stdout.startswith("half\n")
    assert ended.stderr.splitlines()[-2:] == [
        "Error: Line 1 (“@Assistant go”) broke off half-way.",
        "Run again what went wrong: echo /retry | dovecote chat",
    ]
    assert "stopped half-way" in ended.stdout


def test_chat_and_groups_go_through_the_running_orchestrator(
    home: Path, dovecote: Dovecote, serve: Serve
) -> None:
    daemon = serve()

    talked = dovecote("chat", stdin=THREE)
    added = dovecote("group", "add", "garden", "--jid", "console:garden", "--every-message")
    in_garden = dovecote("chat", "--chat", "console:garden", stdin="echo hello\n")
    listed = dovecote("group", "list", "--json")
    doctor = dovecote("doctor", "--json")
    second = dovecote("serve")
    daemon.send_signal(signal.SIGTERM)
    code = daemon.wait(timeout=50)

    assert talked.returncode == 0, talked.stderr
    check_three_answers(talked.stdout)
    assert talked.stderr == ""
    assert added.returncode == 0, added.stderr
    assert (in_garden.returncode, in_garden.stdout) == (0, "hello\n")
    assert [group["folder"] for group in json.loads(listed.stdout)] == ["main", "garden"]
    findings = {each["what"]: each for each in json.loads(doctor.stdout)}
    assert findings["orchestrator"]["why"] == f"Process {daemon.pid} runs here."
    assert findings["api"]["health"] == "ok"
    assert second.returncode == 1
    assert str(daemon.pid) in second.stderr
    assert code == 0
    assert events(home)[-1]["event"] == "dovecote.stopped"
    assert not (home / "data/run/dovecote.sock").exists()


def test_groups_are_managed_without_an_orchestrator_by_the_same_commands(
    home: Path, dovecote: Dovecote
) -> None:
    added = dovecote("group", "add", "garden", "--jid", "console:garden", "--name", "Garden")
    again = dovecote("group", "add", "garden", "--jid", "console:other")
    changed = dovecote("group", "set", "garden", "requires_trigger=no", "timezone=Asia/Tokyo")
    wrong = dovecote("group", "set", "garden", "colour=red")
    shown = dovecote("group", "show", "garden", "--json")
    removed = dovecote("group", "remove", "garden")
    listed = dovecote("group", "list", "--json")

    assert added.returncode == 0, added.stderr
    assert (home / "groups/garden/AGENT.md").is_file()
    assert (again.returncode, wrong.returncode) == (1, 1)
    assert "garden" in again.stderr
    assert "'colour'" in wrong.stderr
    assert changed.returncode == 0, changed.stderr
    group = json.loads(shown.stdout)
    assert (group["requires_trigger"], group["timezone"], group["name"]) == (False, "Asia/Tokyo", "Garden")
    assert removed.returncode == 0
    assert json.loads(listed.stdout) == []
    assert (home / "groups/garden").is_dir()


def test_an_interrupted_daemon_ends_in_order(home: Path, serve: Serve) -> None:
    daemon = serve()

    daemon.send_signal(signal.SIGINT)
    code = daemon.wait(timeout=50)

    assert code == 0
    assert events(home)[-1]["event"] == "dovecote.stopped"


def test_a_reader_that_goes_away_is_not_a_fault(home: Path, environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "orchestrator", "chat"],
        cwd=home,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None
        assert talk.stderr is not None
        talk.stdout.close()
        talk.stdin.write(THREE)
        talk.stdin.close()
        code = talk.wait(timeout=30)
        said = talk.stderr.read()

    assert code == 141
    assert [line[:15] for line in said.splitlines()] == ["Agents run with"]


def test_a_second_interrupt_ends_a_busy_daemon_at_once(
    home: Path, environment: dict[str, str], serve: Serve, dovecote: Dovecote
) -> None:
    environment["DOVECOTE_AGENT__PROVIDER"] = "script"
    environment["DOVECOTE_SHUTDOWN_GRACE_S"] = "50"
    workspace = home / "groups/main/workspace"
    workspace.mkdir(parents=True)
    (workspace / "scenario.yaml").write_text("turns:\n  - [{say: busy}, {delay_s: 100}]\n")
    daemon = serve()
    with subprocess.Popen(
        [sys.executable, "-m", "orchestrator", "chat"],
        cwd=home,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as talk:
        assert talk.stdin is not None
        assert talk.stdout is not None
        talk.stdin.write("@Assistant go\n")
        talk.stdin.close()
        assert talk.stdout.readline() == "busy\n"

        daemon.send_signal(signal.SIGINT)
        wait_for_event(home, "dovecote.stopping")
        daemon.send_signal(signal.SIGINT)
        code = daemon.wait(timeout=30)
        talk.wait(timeout=50)

    assert code == -signal.SIGINT
    again = dovecote("group", "list", "--json")
    assert json.loads(again.stdout)[0]["folder"] == "main"


def wait_for_event(home: Path, event: str, *, within_s: float = 30) -> None:
    """Look into the log until the event is in it."""
    deadline = time.monotonic() + within_s
    while event not in [line["event"] for line in events(home)]:
        assert time.monotonic() < deadline, f"{event} was not logged"
        time.sleep(0.02)


def test_who_stops_reading_followed_events_ends_them_in_silence(
    home: Path, environment: dict[str, str], dovecote: Dovecote, serve: Serve
) -> None:
    serve()
    assert dovecote("chat", stdin="@Assistant echo one\n").returncode == 0
    with subprocess.Popen(
        [sys.executable, "-m", "orchestrator", "events", "--follow"],
        cwd=home,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as follower:
        assert follower.stdout is not None
        assert follower.stderr is not None
        first = follower.stdout.readline()

        follower.stdout.close()
        dovecote("chat", stdin="@Assistant echo two\n")
        said = follower.stderr.read()

    assert "agent.started" in first
    assert (follower.returncode, said) == (141, "")
