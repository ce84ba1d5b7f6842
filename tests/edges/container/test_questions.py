"""Questions of a real agent runner; their answers are files. Source: contracts.md sections 1 and 2."""

import os

import pytest

from orchestrator.contracts.wire.container_io import WaitingInput
from tests.edges.container.agent_process import AgentProcess, Home, agent, eventually, given

ASKS = {"turns": [[{"ask": {"question": "May I?", "options": ["Yes", "No"]}}, {"say": "told {answer}"}]]}


def questions(running: AgentProcess) -> list[WaitingInput]:
    return [item for item in running.items if isinstance(item, WaitingInput)]


async def begin(running: AgentProcess, count: int = 1) -> str:
    """It has asked; the id of its newest question."""
    await running.until(lambda: len(questions(running)) == count)
    return questions(running)[-1].question_id


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"text": "No", "option": 1}, "told No"),
        ({"status": "answered", "text": "on Monday"}, "told on Monday"),
        ({"status": "expired"}, "told (expired)"),
        ({"status": "refused", "text": "too many"}, "told (refused)"),
    ],
)
async def test_the_turn_waits_for_its_answer_and_goes_on_with_it(
    home: Home, answer: dict[str, object], told: str
) -> None:
    home.play(ASKS)
    async with agent(home) as running:
        await running.give(given("tidy up"))
        question_id = await begin(running)
        asked = questions(running)[0]

        home.drop("0001-answer.json", {"type": "answer", "questionId": question_id} | answer)
        await running.until_ended(1)
        await eventually(lambda: home.input_names() == [])

    assert (asked.question, asked.options) == ("May I?", ("Yes", "No"))
    assert running.texts == [told]


async def test_an_answer_to_another_question_is_put_away_and_the_turn_waits_on(home: Home) -> None:
    home.play(ASKS)
    async with agent(home) as running:
        await running.give(given("tidy up"))
        question_id = await begin(running)

        home.drop("0001-answer.json", {"type": "answer", "questionId": "question-x", "text": "No"})
        await eventually(lambda: home.input_names() == [])
        home.drop("0002-answer.json", {"type": "answer", "questionId": question_id, "text": "Yes"})
        home.drop("0003-answer.json", {"type": "answer", "questionId": question_id, "text": "No"})
        await running.until_ended(1)

    assert running.texts == ["told Yes"]


async def test_who_is_to_close_still_hears_the_answer_that_its_turn_waits_for(home: Home) -> None:
    home.play(ASKS)
    async with agent(home) as running:
        await running.give(given("tidy up"))
        question_id = await begin(running)

        home.drop("0001-close.json", {"type": "_close"})
        await eventually(lambda: home.input_names() == [])
        home.follow_up("0002.json", "later", ids=["m2"], turn_id="turn-2")
        home.drop("0003-answer.json", {"type": "answer", "questionId": question_id, "text": "Yes"})
        code = await running.exit_code()

    assert code == 0
    assert running.texts == ["told Yes"]
    assert home.input_names() == ["0002.json"]


async def test_an_answer_that_lies_behind_a_close_in_one_look_is_heard_too(home: Home) -> None:
    home.play(ASKS)
    async with agent(home) as running:
        await running.give(given("tidy up"))
        question_id = await begin(running)
        for name, content in (
            ("0001-close.json", {"type": "_close"}),
            ("0002-answer.json", {"type": "answer", "questionId": question_id, "text": "Yes"}),
        ):
            home.drop(name, content)

        code = await running.exit_code()

    assert (code, running.texts) == (0, ["told Yes"])


async def test_a_message_that_comes_while_it_waits_becomes_a_turn_of_its_own(home: Home) -> None:
    home.play(ASKS)
    async with agent(home) as running:
        await running.give(given("tidy up"))
        question_id = await begin(running)

        home.follow_up("0001.json", "and the shed", ids=["m2"], turn_id="turn-2")
        home.drop("0002-answer.json", {"type": "answer", "questionId": question_id, "text": "Yes"})
        await running.until_ended(2)

    assert running.texts == ["told Yes", "re: and the shed"]


async def test_who_is_told_to_stop_while_it_waits_ends_its_turn_as_cancelled(home: Home) -> None:
    home.play(ASKS)
    async with agent(home) as running:
        await running.give(given("tidy up"))
        await begin(running)

        running.process.terminate()
        await running.until_ended(1)

    assert [ended.status for ended in running.ended] == ["cancelled"]


async def test_every_question_has_an_id_of_its_own(home: Home) -> None:
    home.play({"turns": [[{"ask": "First?"}, {"ask": "Second?"}, {"say": "told {answer}"}]]})
    async with agent(home) as running:
        await running.give(given("tidy up"))
        first = await begin(running)
        home.drop("0001-answer.json", {"type": "answer", "questionId": first, "text": "one"})
        second = await begin(running, 2)
        home.drop("0002-answer.json", {"type": "answer", "questionId": second, "text": "two"})
        await running.until_ended(1)

    assert first != second
    assert running.texts == ["told two"]


async def test_an_answer_that_cannot_be_read_is_a_line_of_the_log_and_stays_where_it_is(home: Home) -> None:
    home.play(ASKS)
    async with agent(home) as running:
        await running.give(given("tidy up"))
        question_id = await begin(running)

        home.drop("0001-answer.json", {"type": "answer", "questionId": 7})
        os.mkfifo(home.box / "input" / "0002-answer.json")
        home.drop("0003-answer.json", {"type": "answer", "questionId": question_id, "text": "Yes"})
        await running.until_ended(1)

    assert running.texts == ["told Yes"]
    assert home.input_names() == ["0001-answer.json", "0002-answer.json"]
