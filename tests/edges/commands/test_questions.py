"""What an agent asks of people, and who answers it. Source: contracts.md section 6."""

from typing import Any

import pytest

from orchestrator.commands.saying.questions import ask, expire_questions
from orchestrator.contracts.ids import Jid, TurnId
from orchestrator.contracts.records.agents import Agent, DeathCause
from orchestrator.contracts.records.questions import Question, QuestionStatus
from orchestrator.contracts.wire.container_io import TurnStatus, WaitingInput
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.settings.tree import AssistantSettings, QuestionSettings, Settings
from orchestrator.store import questions
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import ANN, BOB

CAROL = Jid("49172@s.whatsapp.net")
OPTIONS = ("Yes", "No")


async def at_work(desk: Desk, name: str = "1", *, sender: Jid = ANN) -> Agent:
    """An agent in a turn that the sender set off."""
    await desk.hear(f"m-{name}", "@Andy tidy up", sender_jid=sender)
    held = await desk.start_agent(f"agent-{name}", turn=f"turn-{name}")
    await desk.begin(held, f"m-{name}", turn=f"turn-{name}")
    return held


async def put(desk: Desk, held: Agent, text: str = "May I?", **fields: Any) -> str | None:
    """The agent asks; why it may not, if so."""
    event = WaitingInput(question=text, **({"options": OPTIONS, "question_id": "q-1"} | fields))
    turn_id = TurnId(held.agent_id.replace("agent", "turn"))
    return await desk.run(lambda tx: ask(tx, desk.services, held, event, turn_id=turn_id, at=desk.now))


async def asked(desk: Desk, held: Agent) -> list[Question]:
    return await desk.run(lambda tx: questions.of_agent(tx, held.agent_id))


def operators(desk: Desk, *people: str, **limits: int) -> None:
    assistant = AssistantSettings(operators=people)
    desk.set_settings(Settings(assistant=assistant, questions=QuestionSettings(**limits)))


async def test_a_question_stands_in_the_chat_in_our_frame_with_numbered_options(desk: Desk) -> None:
    held = await at_work(desk)

    refusal = await put(desk, held, "May I delete\nthe \x1bold <internal>plan</internal>files?")

    assert refusal is None
    assert await desk.texts() == [
        "The assistant asks (question 1):\n> May I delete\n> the old files?\n1. Yes\n2. No\n"
        "Answer with /answer 1 or another number, or with /answer and your own words."
    ]


async def test_a_question_without_options_asks_for_words(desk: Desk) -> None:
    held = await at_work(desk)

    await put(desk, held, "Which file?", options=())

    assert (await desk.texts())[0].endswith("> Which file?\nAnswer with /answer and your words.")


async def test_a_question_and_options_without_end_are_cut(desk: Desk) -> None:
    held = await at_work(desk)

    await put(desk, held, "x" * 1_000_000, options=("y" * 1_000_000,))

    [question] = await asked(desk, held)
    assert question.question.startswith("xxx")
    assert len(question.question.encode()) == 4_096
    assert question.options == ("y" * 100,)


@pytest.mark.parametrize(
    ("said", "text", "chosen"), [("/answer 2", "No", 1), ("/answer on Monday", "on Monday", None)]
)
async def test_whoever_set_the_turn_off_answers_and_the_agent_is_to_hear_it(
    desk: Desk, said: str, text: str, chosen: int | None
) -> None:
    held = await at_work(desk)
    await put(desk, held)

    await desk.hear("w-1", said)

    [question] = await asked(desk, held)
    assert (question.status, question.answer, question.chosen) == (QuestionStatus.ANSWERED, text, chosen)
    assert desk.control.answered == [held.agent_id]
    assert (await desk.texts())[-1] == f"Answered: {text}"


