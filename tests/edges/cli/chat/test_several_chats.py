"""Several chats in one home: one of them runs the orchestrator, and its end is not theirs."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

from tests.edges.cli.chat.conftest import Serve, StartChat, end_of, next_line, say
from tests.support.eventually import eventually

PAIRS = 4


def statuses(home: Path) -> list[str]:
    """Of each message that was said, in their order."""
    with contextlib.closing(
        sqlite3.connect(f"file:{home}/data/store/dovecote.db?mode=ro", uri=True)
    ) as store:
        return [status for (status,) in store.execute("SELECT status FROM messages ORDER BY seq")]


def test_chats_that_come_and_go_at_the_same_time_are_all_answered(home: Path, start_chat: StartChat) -> None:
    ended = []

    for pair in range(PAIRS):
        first, second = start_chat(), start_chat()
        say(first, f"@Assistant echo first {pair}")
        if pair % 2:
            # The second one then meets the first while it stops, rather than while it starts.
            next_line(first)
        first_end = end_of(first)
        say(second, f"@Assistant echo second {pair}")
        ended += [first_end, end_of(second)]

    assert [said for code, said in ended if code != 0] == []
    assert "Traceback" not in (home / "data/logs/dovecote.log").read_text()


def test_a_chat_goes_on_by_itself_when_the_one_that_ran_the_orchestrator_leaves(
    home: Path, start_chat: StartChat
) -> None:
    first = start_chat()
    say(first, "@Assistant echo one")
    next_line(first)
    second = start_chat()
    say(second, "@Assistant echo two")
    before = next_line(second)

    say(first, "/quit")
    first.wait(timeout=30)
    say(second, "@Assistant echo three")
    after = next_line(second)
    code, said = end_of(second)

    assert (before, after) == ("two\n", "three\n")
    assert code == 0, said
    assert said.splitlines()[0] == (
        "The orchestrator that this chat used has stopped; going on with one of its own."
    )
    assert "api.failed" not in (home / "data/logs/dovecote.log").read_text()


async def test_a_chat_goes_on_by_itself_when_the_daemon_is_killed(
    home: Path, serve: Serve, start_chat: StartChat
) -> None:
    daemon = serve()
    talk = start_chat()
    say(talk, "@Assistant echo alive")
    before = next_line(talk)
    # A turn that is cut off between its answer and its end is told as one that stopped half-way.
    await eventually(lambda: statuses(home) == ["settled"], what=lambda: statuses(home))

    daemon.kill()
    say(talk, "@Assistant echo again")
    after = next_line(talk)
    code, said = end_of(talk)

    assert (before, after) == ("alive\n", "again\n")
    assert code == 0, said
    assert "Traceback" not in said


def test_a_chat_stays_with_a_daemon_that_is_started_again(
    home: Path, serve: Serve, start_chat: StartChat
) -> None:
    daemon = serve()
    talk = start_chat()
    say(talk, "@Assistant echo one")
    next_line(talk)

    daemon.send_signal(signal.SIGTERM)
    daemon.wait(timeout=30)
    successor = serve()
    say(talk, "@Assistant echo two")
    after = next_line(talk)
    code, said = end_of(talk)

    assert after == "two\n"
    assert code == 0
    assert said == "The orchestrator that this chat used has stopped; going on with the next one.\n"
    assert successor.poll() is None


def test_a_daemon_takes_the_home_from_a_chat_that_ran_its_own_and_the_chat_goes_on(
    home: Path, serve: Serve, start_chat: StartChat
) -> None:
    talk = start_chat()
    say(talk, "@Assistant echo one")
    next_line(talk)
    beside = start_chat()
    say(beside, "@Assistant echo two")
    before = [next_line(talk), next_line(beside)]

    daemon = serve()
    say(talk, "@Assistant echo three")
    after = [next_line(talk), next_line(beside)]
    ends = [end_of(talk), end_of(beside)]

    assert (before, after) == (["two\n"] * 2, ["three\n"] * 2)
    assert [code for code, _ in ends] == [0, 0], ends
    said = "".join(said for _, said in ends)
    assert said.count("Another orchestrator takes this home over; going on with that one.") == 1
    assert "going on with one of its own" not in said
    assert daemon.poll() is None
    log = (home / "data/logs/dovecote.log").read_text()
    assert "dovecote.taken_over" in log
    assert "Traceback" not in log


def test_what_a_chat_has_said_is_answered_though_a_daemon_takes_over_meanwhile(
    serve: Serve, start_chat: StartChat
) -> None:
    talk = start_chat()
    say(talk, "@Assistant echo one")
    next_line(talk)
    say(talk, "@Assistant count to 3")

    serve()
    code, _ = end_of(talk)

    assert code == 0


def test_a_daemon_gives_way_to_nobody(home: Path, environment: dict[str, str], serve: Serve) -> None:
    daemon = serve()

    second = subprocess.run(
        [sys.executable, "-m", "orchestrator", "serve"],
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
    )

    assert second.returncode == 1
    assert f"already runs in this home, as process {daemon.pid}" in second.stderr
    assert daemon.poll() is None


def test_a_signal_that_hangs_up_ends_the_daemon_in_order(home: Path, serve: Serve) -> None:
    daemon = serve()

    daemon.send_signal(signal.SIGHUP)
    code = daemon.wait(timeout=50)

    lines = (home / "data/logs/dovecote.log").read_text().splitlines()
    assert code == 0
    assert json.loads(lines[-1])["event"] == "dovecote.stopped"
