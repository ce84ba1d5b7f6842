"""The built-in driver keeps time: what is asked for in a chat is said there when it is due, once."""

import re

import pytest

from tests.support.eventually import eventually
from tests.support.home_on_disk import HomeOnDisk
from tests.support.orchestrator_process import OrchestratorProcess

DUE = "⏰ water the plants"


async def a_group_with_the_builtin_driver(home: HomeOnDisk) -> None:
    home.set(agent__provider="builtin", tasks__min_interval_s=1)
    await home.add_group(timezone="Asia/Tokyo")


async def answer(home: HomeOnDisk, question: str) -> str:
    """What is said next after a person asks."""
    before = len(home.texts())
    home.ask(question)
    await eventually(lambda: len(home.texts()) > before, what=home.story)
    return home.texts()[before]


def statuses_of_runs(home: HomeOnDisk) -> list[str]:
    return [row["status"] for row in home.rows("SELECT status FROM task_runs ORDER BY claimed_ms")]


def statuses_of_tasks(home: HomeOnDisk) -> list[str]:
    return [row["status"] for row in home.rows("SELECT status FROM tasks ORDER BY created_ms")]


async def test_a_reminder_in_a_few_seconds_arrives_in_the_chat_once(home: HomeOnDisk) -> None:
    await a_group_with_the_builtin_driver(home)

    async with home.running():
        said = await answer(home, "remind me in 2 seconds to water the plants")
        await eventually(lambda: DUE in home.texts(), what=home.story)
        await eventually(lambda: statuses_of_tasks(home) == ["completed"], what=home.story)
        await home.quiet()

    assert re.fullmatch(
        r"Got it\. Reminder 1: \*\*water the plants\*\*, .* at \d\d:\d\d:\d\d \(Asia/Tokyo\)\.", said
    )
    assert home.texts() == [said, DUE]
    assert statuses_of_runs(home) == ["succeeded"]


async def test_a_reminder_that_falls_due_while_the_orchestrator_is_killed_arrives_once(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await a_group_with_the_builtin_driver(home)
    await orchestrator.start()
    said = await answer(home, "remind me in 10 minutes to water the plants")
    await home.quiet()
    await orchestrator.kill()

    await orchestrator.start(ahead_s=601)

    await eventually(lambda: statuses_of_tasks(home) == ["completed"], what=home.story)
    await home.quiet()
    assert home.texts() == [said, DUE]
    assert statuses_of_runs(home) == ["succeeded"]
    await orchestrator.stop()


async def test_a_reminder_that_is_still_to_come_when_the_orchestrator_is_killed_arrives_once(
    home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await a_group_with_the_builtin_driver(home)
    await orchestrator.start()
    said = await answer(home, "remind me in 8 seconds to water the plants")
    await home.quiet()
    await orchestrator.kill()

    await orchestrator.start()

    await eventually(lambda: statuses_of_tasks(home) == ["completed"], what=home.story)
    await home.quiet()
    assert home.texts() == [said, DUE]
    await orchestrator.stop()


@pytest.mark.parametrize(
    "point", ["batch.dispatched", "agent.started", "agent.ready", "pair.read", "outbox.committed"]
)
async def test_a_reminder_whose_run_is_killed_is_said_once(
    point: str, home: HomeOnDisk, orchestrator: OrchestratorProcess
) -> None:
    await a_group_with_the_builtin_driver(home)
    # The first is that of the question.
    await orchestrator.start(crash_at=point, nth=2)
    await answer(home, "remind me in 2 seconds to water the plants")
    await orchestrator.died()

    await orchestrator.start()

    await eventually(lambda: statuses_of_tasks(home) == ["completed"], what=home.story)
    await home.quiet()
    assert home.texts_once().count(DUE) == 1
    await orchestrator.stop()


async def test_a_reminder_comes_again_and_again_until_it_is_cancelled(home: HomeOnDisk) -> None:
    await a_group_with_the_builtin_driver(home)

    async with home.running():
        await answer(home, "every 2 seconds water the plants")
        await eventually(lambda: home.texts().count(DUE) >= 2, what=home.story)
        home.ask("cancel reminder 1")
        await eventually(lambda: statuses_of_tasks(home) == ["cancelled"], what=home.story)
        home.ask("list reminders")
        await eventually(lambda: "There are no reminders" in home.texts()[-1], what=home.story)
        await home.quiet()

    assert "Done, reminder 1 is cancelled: **water the plants**" in home.texts()


async def test_reminders_are_listed_paused_resumed_changed_and_cancelled_by_number_or_words(
    home: HomeOnDisk,
) -> None:
    await a_group_with_the_builtin_driver(home)

    async with home.running():
        assert "Reminder 1: **stand-up**, every weekday at 09:00, next" in await answer(
            home, "every weekday at 9 stand-up"
        )
        assert "Reminder 2: **dentist**, " in await answer(home, "at 2100-01-05 14:00 dentist")
        assert "Reminder 3: **drink water**, every 2 hours, next" in await answer(
            home, "remind me every 2 hours to drink water"
        )
        assert "Reminder 1: **stand-up**, every weekday at 09:00, paused" in await answer(
            home, "pause reminder 1"
        )
        listed = await answer(home, "list reminders")
        assert "Reminder 1: **stand-up**, every weekday at 09:00, paused" in listed
        assert "Reminder 2: **dentist**, Tuesday, 5 January 2100 at 14:00 (Asia/Tokyo)" in listed
        assert "It goes on. Reminder 1: **stand-up**" in await answer(home, "resume reminder stand-up")
        assert "Reminder 1: **stand-up**, every weekday at 10:30, next" in await answer(
            home, "change reminder 1 to 10:30"
        )
        assert "Changed. Reminder 2: **see Dr. No**, Tuesday, 5 January 2100 at 14:00" in await answer(
            home, "change reminder dentist to see Dr. No"
        )
        assert "reminder 2 is cancelled: **see Dr. No**" in await answer(home, "cancel reminder 2")
        assert "There is no reminder **2**." in await answer(home, "cancel reminder 2")
        assert "Reminder 4: **pay**" in await answer(home, "at 2100-01-06 14:00 pay")
        await home.quiet()

    tasks = home.rows("SELECT prompt, schedule_value, timezone, status FROM tasks ORDER BY created_ms")
    assert [(task["prompt"], task["status"]) for task in tasks] == [
        ("stand-up", "active"),
        ("see Dr. No", "cancelled"),
        ("drink water", "active"),
        ("pay", "active"),
    ]
    assert (tasks[0]["schedule_value"], tasks[0]["timezone"]) == ("30 10 * * 1-5", "Asia/Tokyo")


async def test_a_reminder_that_is_a_command_that_tells_something_is_answered(home: HomeOnDisk) -> None:
    await a_group_with_the_builtin_driver(home)

    async with home.running():
        await answer(home, "in 2 seconds echo good morning")
        await eventually(lambda: len(home.texts()) == 2, what=home.story)
        await home.quiet()

    assert home.texts()[1] == "good morning"


async def test_what_the_host_refuses_is_said_in_its_words(home: HomeOnDisk) -> None:
    home.set(agent__provider="builtin", tasks__max_per_group=1)
    await home.add_group()

    async with home.running():
        await answer(home, "every day at 9 pay")
        full = await answer(home, "every day at 10 pay")
        await answer(home, "cancel reminder 1")
        often = await answer(home, "every 5 seconds pay")

    assert full.startswith("Sorry, that did not work. Group 'kitchen' has 1 active tasks, which is the most")
    assert often.startswith("Sorry, that did not work. An interval of 5 s is too short: the shortest is")
