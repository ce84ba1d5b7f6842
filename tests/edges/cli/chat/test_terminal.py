"""`dovecote chat` at a terminal: what a person sees and which keys do what."""

import os
import signal
from pathlib import Path

from tests.edges.cli.chat.conftest import OpenScreen
from tests.edges.cli.conftest import Dovecote


def test_a_terminal_shows_help_replies_and_leaves_when_told(home: Path, open_screen: OpenScreen) -> None:
    screen = open_screen()
    greeting = screen.until("you >")
    screen.keys(b"/help\r")
    help_text = screen.until("/retry")
    screen.keys(b"@Assistant remember **milk**\r")
    reply = screen.until("Got it")
    screen.keys(b"/quit\r")
    code, end = screen.end()

    assert "You are talking with Assistant." in greeting
    assert "/quit" in help_text
    assert "**" not in reply.partition("Got it")[2]
    assert "Stopping…" in end
    assert code == 0
    assert "remember" in (home / "data/chat_history").read_text()


def test_serve_at_a_terminal_says_when_it_is_ready_how_to_talk_to_it_and_how_it_stops(
    home: Path, open_screen: OpenScreen, dovecote: Dovecote
) -> None:
    screen = open_screen("--home", str(home), command="serve")

    screen.until("Dovecote is ready.")
    said = screen.until("\n")
    screen.talk.send_signal(signal.SIGINT)
    screen.until("Stopping: what runs may end within 5 s. Ctrl-C again stops it at once.")
    code, _ = screen.end()

    assert f"Talk to it in another terminal: dovecote chat --home {home} " in said
    assert "Ctrl-C here stops it." in said
    assert code == 0


def test_who_waits_at_a_terminal_is_told_which_command_finds_the_cause(
    dovecote: Dovecote, open_screen: OpenScreen, home: Path
) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--trigger", "@Gardener")
    (home / "groups/garden/AGENT.md").write_text("---\ncolour: red\n---\n")

    screen = open_screen("--chat", "console:garden")
    screen.until("@Gardener")
    screen.keys(b"@Gardener hello\r")
    screen.until("the operator has to look")
    screen.until("Look for the cause: dovecote agent check")
    screen.keys(b"/quit\r")

    assert screen.end()[0] == 0


def test_a_line_that_is_not_for_the_assistant_is_told_how_to_call_it(
    dovecote: Dovecote, open_screen: OpenScreen
) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--trigger", "@Gardener")
    advice = "Begin a message for the assistant with @Gardener"

    screen = open_screen("--chat", "console:garden")
    screen.until(advice)
    screen.keys(b"hello there\r")
    screen.until(advice)
    screen.keys(b"@Gardener echo well\r")
    after = screen.until("well")
    screen.until("well")  # behind the echo of the keys, the answer
    screen.keys(b"/quit\r")
    code, shown = screen.end()

    assert code == 0
    assert advice not in after + shown


def test_a_chat_with_a_trigger_of_its_own_names_it(dovecote: Dovecote, open_screen: OpenScreen) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--trigger", "@Gardener")

    screen = open_screen("--chat", "console:garden")
    greeting = screen.until("you >")
    screen.keys(b"/help\r")
    help_text = screen.until("with @Gardener")
    screen.until("you >")
    screen.keys(b"\x04")

    assert "Begin a message for the assistant with @Gardener" in greeting
    assert "/stop" in help_text
    assert screen.end()[0] == 0


def test_ctrl_c_clears_a_line_and_leaves_only_when_pressed_twice(open_screen: OpenScreen) -> None:
    screen = open_screen()
    screen.until("you >")
    screen.keys(b"half a line")
    screen.until("half a line")
    screen.keys(b"\x03")
    screen.until("you >")
    screen.keys(b"\x03")
    screen.until("Press Ctrl-C again to leave")
    screen.until("you >")
    screen.keys(b"@Assistant echo still here\r")
    screen.until("Assistant\r\n")
    screen.until("still here")
    screen.until("you >")
    screen.keys(b"\x03")
    screen.until("Press Ctrl-C again to leave")
    screen.until("you >")
    screen.keys(b"\x03")

    assert screen.end()[0] == 0


def test_an_unknown_word_is_not_sent_but_answered_with_how_to_see_the_known_ones(
    open_screen: OpenScreen,
) -> None:
    screen = open_screen()
    screen.until("you >")
    screen.keys(b"/hlep me\r")
    shown = screen.until("there are.")
    screen.until("you >")
    screen.keys(b"\x04")
    _, end = screen.end()

    assert "There is no /hlep. /help shows the words there are." in shown
    assert "Assistant\r\n" not in end


def test_what_is_asked_at_another_terminal_is_shown_with_the_sender(
    open_screen: OpenScreen, dovecote: Dovecote
) -> None:
    screen = open_screen()
    screen.until("you >")
    # The API opens a moment later than the prompt; the other chat waits for it.
    other = dovecote("chat", stdin="@Assistant echo from afar\n")
    shown = screen.until("echo from afar") + screen.until("from afar")
    screen.until("you >")
    screen.keys(b"\x04")

    assert other.stdout == "from afar\n"
    assert "Operator (elsewhere) > @Assistant echo from afar" in shown
    assert screen.end()[0] == 0


def test_a_terminal_that_goes_away_ends_the_chat_in_order(home: Path, open_screen: OpenScreen) -> None:
    screen = open_screen()
    screen.until("you >")

    os.kill(screen.talk.pid, signal.SIGHUP)
    code, _ = screen.end()

    assert code == 0
    assert "shutdown.done" in (home / "data/logs/dovecote.log").read_text()
    assert (home / "data/store/lock").read_text() == ""


def test_every_line_over_a_bound_is_told_why_it_is_not_answered(
    dovecote: Dovecote, open_screen: OpenScreen, environment: dict[str, str]
) -> None:
    dovecote("group", "add", "garden", "--jid", "console:garden", "--trigger", "@Gardener")
    environment["DOVECOTE_BOUNDS__TRIGGERS_PER_SENDER"] = "1"

    screen = open_screen("--chat", "console:garden")
    screen.until("you >")
    screen.keys(b"@Gardener echo one\r")
    screen.until("Assistant\r\n")
    screen.until("one")
    for _ in range(2):
        screen.until("you >")
        screen.keys(b"@Gardener echo again\r")
        screen.until("bounds.triggers_per_sender is met")