async def test_an_operator_answers_for_others_and_another_member_does_not(desk: Desk) -> None:
    operators(desk, BOB)
    held = await at_work(desk)
    await put(desk, held)

    await desk.hear("w-1", "/answer 1", sender_jid=CAROL)
    by_member = (await asked(desk, held))[0].status
    await desk.hear("w-2", "/answer 1", sender_jid=BOB)

    assert by_member is QuestionStatus.OPEN
    assert (await asked(desk, held))[0].status is QuestionStatus.ANSWERED
    assert (await desk.texts())[1:] == [ENGLISH[Say.NOT_YOURS_TO_ANSWER], "Answered: Yes"]


async def test_whose_message_waits_for_another_turn_answers_nothing_of_this_one(desk: Desk) -> None:
    held = await at_work(desk)
    await put(desk, held)
    await desk.hear("m-2", "@Andy and me?", sender_jid=BOB)
    await desk.feed(held, turn="turn-2", stem="0002")

    await desk.hear("w-1", "/answer 1", sender_jid=BOB)
    before = (await asked(desk, held))[0].status
    await desk.begin(held, "m-1", "m-2")
    await desk.hear("w-2", "/answer 1", sender_jid=BOB)

    assert before is QuestionStatus.OPEN
    assert (await asked(desk, held))[0].status is QuestionStatus.ANSWERED


async def test_a_bot_answers_nothing(desk: Desk) -> None:
    held = await at_work(desk)
    await put(desk, held)

    await desk.hear("w-1", "/answer 1", sender_is_bot=True)

    assert (await asked(desk, held))[0].status is QuestionStatus.OPEN


async def test_a_second_answer_is_told_that_it_is_too_late_and_changes_nothing(desk: Desk) -> None:
    held = await at_work(desk)
    await put(desk, held)
    await desk.hear("w-1", "/answer 1")

    await desk.hear("w-2", "/answer 2")

    assert (await asked(desk, held))[0].answer == "Yes"
    assert (await desk.texts())[-1] == ENGLISH[Say.ANSWER_TOO_LATE]
    assert desk.control.answered == [held.agent_id]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("/answer", Say.ANSWER_EMPTY),
        ("/answer 3", Say.ANSWER_NO_SUCH_OPTION),
        ("/answer #7 yes", Say.ANSWER_TOO_LATE),
    ],
)
async def test_an_answer_that_is_unclear_is_told_why(desk: Desk, said: str, sentence: Say) -> None:
    held = await at_work(desk)
    await put(desk, held)

    await desk.hear("w-1", said)

    assert (await desk.texts())[-1] == ENGLISH[sentence]
    assert (await asked(desk, held))[0].status is QuestionStatus.OPEN


async def test_where_nothing_was_asked_there_is_nothing_to_answer(desk: Desk) -> None:
    await desk.hear("w-1", "/answer yes")

    assert await desk.texts() == [ENGLISH[Say.NO_QUESTION]]


async def test_of_several_open_questions_the_answer_names_its_own(desk: Desk) -> None:
    held = await at_work(desk)
    await put(desk, held, "First?")
    await put(desk, held, "Second?", question_id="q-2")

    await desk.hear("w-1", "/answer yes")
    await desk.hear("w-2", "/answer #2 yes")

    statuses = [each.status for each in await asked(desk, held)]
    assert statuses == [QuestionStatus.OPEN, QuestionStatus.ANSWERED]
    assert (await desk.texts())[2:] == [ENGLISH[Say.ANSWER_WHICH], "Answered: Yes"]


async def test_asked_again_with_the_same_id_it_is_the_same_question(desk: Desk) -> None:
    held = await at_work(desk)

    await put(desk, held)
    await put(desk, held, "Something else?")

    assert len(await desk.texts()) == 1


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"question": " \x00 "}, "the question is empty"),
        ({"question_id": "../q"}, "questionId has not the form of an id"),
        ({"options": ("Yes", "\x1b")}, "there may be 20 options, none of them empty"),
        ({"options": tuple("abcdefghijklmnopqrstu")}, "there may be 20 options, none of them empty"),
    ],
)
async def test_what_cannot_be_asked_is_refused_to_the_agent_alone(
    desk: Desk, fields: dict[str, Any], why: str
) -> None:
    held = await at_work(desk)
    text = fields.get("question", "May I?")

    refusal = await put(desk, held, text, **{key: each for key, each in fields.items() if key != "question"})

    assert refusal == why
    assert await desk.texts() == []


