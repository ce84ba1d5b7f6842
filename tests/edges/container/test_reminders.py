"""Reminders in a real agent runner, with a stand-in for the host's side of the box."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from container.box_client import BoxClient
from container.drivers.reminders import Reminders
from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.ids import GroupFolder
from tests.edges.container.agent_process import AgentProcess, Home, agent, eventually, given, message_xml

Answer = Callable[[Mapping[str, Any]], Mapping[str, object]]
TASK = {
    "id": "task-1",
    "title": "Reminder 7: pay",
    "prompt": "pay",
    "scheduleType": "cron",
    "scheduleValue": "0 9 * * 1-5",
    "status": "active",
    "nextRun": "2100-01-05T09:00:00+01:00",
}


def succeed(request: Mapping[str, Any]) -> Mapping[str, object]:
    """What the host says of a box with one task."""
    if request["type"] == "list_tasks":
        return {"ok": True, "result": {"tasks": [TASK]}}
    changes = {"prompt": request.get("prompt", "pay"), "scheduleType": request.get("scheduleType", "cron")}
    changes["scheduleValue"] = request.get("scheduleValue", "0 9 * * 1-5")
    return {"ok": True, "result": TASK | changes}


def refuse(request: Mapping[str, Any]) -> Mapping[str, object]:
    """It lists, and takes nothing."""
    if request["type"] == "list_tasks":
        return succeed(request)
    error = {"code": "LIMIT_EXCEEDED", "message": "That is enough.", "suggestion": "Call list_tasks."}
    return {"ok": False, "error": error}


@asynccontextmanager
async def host(home: Home, answer: Answer) -> AsyncIterator[list[Mapping[str, Any]]]:
    """Answers every request in `tasks/`; gives those it took, in order."""
    taken: list[Mapping[str, Any]] = []

    async def serve() -> None:
        while True:
            for path in home.requests("tasks"):
                request = json.loads(path.read_text())
                path.unlink()
                taken.append(request)
                reply = home.box / "replies" / f"{request['requestId']}.json"
                temporary = reply.with_suffix(".tmp")
                temporary.write_text(json.dumps({"requestId": request["requestId"], **answer(request)}))
                temporary.rename(reply)
            await asyncio.sleep(0.01)  # no event of ours tells of a file

    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(serve(), name="host")
        yield taken
        serving.cancel()


async def said(running: AgentProcess) -> str:
    """The one answer of the first turn."""
    await running.until_ended(1)
    [text] = running.texts
    return text


async def test_a_reminder_is_asked_for_with_its_number_its_zone_and_its_schedule(home: Home) -> None:
    async with host(home, succeed) as requests, agent(home) as running:
        await running.give(given("every weekday at 9 stand-up", driver="builtin", is_main=True))
        answer = await said(running)

    assert answer == (
        "Got it. Reminder 8: **stand-up**, every weekday at 09:00, next Tuesday, 5 January 2100 at 09:00 "
        "(Europe/Berlin)."
    )
    assert [request["type"] for request in requests] == ["list_tasks", "schedule_task"]
    assert requests[0]["groupFolder"] == "family"
    wanted = {"scheduleType": "cron", "scheduleValue": "0 9 * * 1-5", "timezone": "Europe/Berlin"}
    assert wanted.items() <= requests[1].items()
    assert (requests[1]["prompt"], requests[1]["title"]) == ("stand-up", "Reminder 8: stand-up")


async def test_a_changed_text_keeps_its_schedule_and_its_number(home: Home) -> None:
    async with host(home, succeed) as requests, agent(home) as running:
        await running.give(given("change reminder 7 to pay Ada", driver="builtin", is_main=True))
        answer = await said(running)

    assert answer.startswith("Changed. Reminder 7: **pay Ada**, every weekday at 09:00")
    assert (requests[1]["taskId"], requests[1]["title"]) == ("task-1", "Reminder 7: pay Ada")
    assert "scheduleValue" not in requests[1]


async def test_a_refusal_is_said_without_words_for_models(home: Home) -> None:
    async with host(home, refuse), agent(home) as running:
        await running.give(given("in 10 minutes pay", driver="builtin", is_main=True))

        assert await said(running) == "Sorry, that did not work. That is enough."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("remind me to pay", "When? For example: `remind me in 10 minutes to pay`"),
        ("remind me in 10 minutes", "What shall I remind you of?"),
        ("remind me tomorrow to pay", "At what time of that day?"),
        ("at 2020-01-05 14:00 pay", "2020-01-05 14:00 is past"),
        ("change reminder 7", "What shall it become?"),
        ("help", "`list reminders`"),
    ],
)
async def test_what_is_not_clear_is_asked_back_and_the_host_is_not_troubled(
    home: Home, text: str, answer: str
) -> None:
    async with agent(home) as running:
        await running.give(given(text, driver="builtin", is_main=True))

        assert answer in await said(running)

    assert home.requests("tasks") == []


async def test_the_time_that_was_asked_for_is_told_in_the_next_message(home: Home) -> None:
    async with host(home, succeed) as taken, agent(home) as running:
        await running.give(given("remind me every weekday to water", driver="builtin", is_main=True))
        await running.until_ended(1)
        home.drop("1-a.json", {"type": "message", "text": message_xml("at 9:30")})
        await running.until_ended(2)

    asked, done = running.texts
    assert asked.startswith("At what time every weekday?")
    assert done.startswith("Got it. ")
    [wish] = [each for each in taken if each["type"] == "schedule_task"]
    assert (wish["prompt"], wish["scheduleType"], wish["scheduleValue"]) == ("water", "cron", "30 9 * * 1-5")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("water the plants", "⏰ water the plants"),
        ("remember to pay", "⏰ remember to pay"),
        ("remind me in 5 minutes to pay", "⏰ remind me in 5 minutes to pay"),
        ("help", "⏰ help"),
        ("echo hello", "hello"),
    ],
)
async def test_a_run_says_its_text_and_answers_only_what_tells(home: Home, text: str, answer: str) -> None:
    async with agent(home) as running:
        await running.give(replace(given(text, driver="builtin", triggers=["m1"]), is_task=True))

        assert await said(running) == answer

    assert home.requests("tasks") == []
    assert not (home.workspace / "MEMORY.md").exists()


async def test_what_an_older_host_sends_behind_a_run_is_chat_again(home: Home) -> None:
    older = {
        "prompt": "water the plants",
        "groupFolder": "family",
        "chatJid": "1@g.us",
        "assistantName": "Assistant",
        "isScheduledTask": True,
    }

    async with agent(home) as running:
        await running.give(json.dumps(older).encode() + b"\n")
        await running.until_ended(1)
        home.drop("1-a.json", {"type": "message", "text": message_xml("@Assistant echo two")})
        await running.until_ended(2)

        assert running.texts == ["⏰ water the plants", "two"]


async def test_a_host_that_does_not_answer_leaves_the_outcome_open(home: Home) -> None:
    reminders = Reminders(
        BoxClient(home.box), GroupFolder("family"), timezone="Europe/Berlin", patience_s=0.05
    )

    with pytest.raises(Unavailable, match="can't tell what came of it") as caught:
        await reminders.all()

    assert caught.value.code is ErrorCode.TIMEOUT
    await eventually(lambda: len(home.requests("tasks")) == 1)
