"""What operators say to the wishes of agents, and what comes of it. Source: contracts.md section 4."""

import asyncio
from typing import Any

import pytest

from orchestrator.commands.decisions import (
    confirm_proposal,
    decline_proposal,
    expire_proposals,
    list_proposals,
)
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import Forbidden, InvalidRequest, NotFound
from orchestrator.contracts.ids import GroupFolder, Jid
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.group_requests import RegisterGroup
from orchestrator.contracts.wire.task_requests import CancelTask, ListTasks
from orchestrator.settings.tree import AssistantSettings, Settings
from orchestrator.store import groups, tasks
from tests.edges.commands.conftest import Desk
from tests.edges.commands.task_askers import CLUB, Asker, hourly, stored
from tests.edges.commands.task_askers import club as club
from tests.edges.commands.task_askers import family as family
from tests.edges.commands.task_askers import main as main
from tests.support.store_rows import ANN, BOB, CHAT, OTHER_CHAT, add_group

MAIN_CHAT = Jid("console:main")
OPERATOR = OperatorCaller()
REGISTER = RegisterGroup(jid=Jid("77@g.us"), name="Choir", folder="choir", trigger_pattern="@Andy")


async def proposed(asker: Asker, wish: Any = None) -> int:
    """A member speaks to an agent, which wishes something: its number."""
    await asker.set_rights(Rights.MEMBER)
    refused = await asker.refused(wish or SendMessage(chat_jid=OTHER_CHAT, text="hello"))
    assert refused.code == "CONFIRMATION_NEEDED"
    number = (refused.details or {})["number"]
    assert isinstance(number, int)
    return number


async def status(desk: Desk, number: int) -> str:
    """How a proposal stands."""
    found = await list_proposals(desk.services, count=100)
    return next(str(each["status"]) for each in found if each["number"] == number)


def may_register(desk: Desk) -> None:
    """The family may register others."""
    desk.set_settings(Settings(register_group_from=("family",)))


async def test_yes_carries_it_out_once_and_tells_the_main_chat(main: Asker, club: Asker) -> None:
    desk, number = main.desk, await proposed(main)

    await desk.hear("y-1", f"/yes {number}", chat_jid=MAIN_CHAT)
    await desk.hear("y-2", f"/yes {number}", chat_jid=MAIN_CHAT)

    assert await desk.texts(OTHER_CHAT) == ["hello"]
    assert await status(desk, number) == "confirmed"
    assert (await desk.texts(MAIN_CHAT))[1:] == [
        f"{number} is done (send a message to another chat).",
        f"Nothing with the number {number} waits for an answer.",
    ]


async def test_no_drops_it(main: Asker, club: Asker) -> None:
    desk, number = main.desk, await proposed(main)

    await desk.hear("n-1", f"/no {number}", chat_jid=MAIN_CHAT)
    await desk.hear("y-1", f"/yes {number}", chat_jid=MAIN_CHAT)

    assert await desk.texts(OTHER_CHAT) == []
    assert await status(desk, number) == "declined"
    assert (await desk.texts(MAIN_CHAT))[1:] == [
        f"{number} is dropped (send a message to another chat).",
        f"Nothing with the number {number} waits for an answer.",
    ]


async def test_two_operators_at_once_have_it_done_once(main: Asker, club: Asker) -> None:
    desk, number = main.desk, await proposed(main)

    answers = await asyncio.gather(
        *(confirm_proposal(desk.services, OPERATOR, number) for _ in range(4)), return_exceptions=True
    )

    assert await desk.texts(OTHER_CHAT) == ["hello"]
    assert len([each for each in answers if isinstance(each, InvalidRequest)]) == 3