async def test_only_a_few_questions_are_open_in_a_chat(desk: Desk) -> None:
    operators(desk, max_open=2)
    held = await at_work(desk)

    refusals = [await put(desk, held, question_id=f"q-{number}") for number in range(3)]

    assert refusals == [None, None, "2 questions are open in this chat, which is the limit"]


async def test_outside_of_a_turn_nothing_is_asked(desk: Desk) -> None:
    held = await at_work(desk)
    event = WaitingInput(question="May I?", question_id="q-1")

    refusal = await desk.run(lambda tx: ask(tx, desk.services, held, event, turn_id=None, at=desk.now))

    assert refusal == "a question can only be asked in a turn"
    assert await desk.texts() == []


@pytest.mark.parametrize("end", ["dies", "is stopped", "ends its turn"])
async def test_an_agent_that_waits_no_more_closes_its_question_with_a_sentence(desk: Desk, end: str) -> None:
    held = await at_work(desk)
    await put(desk, held)

    match end:
        case "dies":
            await desk.die(held)
        case "is stopped":
            await desk.die(held, DeathCause.STOPPED)
        case "ends its turn":
            await desk.end(held, "m-1", status=TurnStatus.ERROR)
    await desk.hear("w-1", "/answer 1")

    texts = await desk.texts()
    assert (await asked(desk, held))[0].status is QuestionStatus.WITHDRAWN
    assert texts.count(ENGLISH[Say.QUESTION_WITHDRAWN].format(number=1)) == 1
    assert texts[-1] == ENGLISH[Say.ANSWER_TOO_LATE]


async def test_an_answered_question_is_not_closed_once_more(desk: Desk) -> None:
    held = await at_work(desk)
    await put(desk, held)
    await desk.hear("w-1", "/answer 1")

    await desk.die(held)

    assert ENGLISH[Say.QUESTION_WITHDRAWN].format(number=1) not in await desk.texts()


async def test_a_question_that_nobody_answers_is_closed_and_the_chat_is_told(desk: Desk) -> None:
    held = await at_work(desk)
    await put(desk, held)

    await desk.run(lambda tx: expire_questions(tx, desk.services, held.agent_id, at=desk.now))

    assert (await asked(desk, held))[0].status is QuestionStatus.EXPIRED
    assert (await desk.texts())[-1] == ENGLISH[Say.QUESTION_EXPIRED].format(number=1)


async def test_a_question_is_no_effect_so_its_message_may_run_again(desk: Desk) -> None:
    held = await at_work(desk)
    await put(desk, held)

    await desk.die(held)

    assert (await desk.statuses())["m-1"] == "pending"


async def test_the_status_names_what_waits_for_an_answer(desk: Desk) -> None:
    operators(desk, BOB)
    held = await at_work(desk)
    await put(desk, held)

    await desk.hear("w-1", "/status", sender_jid=BOB)
    await desk.hear("w-2", "/answer 1", sender_jid=BOB)
    await desk.hear("w-3", "/status", sender_jid=BOB)

    before, after = (await desk.texts())[1], (await desk.texts())[3]
    line = ENGLISH[Say.STATUS_QUESTION].format(number=1)
    assert (line in before.splitlines(), line in after.splitlines()) == (True, False)


async def test_a_turn_that_has_ended_asks_nothing_however_often_its_agent_begins_it_again(desk: Desk) -> None:
    held = await at_work(desk)
    await desk.say(held, "done")
    await desk.end(held, "m-1")
    await desk.begin(held, "m-1")

    refusal = await put(desk, held)

    assert refusal == "a question can only be asked in a turn"
    assert await desk.texts() == ["done"]
