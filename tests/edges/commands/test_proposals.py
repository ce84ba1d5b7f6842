"""Wishes that an operator has to confirm: shown whole, at most three. Source: contracts.md section 4."""

from collections.abc import Mapping
from typing import Any

import pytest

from orchestrator.commands.execute import execute_request
from orchestrator.contracts.ids import BoxName, GroupFolder, Jid, RequestId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    ListTasks,
    PauseTask,
    ResumeTask,
    UpdateTask,
)
from orchestrator.core.english import ENGLISH
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wish_text import MAX_WISH_CHARS
from orchestrator.settings.tree import AlertSettings, Settings
from orchestrator.store import groups
from orchestrator.store.requests import RequestKey
from tests.edges.commands.conftest import Desk
from tests.edges.commands.task_askers import CLUB, Asker, hourly, stored
from tests.edges.commands.task_askers import club as club
from tests.edges.commands.task_askers import main as main
from tests.support.store_rows import OTHER_CHAT

MAIN_CHAT = Jid("console:main")


def message(text: str = "hello", **fields: Any) -> SendMessage:
    """A message to the club's chat."""
    return SendMessage(chat_jid=OTHER_CHAT, text=text, **fields)


async def open_numbers(desk: Desk) -> list[int]:
    """What waits for an operator."""
    rows = await desk.run(lambda tx: tx.all("SELECT number FROM proposals WHERE status = 'open'"))
    return [row["number"] for row in rows]


async def alerts_waiting(desk: Desk) -> list[str]:
    """What the operators' own command is to be told."""
    return [row["text"] for row in await desk.run(lambda tx: tx.all("SELECT text FROM alerts ORDER BY id"))]


def in_box(number: int, *, inode: int = 1) -> RequestKey:
    """The key of one request file."""
    return RequestKey(
        box=BoxName("main"),
        directory="messages",
        name=f"{number}.json",
        inode=inode,
        ctime_ns=number,
        sha256=number.to_bytes(32, "big"),
    )


async def test_h1_h9_a_message_to_another_chat_waits_and_is_asked_about_in_the_main_chat(
    main: Asker, club: Asker
) -> None:
    await main.set_rights(Rights.MEMBER)

    refused = await main.refused(message("See you\nat noon."))

    number = (refused.details or {})["number"]
    question = (await main.desk.texts(MAIN_CHAT))[-1]
    assert (refused.code, await open_numbers(main.desk)) == ("CONFIRMATION_NEEDED", [number])
    assert await main.desk.texts(OTHER_CHAT) == []
    assert question.startswith(f"{number}: the assistant of “Main” wants to send a message to another chat.")
    assert f"/yes {number} or /no {number}" in question
    for line in (f"> chat: {OTHER_CHAT}", "> text: See you", ">   at noon.", "> that is: Club (club,"):
        assert line in question


async def test_every_field_of_a_task_is_shown(main: Asker, club: Asker) -> None:
    await main.set_rights(Rights.BOT)
    wish = hourly(
        group_folder=CLUB,
        prompt="Buy\nnothing",
        title="Quiet",
        timezone="Asia/Tokyo",
        catch_up="all",
        notify=False,
        context_mode="isolated",
    )

    await main.refused(wish)

    question = (await main.desk.texts(MAIN_CHAT))[-1]
    shown = (
        "Buy",
        "nothing",
        "Quiet",
        "Asia/Tokyo",
        "all",
        "no",
        "isolated",
        "interval",
        wish.schedule_value,
    )
    assert [each for each in shown if each not in question] == []


async def test_a_task_is_named_as_people_know_it(main: Asker, club: Asker) -> None:
    task_id = await club.schedule(prompt="Water the roses", title="Roses")
    await main.set_rights(Rights.MEMBER)

    await main.refused(CancelTask(task_id=task_id))

    question = (await main.desk.texts(MAIN_CHAT))[-1]
    assert "> the task is: Roses (club)" in question
    assert "> it says now: Water the roses" in question
    assert (await stored(main.desk, task_id)).status == "active"


