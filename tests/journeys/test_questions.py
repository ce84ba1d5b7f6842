"""An agent asks, people answer, the agent goes on. Source: contracts.md sections 2 and 6."""

import re

from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from tests.support.eventually import eventually
from tests.support.home_on_disk import ECHO, HomeOnDisk

ASK = {"ask": {"question": "Delete it all?", "options": ["Yes", "No"]}}
ASKS = {"rules": [{"match": "tidy", "steps": [{"say": "hm"}, ASK, {"say": "told {answer}"}]}], **ECHO}
FRAME = (
    "The assistant asks (question {number}):\n> Delete it all?\n1. Yes\n2. No\n"
    + ENGLISH[Say.QUESTION_WITH_OPTIONS]
)


async def test_a_question_is_asked_behind_what_was_said_and_its_answer_reaches_the_agent(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    home.play(ASKS)

    async with home.running():
        home.ask("tidy up")
        await home.said("hm", FRAME.format(number=1))
        await eventually(lambda: home.typing()[-1] is False, what=home.story)
        home.say("/answer 2")
        await eventually(lambda: len(home.texts()) == 4, what=home.story)
        home.say("/answer 1")
        await eventually(lambda: len(home.texts()) == 5, what=home.story)
        await home.quiet()

    assert home.texts()[:2] == ["hm", FRAME.format(number=1)]
    assert set(home.texts()[2:4]) == {"Answered: No", "told No"}
    assert home.texts()[4] == ENGLISH[Say.ANSWER_TOO_LATE]
    assert home.statuses()["m1"] == "settled"


async def test_who_waits_for_a_person_lends_its_place_to_others(home: HomeOnDisk) -> None:
    await home.add_group()
    await home.add_group("garden")
    home.set(queue__max_running=1)
    home.play(ASKS)
    home.play(ECHO, "garden")

    async with home.running():
        home.ask("tidy up")
        await home.said("hm", FRAME.format(number=1))
        home.ask("hello", chat="file:garden")
        await home.said("re: @Assistant hello", chat="file:garden")
        home.say("/answer yes")
        await eventually(lambda: "told Yes" in home.texts(), what=home.story)
        await home.quiet()


async def test_a_question_that_nobody_answers_lets_the_agent_go_on_without(home: HomeOnDisk) -> None:
    await home.add_group()
    home.set(questions__expire_s=1)
    home.play(ASKS)

    async with home.running():
        home.ask("tidy up")
        await eventually(lambda: "told (expired)" in home.texts(), what=home.story)
        await home.quiet()

    assert ENGLISH[Say.QUESTION_EXPIRED].format(number=1) in home.texts()


async def test_a_stop_ends_the_wait_and_closes_the_question(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(ASKS)

    async with home.running():
        home.ask("tidy up")
        await home.said("hm", FRAME.format(number=1))
        home.say("/stop")
        closed = ENGLISH[Say.QUESTION_WITHDRAWN].format(number=1)
        await eventually(lambda: closed in home.texts(), what=home.story)
        home.say("/answer 1")
        await eventually(lambda: ENGLISH[Say.ANSWER_TOO_LATE] in home.texts(), what=home.story)
        await home.quiet()

    assert not [text for text in home.texts() if text.startswith("told")]


async def test_a_question_of_a_former_life_of_the_orchestrator_is_closed_and_asked_anew(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    home.set(shutdown_grace_s=0)
    home.play({"rules": [{"match": "tidy", "steps": [ASK, {"say": "told {answer}"}]}], **ECHO})

    async with home.running():
        home.ask("tidy up")
        await home.said(FRAME.format(number=1))
    async with home.running():
        await eventually(lambda: FRAME.format(number=2) in home.texts(), what=home.story)
        home.say("/answer 1")
        await eventually(lambda: "told Yes" in home.texts(), what=home.story)
        await home.quiet()

    assert home.texts().count(ENGLISH[Say.QUESTION_WITHDRAWN].format(number=1)) == 1
    assert [row["status"] for row in home.rows("SELECT status FROM questions ORDER BY number")] == [
        "withdrawn",
        "answered",
    ]


async def test_an_agent_that_asks_more_than_it_may_is_refused_and_the_chat_hears_nothing(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    home.set(questions__max_open=1)
    event = {"type": "waiting_input", "question": "first?"}
    home.play(
        {"rules": [{"match": "tidy", "steps": [{"event": event}, ASK, {"say": "told {answer}"}]}], **ECHO}
    )

    async with home.running():
        home.ask("tidy up")
        await eventually(lambda: "told (refused)" in home.texts(), what=home.story)
        await home.quiet()

    asked = [text for text in home.texts() if re.match(r"The assistant asks", text)]
    assert len(asked) == 1
    assert home.logs("question.refused")
