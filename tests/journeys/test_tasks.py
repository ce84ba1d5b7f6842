"""Tasks in the whole process: asked for through a box, run by real agents, beside and between chats.

Source: contracts.md sections 4 and 7.
"""

import itertools
import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from orchestrator.commands.operator_requests import ask_as_operator
from orchestrator.contracts.records.tasks import ContextMode, TaskStatus
from orchestrator.contracts.wire.task_requests import CancelTask
from orchestrator.core.sentence_keys import Say
from orchestrator.core.wording import say
from tests.support.eventually import eventually
from tests.support.home_on_disk import MEMBER, HomeOnDisk
from tests.support.planned import due_now, hourly_from_now, plan, plan_in, run_statuses, runs_are
from tests.support.shifted_clock import ShiftedClock

WET: Final = "The plants are wet."
ECHO_OF_ONE: Final = "re: @Assistant one"
WATER: Final = {"match": "water", "steps": [{"say": WET}]}
WAITS: Final = {"match": "wait", "steps": [{"wait_for_file": "go"}, {"say": "waited"}]}
PLAYS: Final[Mapping[str, object]] = {"rules": [WAITS, WATER], "default": [{"say": "re: {texts}"}]}


def request(**body: object) -> dict[str, object]:
    return {"request": {"directory": "tasks", "body": body}}


def one(home: HomeOnDisk, query: str) -> dict[str, Any]:
    (row,) = home.rows(query)
    return row


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            {"scheduleType": "interval", "scheduleValue": "3600000", "contextMode": "isolated"}, id="ours"
        ),
        pytest.param(
            {
                "schedule_type": "interval",
                "schedule_value": "3600000",
                "context_mode": "isolated",
                "targetJid": "file:kitchen",
                "taskId": "task-17-abc",
                "createdBy": "kitchen",
                "timestamp": "2026-01-01T00:00:00.000Z",
            },
            id="NanoClaw 1.x",
        ),
    ],
)
async def test_a_task_is_asked_for_through_the_box_in_both_spellings(
    home: HomeOnDisk, body: dict[str, object]
) -> None:
    await home.add_group()
    asked = request(type="schedule_task", prompt="water", requestId="r-1", **body)
    home.play({"turns": [[asked, {"say": "planned"}]], "rules": [WATER]})

    async with home.running():
        home.ask("one")
        await home.said("planned")
        await eventually(lambda: home.rows("SELECT 1 FROM tasks"), what=home.story)

    found = one(home, "SELECT folder, chat_jid, prompt, kind, schedule_value, context_mode, alias FROM tasks")
    assert found.pop("alias") == body.get("taskId")
    assert list(found.values()) == ["kitchen", "file:kitchen", "water", "interval", "3600000", "isolated"]


async def test_an_agent_pauses_changes_resumes_runs_and_cancels_its_task_through_its_box(
    home: HomeOnDisk,
) -> None:
    await home.add_group()
    await plan(home, hourly_from_now(next_run_at=None))
    steps = [
        request(type=kind, taskId="task-1", groupFolder="kitchen", requestId=kind, **more)
        for kind, more in (
            ("pause_task", {}),
            ("update_task", {"title": "Plants", "schedule_value": "7200000"}),
            ("resume_task", {}),
            ("run_task", {}),
            ("list_tasks", {}),
            ("cancel_task", {}),
        )
    ]
    home.play({"turns": [[*steps, {"say": "done"}]], "rules": [WATER]})

    async with home.running():
        home.ask("one")
        await home.said("done")
        await eventually(lambda: len(home.rows("SELECT 1 FROM requests")) == 6, what=home.story)
        replies = home.rows("SELECT request_id, reply FROM requests ORDER BY rowid")

    answers = {row["request_id"]: json.loads(row["reply"]) for row in replies}
    assert all(answer["ok"] for answer in answers.values()), answers
    assert answers["update_task"]["result"]["scheduleValue"] == "7200000"
    assert [each["title"] for each in answers["list_tasks"]["result"]["tasks"]] == ["Plants"]
    assert one(home, "SELECT status FROM tasks") == {"status": "cancelled"}


