"""What plain sentences mean to the built-in driver."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from container.drivers.builtin_words import WishKind, addressed_to, to_answer, understand
from container.drivers.notes_file import MAX_NOTE_CHARS, one_line
from container.messages import Message


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
        addressed_to(start + text, ["Assistant"])


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        pytest.param("@Assistant time", "time", id="the usual form"),
        pytest.param("  @assistant: time", "time", id="white space, case and a colon"),
        pytest.param("\u200b@ASSISTANT,time", "time", id="invisible characters"),
        pytest.param("Assistant, time", "time", id="the bare name with a comma"),
        pytest.param("@Assistant", "", id="nothing behind it"),
        pytest.param("@Assistant!", "!", id="a sign behind it"),
        pytest.param("Assistant time", None, id="the bare name alone"),
        pytest.param("@Assistants time", None, id="a longer name"),
        pytest.param("@Assistant_2 time", None, id="a name that goes on"),
        pytest.param("@Assistant\u0301 time", None, id="a mark behind it"),
        pytest.param("time @Assistant", None, id="not at the start"),
        pytest.param("", None, id="empty"),
    ],
)
def test_a_message_is_addressed_by_its_beginning(text: str, rest: str | None) -> None:
    assert addressed_to(text, ["Assistant"]) == rest


def test_composed_and_decomposed_names_are_the_same() -> None:
    assert addressed_to("@Rene\u0301 time", ["Ren\u00e9"]) == "time"


def batch(*texts: str) -> list[Message]:
    return [Message(text=text) for text in texts]


@pytest.mark.parametrize(
    ("texts", "all_count", "answered"),
    [
        pytest.param(["a", "@Bot b", "c"], False, ["b"], id="only those that call it"),
        pytest.param(["a", "@Bot b"], True, ["a", "b"], id="all where all count"),
        pytest.param(["a", "b"], False, ["a", "b"], id="all where none calls it"),
        pytest.param([], False, [], id="none where there is none"),
    ],
)
def test_the_right_messages_of_a_batch_are_answered(
    texts: list[str], all_count: bool, answered: list[str]
) -> None:
    assert [rest for _, rest in to_answer(batch(*texts), ["Bot"], all_count=all_count)] == answered


def test_its_own_messages_are_never_answered() -> None:
    own = Message(text="@Bot echo loop", role="assistant")

    assert to_answer([own], ["Bot"], all_count=True) == []


@given(st.text())
def test_a_note_is_one_short_line_and_folding_it_again_changes_nothing(text: str) -> None:
    note = one_line(text)

    assert len(note) <= MAX_NOTE_CHARS
    assert len(note.splitlines()) <= 1
    assert one_line(note).strip() == note.strip()
