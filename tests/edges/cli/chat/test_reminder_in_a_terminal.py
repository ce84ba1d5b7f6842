"""A reminder that is asked for at a terminal arrives there, without anybody typing."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.edges.cli.chat.conftest import OpenScreen, Serve
from tests.edges.cli.conftest import Dovecote
from tests.support.eventually import eventually


def sent_texts(home: Path) -> list[str]:
    """What the outbox says was sent."""
    with closing(sqlite3.connect(home / "data/store/dovecote.db")) as store:
        return [text for (text,) in store.execute("SELECT text FROM outbox WHERE status = 'sent'")]


def test_a_reminder_arrives_at_the_terminal_that_asked_for_it(open_screen: OpenScreen) -> None:
    screen = open_screen()
    screen.until("you >")

    screen.keys(b"remind me in 2 seconds to water the plants\r")

    screen.until("Got it. Reminder 1: water the plants, today, ")
    screen.until("⏰ water the plants")
    screen.keys(b"/quit\r")
    code, _ = screen.end()
    assert code == 0


def test_what_was_sent_while_no_chat_was_open_is_shown_once_by_the_next_one(
    dovecote: Dovecote, home: Path, open_screen: OpenScreen, serve: Serve
) -> None:
    asked = dovecote("chat", stdin="remind me in 2 seconds to water the plants\n")
    serve()
    asyncio.run(eventually(lambda: "⏰ water the plants" in sent_texts(home)))
    sent = dovecote("messages", "--sent").stdout.splitlines()
    piped = dovecote("chat", stdin="@Assistant echo piped\n")

    first = open_screen()
    shown = first.until("⏰ water the plants")
    first.keys(b"/quit\r")
    first.end()
    second = open_screen()
    again = second.until("you >")

    assert sent[0].split()[1] == "CHAT"
    assert [line.split()[3] for line in sent[1:]] == ["console:main", "console:main"]
    assert sent[-1].endswith("agent  ⏰ water the plants")
    assert piped.stdout == "piped\n"
    assert "While no chat was open:" in shown
    assert "Got it" in asked.stdout
    assert "Got it" not in shown
    assert "piped" not in shown  # a pipe has printed it
    assert "While no chat was open" not in again


def test_what_was_sent_before_any_chat_took_notes_is_not_shown_again(
    dovecote: Dovecote, home: Path, open_screen: OpenScreen
) -> None:
    dovecote("chat", stdin="@Assistant echo long ago\n")
    (home / "data/chat_seen.json").unlink()

    screen = open_screen()
    shown = screen.until("you >")

    assert "While no chat was open" not in shown
    assert "long ago" not in shown