@pytest.mark.parametrize("mode", ContextMode)
async def test_a_due_task_runs_and_speaks_in_its_groups_chat_and_in_no_other(
    home: HomeOnDisk, mode: ContextMode
) -> None:
    """Case F15."""
    await home.add_group()
    await home.add_group("cellar")
    home.play(PLAYS)

    async with home.running() as app:
        home.ask("one", chat="file:cellar")
        await home.quiet()
        others = home.texts("file:cellar")
        await plan_in(app, hourly_from_now(context_mode=mode))
        await home.said(WET)
        await runs_are(home, "succeeded")

    assert home.texts("file:cellar") == others
    run = one(home, "SELECT output, failure, error FROM task_runs")
    assert run == {"output": WET, "failure": None, "error": None}


async def test_e7_the_agent_of_a_task_is_gone_soon_after_its_turn_though_it_said_nothing(
    home: HomeOnDisk,
) -> None:
    """Case E7."""
    await home.add_group()
    home.play({"default": [{"send_message": WET}]})
    await plan(home, due_now())

    async with home.running():
        await runs_are(home, "succeeded")
        # An agent of a chat would be idle for ten minutes.
        await eventually(
            lambda: home.rows("SELECT 1 FROM agents WHERE end_reason = 'exited'"),
            within_s=40,
            what=home.story,
        )

    assert home.texts() == [WET]