async def test_the_same_file_met_again_is_the_same_question(main: Asker, club: Asker) -> None:
    await main.set_rights(Rights.MEMBER)
    services, wanted = main.desk.services, RequestId("r-1")

    for key in (in_box(7), in_box(7), in_box(7, inode=2)):
        reply = await execute_request(services, main.caller, message(), key=key, request_id=wanted)
        assert reply.error is not None
        assert reply.error.details == {"number": 1}

    assert await open_numbers(main.desk) == [1]
    assert len(await main.desk.texts(MAIN_CHAT)) == 1


async def test_the_same_wish_again_is_the_same_question(main: Asker, club: Asker) -> None:
    await main.set_rights(Rights.MEMBER)

    answers = [await main.refused(message(timestamp=at)) for at in ("2026-01-01", "2026-01-02", None)]

    assert [each.details for each in answers] == [{"number": 1}] * 3
    assert len(await main.desk.texts(MAIN_CHAT)) == 1


async def test_a_group_has_no_more_than_three_that_wait(main: Asker, club: Asker) -> None:
    await main.set_rights(Rights.MEMBER)

    codes = [(await main.refused(message(f"text {number}"))).code for number in range(4)]

    assert codes == ["CONFIRMATION_NEEDED"] * 3 + ["LIMIT_EXCEEDED"]
    assert len(await open_numbers(main.desk)) == 3


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        pytest.param(message(" "), "INVALID_REQUEST", id="an empty text"),
        pytest.param(hourly(group_folder=CLUB, schedule_value="5"), "INVALID_SCHEDULE", id="a bad schedule"),
        pytest.param(message("x" * MAX_WISH_CHARS), "LIMIT_EXCEEDED", id="more than one reads"),
        pytest.param(message(attachments=("a.pdf",)), "FORBIDDEN", id="a file that can't be shown"),
        pytest.param(SendMessage(chat_jid=Jid("9@g.us"), text="hi"), "NOT_REGISTERED", id="no such chat"),
    ],
)
async def test_nobody_is_asked_about_what_could_not_be_done_or_shown(
    main: Asker, club: Asker, wish: Any, code: str
) -> None:
    await main.set_rights(Rights.MEMBER)

    assert await main.ask(wish) == {"code": code}

    assert await open_numbers(main.desk) == []
    assert await main.desk.texts(MAIN_CHAT) == []


async def test_asking_does_nothing_of_what_is_asked(main: Asker, club: Asker) -> None:
    await main.set_rights(Rights.MEMBER)

    await main.refused(hourly(group_folder=CLUB))

    assert (await club.ask(ListTasks()))["tasks"] == []


async def test_a_text_cannot_look_like_a_question_of_ours(main: Asker, club: Asker) -> None:
    await main.set_rights(Rights.MEMBER)
    forged = "x" * 5_000 + "\n2: the assistant of “Main” wants to rest.\x1b[2K\u202e Write /yes 2"

    await main.refused(message(forged))

    first, *others = "\n".join(await main.desk.texts(MAIN_CHAT)).split("\n")
    assert first.startswith("1: the assistant of “Main” wants")
    assert [line for line in others if not line.startswith(">")] == []
    assert max(map(len, others)) < 220
    assert not {"\x1b", "\u202e"} & set("".join(others))


@pytest.mark.parametrize(
    ("is_watched", "has_main", "is_alerted"),
    [(True, True, False), (False, True, True), (True, False, True)],
    ids=["watched", "not watched", "no main group"],
)
async def test_when_nobody_watches_the_main_chat_the_operators_own_command_is_told(
    main: Asker, club: Asker, is_watched: bool, has_main: bool, is_alerted: bool
) -> None:
    desk = main.desk
    wanted = AlertSettings(command=("/bin/true",), main_is_watched=is_watched)
    desk.set_settings(Settings(alerts=wanted))
    await main.set_rights(Rights.MEMBER)
    if not has_main:
        await desk.run(lambda tx: groups.remove(tx, GroupFolder("main")))

    await main.refused(message())

    told = await alerts_waiting(desk)
    assert len(told) == int(is_alerted)
    assert all("dovecote proposal confirm 1" in text and "> text: hello" in text for text in told)
    assert len(await desk.texts(MAIN_CHAT)) == int(has_main)


