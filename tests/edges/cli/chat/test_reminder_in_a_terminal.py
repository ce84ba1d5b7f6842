"""A reminder that is asked for at a terminal arrives there, without anybody typing."""

from tests.edges.cli.chat.conftest import OpenScreen


def test_a_reminder_arrives_at_the_terminal_that_asked_for_it(open_screen: OpenScreen) -> None:
    screen = open_screen()
    screen.until("you >")

    screen.keys(b"remind me in 2 seconds to water the plants\r")

    screen.until("Got it. Reminder 1: water the plants, today, ")
    screen.until("⏰ water the plants")
    screen.keys(b"/quit\r")
    code, _ = screen.end()
    assert code == 0
