"""Piped chat: exit code 0 only if all was answered; else the reason in words that name the line."""

import json
import signal
from pathlib import Path

import pytest

from tests.edges.cli.chat.conftest import StartChat, end_of, next_line, say
from tests.edges.cli.conftest import Dovecote


def test_lines_that_are_not_for_the_assistant_are_counted(dovecote: Dovecote) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--trigger", "@Gardener")

    some = dovecote("chat", "--chat", "console:garden", stdin="hello\n@Gardener echo hi\nwell\n")
    all_of_them = dovecote("chat", "--chat", "console:garden", stdin="@Gardener echo hi\n")

    assert (some.returncode, some.stdout) == (1, "hi\n")
    assert some.stderr.splitlines()[-1] == (
        "Error: 2 of 3 lines were not for the assistant: begin them with @Gardener."
    )
    assert (all_of_them.returncode, all_of_them.stdout) == (0, "hi\n")


@pytest.mark.parametrize("mode", ["allowlist", "drop"])
def test_who_may_not_set_the_assistant_off_is_told_so(dovecote: Dovecote, home: Path, mode: str) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--trigger", "@Gardener")
    rules = home / "groups" / "garden" / "senders.toml"

    rules.write_text(f'mode = "{mode}"\nsenders = ["491701234567@s.whatsapp.net"]\n')
    unheard = dovecote("chat", "--chat", "console:garden", stdin="@Gardener echo hi\n")
    rules.write_text(f'mode = "{mode}"\nsenders = ["console:operator"]\n')
    kept = dovecote("messages").stdout.splitlines()
    heard = dovecote("chat", "--chat", "console:garden", stdin="@Gardener echo hi\n")
    rules.write_text(f'mode = "{mode}"\nsenders = ["console"]\n')
    broken = dovecote("chat", "--chat", "console:garden", stdin="@Gardener echo hi\n")

    assert [line.split()[3] for line in kept[1:2]] == (["context"] if mode == "allowlist" else [])
    assert ("somebody who may not set it off" in kept[-1]) == (mode == "allowlist")
    assert (unheard.returncode, unheard.stdout) == (1, "")
    assert "console:operator is not among the senders" in unheard.stderr
    assert "is not among the senders" not in broken.stderr
    assert "groups/garden/senders.toml line 2 names 'console'" in broken.stderr
    assert heard.returncode == 0, heard.stderr
    assert heard.stdout.splitlines()[-1] == "hi"


def test_a_chat_that_is_not_registered_is_refused_with_the_command_that_registers_it(
    dovecote: Dovecote,
) -> None:
    ended = dovecote("chat", "--chat", "console:nope", stdin="hello\n")

    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-2:] == [
        "Error: No group is registered for the chat 'console:nope'.",
        "Register it: dovecote group add FOLDER --jid console:nope",
    ]


@pytest.mark.parametrize("leave", ["/quit", "/exit"])
def test_help_and_quit_are_words_in_a_pipe_too(dovecote: Dovecote, leave: str) -> None:
    ended = dovecote("chat", stdin=f"/help\n@Assistant echo one\n{leave}\n@Assistant echo two\n")

    assert ended.returncode == 0, ended.stderr
    assert "/retry" in ended.stdout
    assert leave in ended.stdout
    assert ended.stdout.splitlines()[-1] == "one"


def test_help_comes_behind_the_answers_to_what_was_said_before_it(dovecote: Dovecote) -> None:
    ended = dovecote("chat", stdin="@Assistant echo one\n/help\n@Assistant echo two\n")

    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert (lines[0], lines[-1]) == ("one", "two")
    assert "/retry" in ended.stdout


def test_an_unknown_word_in_a_pipe_is_answered_in_its_place_and_not_sent(
    home: Path, dovecote: Dovecote
) -> None:
    ended = dovecote("chat", stdin="@Assistant echo one\n/hlep me\n@Assistant echo two\n")

    unknown = "There is no /hlep. /help shows the words there are."
    assert ended.stdout.splitlines() == ["one", unknown, "two"]
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (1, f"Error: A word was not done. {unknown}")
    assert "/hlep" not in dovecote("messages").stdout


@pytest.mark.parametrize("word", ["new", "status", "tasks", "yes"])
def test_a_word_of_operators_in_another_chat_says_how_to_be_one_and_works_for_who_is(
    dovecote: Dovecote, home: Path, word: str
) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--trigger", "@Gardener")
    advice = 'operators = ["console:operator"]'

    refused = dovecote("chat", "--chat", "console:garden", stdin=f"/{word}\n")
    told = dovecote("chat", "--chat", "console:garden", stdin="/help\n").stdout
    (home / "dovecote.toml").write_text(f"[assistant]\n{advice}\n")
    allowed = dovecote("chat", "--chat", "console:garden", stdin=f"/{word}\n")
    told_then = dovecote("chat", "--chat", "console:garden", stdin="/help\n").stdout

    reason = f"Only operators may say /{word}, and in this chat you are none."
    assert (refused.returncode, advice in refused.stdout.splitlines()) == (1, True)
    assert f"Error: A word was not done. {reason}" in refused.stderr
    assert advice in refused.stderr.splitlines()
    assert advice in told.splitlines()
    assert advice not in told_then
    assert reason not in allowed.stdout
    assert allowed.returncode == (1 if word == "yes" else 0)  # that one is for the main chat


