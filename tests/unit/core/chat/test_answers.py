"""What `/answer …` answers. Source: contracts.md section 6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import AgentId, Jid, TurnId
from orchestrator.contracts.records.questions import Question, QuestionStatus
from orchestrator.core.chat.answers import ReadAnswer, Unclear, read_answer


def question(number: int = 12, *options: str) -> Question:
    return Question(
        number=number,
        agent_id=AgentId("agent-1"),
        question_id=f"q-{number}",
        turn_id=TurnId("turn-1"),
        chat_jid=Jid("1203@g.us"),
        question="May I?",
        options=options,
        status=QuestionStatus.OPEN,
    )


YES_NO = question(12, "Yes", "No, never")
FREE = question(13)


@pytest.mark.parametrize(
    ("argument", "text", "chosen"),
    [
        ("1", "Yes", 0),
        ("2", "No, never", 1),
        ("2.", "No, never", 1),
        ("2)", "No, never", 1),
        (" 1 ", "Yes", 0),
        ("yes", "Yes", 0),
        ("NO, NEVER", "No, never", 1),
        ("yes, but tomorrow", "yes, but tomorrow", None),
        ("2 of them", "2 of them", None),
        ("#12 1", "Yes", 0),
        ("#12 well\nlater", "well\nlater", None),
    ],
)
def test_a_number_or_the_words_of_an_option_choose_it_and_all_else_is_free(
    argument: str, text: str, chosen: int | None
) -> None:
    assert read_answer(argument, [YES_NO]) == ReadAnswer(question=YES_NO, text=text, chosen=chosen)


def test_a_number_is_words_where_there_is_nothing_to_choose_from() -> None:
    assert read_answer("7", [FREE]) == ReadAnswer(question=FREE, text="7", chosen=None)


@pytest.mark.parametrize(
    ("argument", "asked", "why"),
    [
        ("1", [], Unclear.NOT_OPEN),
        ("#11 1", [YES_NO], Unclear.NOT_OPEN),
        ("1", [YES_NO, FREE], Unclear.WHICH),
        ("", [YES_NO], Unclear.EMPTY),
        ("#12", [YES_NO, FREE], Unclear.EMPTY),
        ("0", [YES_NO], Unclear.NO_SUCH_OPTION),
        ("3", [YES_NO], Unclear.NO_SUCH_OPTION),
        ("999999999", [YES_NO], Unclear.NO_SUCH_OPTION),
    ],
)
def test_what_cannot_be_taken(argument: str, asked: list[Question], why: Unclear) -> None:
    assert read_answer(argument, asked) is why


def test_with_several_open_the_number_tells_which() -> None:
    assert read_answer("#13 1", [YES_NO, FREE]) == ReadAnswer(question=FREE, text="1", chosen=None)


@given(st.text(), st.lists(st.sampled_from(["a", "b", "c"]), max_size=3, unique=True))
def test_an_answer_is_never_for_a_question_that_is_not_open_and_never_empty(
    argument: str, options: list[str]
) -> None:
    only = question(5, *options)

    read = read_answer(argument, [only])

    if isinstance(read, ReadAnswer):
        assert read.question is only
        assert read.text.strip()
        assert read.chosen is None or only.options[read.chosen] == read.text
