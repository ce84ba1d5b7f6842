"""What plain sentences mean to the built-in driver."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from container.drivers.builtin_words import WishKind, understand
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
        ("what files do we have?", "files", ""),
        ("echo  Hi, there! ", "echo", " Hi, there!"),
        ("say hello", "echo", "hello"),
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


@given(st.text(min_size=1).filter(lambda text: text.strip(" \t\r\n.!?,:") != ""))
def test_a_note_is_never_lost_whatever_its_words(text: str) -> None:
    wish = understand(f"remember x {text} x")

    assert wish.kind is WishKind.REMEMBER
    assert wish.argument == f"x {text} x"


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "piece",
    ["remember", " ", ".", "please ", ", ", "what do you remember about ", "hey,", "?", "\u200b", "forget "],
)
def test_a_long_message_takes_no_long_time(piece: str) -> None:
    text = piece * (64 * 1024 // len(piece))

    for start in ("", "remember ", "what ", "can you "):
        understand(start + text)


@given(st.text())
@example("a control \x7f character between spaces")
@example("x" * (MAX_NOTE_CHARS - 1) + " cut at a space")
def test_a_note_is_one_short_line_and_folding_it_again_changes_nothing(text: str) -> None:
    note = one_line(text)

    assert len(note) <= MAX_NOTE_CHARS
    assert len(note.splitlines()) <= 1
    assert one_line(note) == note