async def test_a_group_task_sends_an_idle_agent_home_and_waits_for_a_busy_one(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(PLAYS)

    async with home.running() as app:
        home.ask("one")
        await home.said(ECHO_OF_ONE)
        await home.quiet()
        await plan_in(app, due_now("after-idle"))
        await runs_are(home, "succeeded", name="after-idle")
        home.ask("wait")
        busy = "SELECT 1 FROM turns WHERE ended_ms IS NULL"
        await eventually(lambda: home.rows(busy), what=home.story)
        await plan_in(app, due_now("after-busy"))
        await runs_are(home, "claimed", name="after-busy")
        (home.workspace() / "go").touch()
        await runs_are(home, "succeeded", name="after-busy")
        await home.said(ECHO_OF_ONE, WET, "waited", WET)

    spans = home.rows("SELECT started_ms, ended_ms FROM agents ORDER BY started_ms")
    assert len(spans) == 4
    assert all(first["ended_ms"] <= then["started_ms"] for first, then in itertools.pairwise(spans))


async def test_an_isolated_task_runs_beside_a_busy_chat(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(PLAYS)

    async with home.running() as app:
        home.ask("wait")
        await eventually(lambda: home.rows("SELECT 1 FROM turns WHERE ended_ms IS NULL"), what=home.story)
        await plan_in(app, due_now(context_mode=ContextMode.ISOLATED))
        await home.said(WET)
        (home.workspace() / "go").touch()
        await home.said(WET, "waited")


async def test_a_task_is_not_starved_by_a_chat_that_never_stops(home: HomeOnDisk) -> None:
    clock = ShiftedClock()
    await home.add_group()
    home.play(PLAYS)

    async with home.running(clock=clock) as app:
        home.ask("wait")
        await eventually(lambda: home.rows("SELECT 1 FROM turns WHERE ended_ms IS NULL"), what=home.story)
        await plan_in(app, due_now())
        await runs_are(home, "claimed")
        clock.advance(61)
        later = home.ask("two")
        await eventually(lambda: later in home.statuses(), what=home.story)
        (home.workspace() / "go").touch()
        await home.said("waited", WET, "re: @Assistant two")


async def test_a_task_with_notify_off_is_silent_and_its_output_is_kept(home: HomeOnDisk) -> None:
    await home.add_group()
    home.play(PLAYS)
    await plan(home, due_now(notify=False))

    async with home.running():
        await runs_are(home, "succeeded")
        await home.quiet()

    assert home.texts() == []
    assert one(home, "SELECT output FROM task_runs") == {"output": WET}


async def test_a_task_that_takes_too_long_is_stopped_and_told(home: HomeOnDisk) -> None:
    home.set(tasks__timeout_s=1)
    await home.add_group()
    home.play({"default": [{"wait_for_file": "never"}]})
    await plan(home, due_now())

    async with home.running():
        await runs_are(home, "timed_out")
        await home.said(say(Say.TASK_FAILED, "en", title="Water the plants"))


@pytest.mark.parametrize("way", ["cancelled", "stopped"])
async def test_f13_a_run_that_an_operator_does_not_want_any_more_is_stopped(
    home: HomeOnDisk, way: str
) -> None:
    """Case F13: by `cancel`, or by `/stop` in the chat."""
    home.set(assistant__operators=[MEMBER])
    await home.add_group()
    home.play({"default": [{"wait_for_file": "never"}]})

    async with home.running() as app:
        await plan_in(app, hourly_from_now(context_mode=ContextMode.ISOLATED))
        await eventually(lambda: home.rows("SELECT 1 FROM turns WHERE ended_ms IS NULL"), what=home.story)
        if way == "cancelled":
            await ask_as_operator(app.services, CancelTask(task_id="task-1"))
        else:
            home.say("/stop")
        await runs_are(home, "stopped")
        await eventually(lambda: not home.rows("SELECT 1 FROM agents WHERE ended_ms IS NULL"))
        await home.quiet()

    assert home.texts() == ([] if way == "cancelled" else [say(Say.STOPPED, "en")])
    assert one(home, "SELECT failures FROM tasks") == {"failures": 0}


async def test_f13_a_member_stops_what_answers_him_and_no_task(home: HomeOnDisk) -> None:
    """Case F13: a task is none of a member's own."""
    await home.add_group()
    home.play({"default": [{"wait_for_file": "go"}, {"say": WET}]})

    async with home.running() as app:
        await plan_in(app, hourly_from_now(context_mode=ContextMode.ISOLATED))
        await eventually(lambda: home.rows("SELECT 1 FROM turns WHERE ended_ms IS NULL"), what=home.story)
        home.say("/stop")
        await home.said(say(Say.NOTHING_TO_STOP, "en"))
        (home.workspace() / "go").touch()
        await runs_are(home, "succeeded")


async def test_f12_a_provider_without_room_is_waited_for_and_the_run_does_not_fail(home: HomeOnDisk) -> None:
    """Case F12."""
    clock = ShiftedClock()
    await home.add_group()
    full = {"match": "water", "times": 1, "steps": [{"fail": "PROVIDER_RATE_LIMITED"}]}
    home.play({"rules": [full, WATER]})
    await plan(home, due_now())

    async with home.running(clock=clock):
        await eventually(
            lambda: home.rows("SELECT 1 FROM task_runs WHERE status = 'claimed' AND failure = 'provider'"),
            what=home.story,
        )
        clock.advance(300)
        await runs_are(home, "succeeded")
        await home.said(say(Say.PROVIDER_TROUBLE, "en"), WET, say(Say.PROVIDER_BACK, "en"))


async def test_a_run_asked_for_by_hand_leaves_the_schedule_where_it_is(home: HomeOnDisk) -> None:
    """Case F4."""
    await home.add_group()
    asked = request(type="run_task", taskId="task-1", requestId="r-1")
    home.play({"rules": [{"match": "one", "steps": [asked, {"say": "asked"}]}, WATER]})
    resting = hourly_from_now(status=TaskStatus.PAUSED)
    await plan(home, resting)
    before = one(home, "SELECT next_run_ms, status FROM tasks")

    async with home.running():
        home.ask("one")
        await home.said("asked", WET)
        await runs_are(home, "succeeded")

    assert one(home, "SELECT next_run_ms, status FROM tasks") == before


async def test_f1_the_agent_of_a_task_lives_in_the_groups_timezone(home: HomeOnDisk) -> None:
    """Case F1."""
    await home.add_group(timezone="Pacific/Auckland")
    home.play({"default": [{"run": ["sh", "-c", "printenv TZ > tz"]}, {"say": "{text}"}]})
    await plan(home, due_now())

    async with home.running():
        await runs_are(home, "succeeded")

    assert (home.workspace() / "tz").read_text().strip() == "Pacific/Auckland"


async def test_b4_a_task_longer_than_its_interval_has_one_run_at_a_time(home: HomeOnDisk) -> None:
    """Case B4."""
    clock = ShiftedClock()
    await home.add_group()
    home.play({"rules": [{"match": "water", "times": 1, "steps": [{"wait_for_file": "go"}]}, WATER]})
    home.set(agent__container_timeout_s=86_400, agent__turn_limit_s=86_400)
    await plan(home, hourly_from_now(context_mode=ContextMode.ISOLATED))

    async with home.running(clock=clock) as app:
        await eventually(lambda: home.rows("SELECT 1 FROM turns WHERE ended_ms IS NULL"), what=home.story)
        clock.advance(3600)
        await plan_in(app)
        await runs_are(home, "started", "skipped")
        (home.workspace() / "go").touch()
        await runs_are(home, "succeeded", "skipped")

    assert run_statuses(home) == ["succeeded", "skipped"]