@pytest.mark.parametrize("line", ["/HELP", "/help me"])
def test_help_is_given_however_it_is_asked_for(dovecote: Dovecote, line: str) -> None:
    ended = dovecote("chat", stdin=f"{line}\n/quit\n")

    assert "/retry" in ended.stdout
    assert "There is no" not in ended.stdout + ended.stderr


def test_quit_is_heard_although_the_input_stays_open(start_chat: StartChat) -> None:
    talk = start_chat()
    say(talk, "@Assistant echo one")
    first = next_line(talk)
    say(talk, "/quit")

    assert first == "one\n"
    assert talk.wait(timeout=50) == 0


def test_each_fault_of_an_agent_file_is_a_line_for_operators_and_advice_comes_once(
    dovecote: Dovecote, home: Path
) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--trigger", "@Gardener")
    (home / "groups/garden/AGENT.md").write_text("---\ncolour: red\nlokale: de\n---\n")

    held = dovecote("chat", "--chat", "console:garden", stdin="@Gardener echo hi\n")
    sent = json.loads(dovecote("messages", "--sent", "--json", "--chat", "console:main").stdout)

    lines = sent[-1]["text"].splitlines()
    assert [line.split(" has ")[0] for line in lines] == [
        "The assistant of the group garden can't be started.",
        "groups/garden/AGENT.md line 2",
        "groups/garden/AGENT.md line 3",
        "What is written there is kept, and answered by itself when that is mended.",
    ]
    assert held.returncode == 1
    assert held.stderr.splitlines()[-1] == "Look for the cause: dovecote agent check"
    assert held.stderr.count("dovecote agent check") == 1
    assert "dovecote doctor" not in held.stderr


def test_messages_that_wait_for_room_on_the_disk_end_the_chat_with_the_notice(dovecote: Dovecote) -> None:
    ended = dovecote("chat", stdin="@Assistant echo hi\n", more={"DOVECOTE_DISK_FLOOR_BYTES": str(2**49)})
    later = dovecote("chat", stdin="@Assistant echo two\n")

    assert ended.returncode == 1
    assert ended.stdout != ""
    assert ended.stderr.splitlines()[-2:] == [
        "Error: The disk is too full to start an agent. The messages are kept; they are answered when "
        "Dovecote runs and this is over.",
        "Look for the cause: dovecote doctor",
    ]
    assert later.returncode == 0, later.stderr
    assert later.stdout.splitlines()[-1] == "two"
    assert "hi" in later.stdout.splitlines()


@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_is_an_orderly_end_that_the_exit_code_names(
    home: Path, start_chat: StartChat, signal_name: str
) -> None:
    received = signal.Signals[signal_name]
    talk = start_chat()
    say(talk, "@Assistant echo one")
    next_line(talk)

    talk.send_signal(received)
    code, said = end_of(talk)

    assert code == 128 + received
    assert said.endswith("Stopping…\n")
    assert "shutdown.done" in (home / "data/logs/dovecote.log").read_text()


def test_a_line_over_a_bound_is_an_error_also_where_the_chat_was_told_before(dovecote: Dovecote) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--trigger", "@Gardener")
    one = {"DOVECOTE_BOUNDS__TRIGGERS_PER_SENDER": "1"}
    garden = ("chat", "--chat", "console:garden")
    dovecote("chat", stdin="echo main counts for nothing\n", more=one)

    under = dovecote(*garden, stdin="@Gardener echo one\n", more=one)
    told = dovecote(*garden, stdin="@Gardener echo two\n", more=one)
    again = dovecote(*garden, stdin="@Gardener echo three\n/status\n", more=one)
    status = dovecote("status", more=one)
    doctor = dovecote("doctor", more=one)

    assert (under.returncode, under.stdout) == (0, "one\n")
    assert (told.returncode, "very often" in told.stdout) == (1, True)
    assert (again.returncode, again.stdout) == (1, "")
    assert (
        "Error: Line 1 (“@Gardener echo three”) was not answered. Nor was 1 more. The bound "
        "bounds.triggers_per_sender is met: nothing here is answered until " in again.stderr
    )
    assert "in garden console:operator is not answered until " in status.stdout
    assert "In garden console:operator is not answered until " in doctor.stdout
    assert "(bounds.triggers_per_sender)" in status.stdout
