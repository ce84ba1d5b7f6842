"""The built-in driver remembers what it asked, and whom."""

import pytest

from container.drivers.asking_back import AskedBack, OpenQuestion, Told
from container.drivers.builtin_words import understand
from container.drivers.reminder_words import answered, asked_in
from container.drivers.time_words import EveryDay, Moment


async def replies(words: str) -> Told | None:
    return None if words == "not an answer" else f"taken: {words}"


async def said(words: str, *, who: str = "ada", takes_commands: bool = False) -> Told | None:
    """What follows when Ada was asked something, and somebody says `words`."""
    question = OpenQuestion()
    question.put(AskedBack(text="What?", go_on=replies, takes_commands=takes_commands), "ada")
    return await question.answer(who, words, understand(words))


@pytest.mark.parametrize("words", ["buy milk", " 9 ", "at 9:00"])
async def test_the_next_words_of_who_was_asked_are_the_answer(words: str) -> None:
    assert await said(words) == f"taken: {words.strip()}"


@pytest.mark.parametrize("words", ["help", "what time is it?", "not an answer", "", "  "])
async def test_a_command_or_what_is_no_answer_stands_for_itself(words: str) -> None:
    assert await said(words) is None


async def test_somebody_elses_words_are_no_answer_and_close_the_question() -> None:
    question = OpenQuestion()
    question.put(AskedBack(text="What?", go_on=replies), "ada")

    assert await question.answer("ben", "milk", understand("milk")) is None
    assert await question.answer("ada", "milk", understand("milk")) is None


async def test_where_commands_are_answers_they_are_taken() -> None:
    assert await said("what time is it", takes_commands=True) == "taken: what time is it"


@pytest.mark.parametrize("words", ["never mind", "No.", "cancel"])
async def test_one_can_leave_it(words: str) -> None:
    assert await said(words) == "Okay, never mind."


@pytest.mark.parametrize(
    ("sentence", "answer", "as_if"),
    [
        ("remind me tomorrow to pay", "at 9:00", "remind me tomorrow at 9:00 to pay"),
        ("remind me tomorrow to pay", "9:30", "remind me tomorrow at 9:30 to pay"),
        ("remind me every weekday to pay", "noon", "remind me every weekday at noon to pay"),
        ("remind me to pay", "in 10 minutes", "remind me in 10 minutes to pay"),
        ("remind me to pay", "tomorrow at 9", "remind me tomorrow at 9 to pay"),
        ("remind me tomorrow at 9", "to pay the rent", "remind me tomorrow at 9 to pay the rent"),
        ("remind me", "tomorrow at 9", "remind me tomorrow at 9"),
        ("remind me", "pay", "remind me to pay"),
    ],
)
def test_an_answer_completes_the_reminder_as_if_it_had_been_said_at_once(
    sentence: str, answer: str, as_if: str
) -> None:
    assert answered(asked_in(sentence), answer) == asked_in(as_if)


def test_what_is_no_time_does_not_answer_when() -> None:
    assert answered(asked_in("remind me to pay"), "the other day") is None


def test_a_day_that_was_said_stays_when_its_time_is_told() -> None:
    for sentence, kind in (("remind me tomorrow to pay", Moment), ("every weekday pay", EveryDay)):
        whole = answered(asked_in(sentence), "at 9:00")
        assert whole is not None
        assert isinstance(whole.when, kind)
        assert whole.text == "pay"