@pytest.mark.parametrize("word", ["yes", "no"])
async def test_only_an_operator_in_the_main_chat_decides(
    family: Asker, main: Asker, club: Asker, word: str
) -> None:
    desk, number = main.desk, await proposed(main)
    desk.set_settings(Settings(assistant=AssistantSettings(operators=(BOB,))))

    await desk.hear("w-1", f"/{word} {number}", sender_jid=ANN)
    await desk.hear("w-2", f"/{word} {number}", sender_jid=BOB)
    await desk.hear("w-3", f"/{word} {number}", chat_jid=MAIN_CHAT, sender_jid=ANN, chat_is_group=True)

    assert await status(desk, number) == "open"
    theirs = f"Only operators of the assistant may say /{word} here. /help shows what everybody may say."
    assert await desk.texts() == [theirs, f"/{word} is said in the main chat, where the question stands."]
    assert (await desk.texts(MAIN_CHAT))[1:] == [theirs]


@pytest.mark.parametrize("argument", ["", "all", "-1", "1 2", "٣", "99999999999"])
async def test_a_word_without_a_number_names_what_waits(main: Asker, club: Asker, argument: str) -> None:
    desk, number = main.desk, await proposed(main)

    await desk.hear("w-1", f"/yes {argument}".strip(), chat_jid=MAIN_CHAT)

    assert await status(desk, number) == "open"
    said = (await desk.texts(MAIN_CHAT))[-1]
    assert said == f"Say which, such as /yes {number}. These wait for an answer: {number}."


async def test_when_nothing_waits_the_word_says_so(main: Asker) -> None:
    await main.desk.hear("w-1", "/no", chat_jid=MAIN_CHAT)
    await main.desk.hear("w-2", "/yes 5", chat_jid=MAIN_CHAT)

    assert await main.desk.texts(MAIN_CHAT) == [
        "Nothing waits for an answer.",
        "Nothing with the number 5 waits for an answer.",
    ]


async def test_what_an_operator_confirmed_keeps_the_rights_of_those_who_wished_it(
    main: Asker, club: Asker
) -> None:
    number = await proposed(main, hourly(group_folder=CLUB))

    await confirm_proposal(main.desk.services, OPERATOR, number)

    [made] = (await club.ask(ListTasks()))["tasks"]
    assert (await stored(main.desk, made["id"])).rights is Rights.MEMBER


async def test_a_target_that_is_gone_by_then_ends_it_as_failed_with_the_reason(
    main: Asker, club: Asker
) -> None:
    desk, number = main.desk, await proposed(main)
    await desk.run(lambda tx: groups.remove(tx, CLUB))

    answer = await confirm_proposal(desk.services, OPERATOR, number)

    assert (answer["status"], await desk.texts(OTHER_CHAT)) == ("failed", [])
    assert "No group is registered for the chat" in str(answer["error"])
    assert (await desk.texts(MAIN_CHAT))[-1].startswith(f"{number} could not be done")
    with pytest.raises(InvalidRequest):
        await confirm_proposal(desk.services, OPERATOR, number)


async def test_a_group_that_lost_its_place_by_then_may_no_longer(main: Asker, club: Asker) -> None:
    desk, number = main.desk, await proposed(main)
    await desk.run(lambda tx: tx.execute("UPDATE groups SET is_main = 0 WHERE folder = 'main'"))

    answer = await confirm_proposal(desk.services, OPERATOR, number)

    assert (answer["status"], await desk.texts(OTHER_CHAT)) == ("failed", [])


@pytest.mark.parametrize("is_replaced", [False, True], ids=["gone", "another chat in its place"])
async def test_a_group_that_is_gone_by_then_wishes_nothing_any_more(
    main: Asker, club: Asker, is_replaced: bool
) -> None:
    desk, number = main.desk, await proposed(main)
    await desk.run(lambda tx: groups.remove(tx, GroupFolder("main")))
    if is_replaced:
        await desk.run(lambda tx: add_group(tx, "main", Jid("console:other"), is_main=1))

    answer = await confirm_proposal(desk.services, OPERATOR, number)

    assert (answer["status"], await desk.texts(OTHER_CHAT)) == ("failed", [])
    assert "no longer registered" in str(answer["error"])


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("yes", "The operator agreed, and it is done: make a chat one of its groups."),
        ("no", "The operator said no to this: make a chat one of its groups."),
    ],
)
async def test_the_chat_whose_agent_asked_hears_what_came_of_it(
    family: Asker, main: Asker, word: str, said: str
) -> None:
    may_register(family.desk)
    number = await proposed(family, REGISTER)

    await family.desk.hear("w-1", f"/{word} {number}", chat_jid=MAIN_CHAT)

    assert await family.desk.texts(CHAT) == [said]


