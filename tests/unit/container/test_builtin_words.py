"""What plain sentences mean to the built-in driver."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from container.drivers.builtin_words import WishKind, tells_only, understand
from container.drivers.notes_file import MAX_NOTE_CHARS, one_line


@pytest.mark.parametrize(
    ("text", "kind", "argument"),
    [
        ("what time is it?", "time", ""),
        ("What's the time", "time", ""),
        ("time", "time", ""),
        ("Hello, can you tell me the time please?", "time", ""),
        ("date", "date", ""),
        ("what day is it today?", "date", ""),
        ("what is the date?", "date", ""),
        ("remember milk", "remember", "milk"),
        ("remember to buy milk", "remember", "buy milk"),
        ("Remember that Ada is 9.", "remember", "Ada is 9"),
        ("please remember: milk", "remember", "milk"),
        ("don't forget the milk", "remember", "the milk"),
        ("remember", "remember", ""),
        ("recall", "recall", ""),
        ("recall milk", "recall", "milk"),
        ("what do you remember?", "recall", ""),
        ("what do you remember about the milk?", "recall", "milk"),
        ("do you remember milk?", "recall", "milk"),
        ("show my notes", "recall", ""),
        ("forget milk", "forget", "milk"),
        ("forget about milk", "forget", "milk"),
        ("forget everything", "forget_all", ""),
        ("files", "files", ""),
        ("send file report.pdf", "send_file", "report.pdf"),
        ("Send me the file inbox/My Photo.jpg, please!", "send_file", "inbox/My Photo.jpg"),
        ("can you send us our file a.txt please", "send_file", "a.txt"),
        ("give me file a.txt", "send_file", "a.txt"),
        ("send file", "send_file", ""),
        ("send the file", "send_file", ""),
        ("show my files", "files", ""),
        ("remind me in 10 minutes to pay", "remind", "remind me in 10 minutes to pay"),
        ("Can you remind us at 18:30 to pay, please?", "remind", "remind us at 18:30 to pay"),
        ("every weekday at 9 stand-up", "remind", "every weekday at 9 stand-up"),
        ("set a reminder for 18:30 to pay", "remind", "set a reminder for 18:30 to pay"),
        ("remind me", "remind", "remind me"),
        ("list reminders", "list_reminders", ""),
        ("show me all my reminders", "list_reminders", ""),
        ("what reminders do we have?", "list_reminders", ""),
        ("pause reminder 2", "pause_reminder", "2"),
        ("resume the reminder about milk", "resume_reminder", "milk"),
        ("cancel reminder #3!", "cancel_reminder", "#3"),
        ("forget the reminder to pay", "cancel_reminder", "pay"),
        ("change reminder 2 to buy milk", "change_reminder", "2 to buy milk"),
        ("forget reminding me", "forget", "reminding me"),
        ("what files do we have?", "files", ""),
        ("echo  Hi, there! ", "echo", " Hi, there!"),
        ("say hello", "echo", "hello"),
        ("spawn count to 60", "spawn", "count to 60"),
        ("Spawn a helper to count to 60!", "spawn", "count to 60"),
        ("start another helper: echo a, b", "spawn", "echo a, b"),
        ("spawn ask helper what time is it?", "spawn", "ask helper what time is it"),
        ("spawn", "spawn", ""),
        ("start a helper", "spawn", ""),
        ("ask helper what time is it?", "ask_helper", "what time is it"),
        ("can you ask a helper to echo hi, please", "ask_helper", "echo hi"),
        ("ask the helper", "ask_helper", ""),
        ("show tree", "show_tree", ""),
        ("Show me the tree", "show_tree", ""),
        ("list helpers", "show_tree", ""),
        ("show helper 2", "show_helper", "2"),
        ("what did helper 2 say?", "show_helper", "2"),
        ("stop helper 2", "stop_helper", "2"),
        ("stop the helper", "stop_helper", ""),
        ("cancel helper number 3", "stop_helper", "3"),
        ("stop all helpers", "stop_helpers", ""),
        ("count to 12", "count", "12"),
        ("count on me", "unknown", "count on me"),
        ("ask Ada", "unknown", "ask Ada"),
        ("spawning grounds", "unknown", "spawning grounds"),
        ("help", "help", ""),
        ("???", "help", ""),
        ("what can you do?", "help", ""),
        ("", "hello", ""),
        ("good morning!", "hello", ""),
        ("thank you very much", "thanks", ""),
        ("timely", "unknown", "timely"),
        ("remembering milk", "unknown", "remembering milk"),
        ("how is the weather?", "unknown", "how is the weather?"),
    ],
)
def test_a_sentence_means_one_thing(text: str, kind: str, argument: str) -> None:
    wish = understand(text)

    assert (wish.kind, wish.argument.strip()) == (WishKind(kind), argument.strip())


@pytest.mark.parametrize(
    ("text", "is_answered"),
    [
        ("time", True),
        ("what is the date?", True),
        ("echo hello", True),
        ("list reminders", True),
        ("say hello to Ada", False),
        ("remember to pay", False),
        ("don't forget the milk", False),
        ("forget everything", False),
        ("cancel reminder 1", False),
        ("water the plants", False),
        ("help", False),
    ],
)
def test_a_reminder_is_answered_only_by_what_tells_and_changes_nothing(text: str, is_answered: bool) -> None:
    assert tells_only(understand(text), text) is is_answered


@given(st.text(min_size=1).filter(lambda text: text.strip(" \t\r\n.!?,:") != ""))
def test_a_note_is_never_lost_whatever_its_words(text: str) -> None:
    wish = understand(f"remember x {text} x")

    assert wish.kind is WishKind.REMEMBER
    assert wish.argument == f"x {text} x"


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "piece",
    [
        *("remember", " ", ".", "please ", ", ", "what do you remember about ", "hey,", "?", "\u200b"),
        *("forget ", "helper ", ": ", "to ", "what did helper "),
    ],
)
def test_a_long_message_takes_no_long_time(piece: str) -> None:
    text = piece * (64 * 1024 // len(piece))

    for start in ("", "remember ", "what ", "can you ", "spawn ", "ask a helper ", "stop helper "):
        understand(start + text)


@given(st.text())
@example("a control \x7f character between spaces")
@example("x" * (MAX_NOTE_CHARS - 1) + " cut at a space")
def test_a_note_is_one_short_line_and_folding_it_again_changes_nothing(text: str) -> None:
    note = one_line(text)

    assert len(note) <= MAX_NOTE_CHARS
    assert len(note.splitlines()) <= 1
    assert one_line(note) == note