async def test_without_a_main_group_and_a_command_it_still_waits(main: Asker, club: Asker) -> None:
    await main.set_rights(Rights.MEMBER)
    await main.desk.run(lambda tx: groups.remove(tx, GroupFolder("main")))

    assert (await main.refused(message())).details == {"number": 1}
    assert await alerts_waiting(main.desk) == []


async def test_an_operators_own_wish_is_done_at_once(main: Asker, club: Asker) -> None:
    answer: Mapping[str, Any] = await main.ask(message())

    assert answer == {"status": "queued"}
    assert await main.desk.texts(OTHER_CHAT) == ["hello"]
    assert await open_numbers(main.desk) == []


async def test_the_status_of_the_main_chat_names_what_waits_for_an_operators_word(
    main: Asker, club: Asker
) -> None:
    desk = main.desk
    await main.set_rights(Rights.MEMBER)
    number = ((await main.refused(message())).details or {})["number"]
    line = ENGLISH[Say.STATUS_PROPOSAL].format(number=number)

    await desk.hear("s-1", "/status", chat_jid=MAIN_CHAT)
    await desk.hear("n-1", f"/no {number}", chat_jid=MAIN_CHAT)
    await desk.hear("s-2", "/status", chat_jid=MAIN_CHAT)

    shown = [line in text.splitlines() for text in await desk.texts(MAIN_CHAT)]
    assert (shown.count(True), shown[-1]) == (1, False)


async def test_what_an_operator_said_no_to_is_not_asked_again_for_a_day(main: Asker, club: Asker) -> None:
    desk = main.desk
    await main.set_rights(Rights.MEMBER)
    first = await main.refused(message())
    number = (first.details or {})["number"]
    await desk.hear("n-1", f"/no {number}", chat_jid=MAIN_CHAT)

    again = await main.refused(message())
    open_then = await open_numbers(desk)
    other = await main.refused(message("something else"))
    desk.clock.advance(24 * 3600 + 1)
    later = await main.refused(message())

    assert (again.code, open_then) == ("FORBIDDEN", [])
    assert f"said no to this, as number {number}" in again.message
    assert (other.code, later.code) == ("CONFIRMATION_NEEDED", "CONFIRMATION_NEEDED")


async def test_a_task_that_says_something_else_than_what_was_shown_is_not_touched(
    main: Asker, club: Asker
) -> None:
    desk, task_id = main.desk, await club.schedule()
    await club.ask(PauseTask(task_id=task_id))
    await main.set_rights(Rights.MEMBER)
    refused = await main.refused(ResumeTask(task_id=task_id))
    number = (refused.details or {})["number"]
    await club.ask(UpdateTask(task_id=task_id, prompt="Sell the plants"))

    await desk.hear("y-1", f"/yes {number}", chat_jid=MAIN_CHAT)

    assert (await stored(desk, task_id)).status == "paused"
    assert (await desk.texts(MAIN_CHAT))[-1] == (
        f"{number} could not be done (resume a task of another group). "
        "What it touches has changed since you were asked."
    )


async def test_what_a_wish_hides_from_the_eye_is_shown(main: Asker, club: Asker) -> None:
    await main.set_rights(Rights.MEMBER)

    await main.refused(message("Good\u200b morning\U000e0021"))

    assert "> text: Good[U+200B] morning[U+E0021]" in (await main.desk.texts(MAIN_CHAT))[0]


async def test_the_question_about_a_wish_holds_the_words_of_its_agent(main: Asker, club: Asker) -> None:
    await main.set_rights(Rights.MEMBER)

    await main.refused(message())

    rows = await main.desk.run(
        lambda tx: tx.all("SELECT agent_id FROM outbox WHERE chat_jid = ?", (MAIN_CHAT,))
    )
    assert [row["agent_id"] for row in rows] == [main.caller.agent_id]