async def test_after_a_day_it_lapses_and_that_is_told_once(family: Asker, main: Asker) -> None:
    desk = family.desk
    may_register(desk)
    number = await proposed(family, REGISTER)
    early = await desk.run(lambda tx: expire_proposals(tx, desk.services, at=desk.later(24 * 3600 - 1)))

    late = [
        await desk.run(lambda tx: expire_proposals(tx, desk.services, at=desk.later(24 * 3600)))
        for _ in range(2)
    ]

    assert (early, late) == (0, [1, 0])
    assert await status(desk, number) == "expired"
    assert (await desk.texts(MAIN_CHAT))[1:] == [
        f"{number} has lapsed, since nobody answered within 24 hours (make a chat one of its groups)."
    ]
    assert len(await desk.texts(CHAT)) == 1


async def test_a_yes_that_comes_too_late_does_nothing_even_before_the_sweep(main: Asker, club: Asker) -> None:
    desk, number = main.desk, await proposed(main)
    desk.clock.advance(24 * 3600)

    await desk.hear("y-1", f"/yes {number}", chat_jid=MAIN_CHAT)

    assert (await status(desk, number), await desk.texts(OTHER_CHAT)) == ("expired", [])
    assert (await desk.texts(MAIN_CHAT))[-1] == f"Nothing with the number {number} waits for an answer."


async def test_a_decided_one_makes_room_for_another(main: Asker, club: Asker) -> None:
    numbers = [await proposed(main, SendMessage(chat_jid=OTHER_CHAT, text=f"{n}")) for n in range(3)]

    await decline_proposal(main.desk.services, OPERATOR, numbers[0])

    assert await proposed(main, SendMessage(chat_jid=OTHER_CHAT, text="more")) == numbers[-1] + 1


async def test_an_agent_cannot_decide_and_a_number_that_never_was_is_not_found(
    main: Asker, club: Asker
) -> None:
    number = await proposed(main)

    for decide in (confirm_proposal, decline_proposal):
        with pytest.raises(Forbidden):
            await decide(main.desk.services, main.caller, number)
        with pytest.raises(NotFound):
            await decide(main.desk.services, OPERATOR, 999)


async def test_what_waits_is_listed_before_what_is_decided(main: Asker, club: Asker) -> None:
    numbers = [await proposed(main, SendMessage(chat_jid=OTHER_CHAT, text=f"{n}")) for n in range(3)]
    await decline_proposal(main.desk.services, OPERATOR, numbers[2])

    found = await list_proposals(main.desk.services, count=100)

    assert [(each["number"], each["status"]) for each in found] == [
        (numbers[1], "open"),
        (numbers[0], "open"),
        (numbers[2], "declined"),
    ]


async def test_a_task_that_was_cancelled_meanwhile_stays_as_it_is(main: Asker, club: Asker) -> None:
    task_id = await club.schedule()
    number = await proposed(main, CancelTask(task_id=task_id))
    await club.ask(CancelTask(task_id=task_id))

    answer = await confirm_proposal(main.desk.services, OPERATOR, number)

    task = await main.desk.run(lambda tx: tasks.get(tx, task_id))
    assert task is not None
    assert (answer["status"], task.status) == ("confirmed", "cancelled")


@pytest.mark.parametrize(
    ("column", "value"), [("command", "send_telegram"), ("request", "{}"), ("request", "no JSON")]
)
async def test_what_an_upgrade_made_unreadable_fails_with_a_reason(
    main: Asker, club: Asker, column: str, value: str
) -> None:
    desk, number = main.desk, await proposed(main)
    await desk.run(lambda tx: tx.execute(f"UPDATE proposals SET {column} = ?", (value,)))

    answer = await confirm_proposal(desk.services, OPERATOR, number)

    assert (answer["status"], await desk.texts(OTHER_CHAT)) == ("failed", [])
    assert "another version" in str(answer["error"])
