"""The seven requests about tasks: who may ask for what, and what they do. Source: contracts.md 4 and 7."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from orchestrator.commands.execute import execute_request
from orchestrator.commands.task_runs import claim_due
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, RequestId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import RunStatus, TaskRun, TaskStatus
from orchestrator.contracts.wire.codec import Wire
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    ListTasks,
    PauseTask,
    ResumeTask,
    RunTask,
    ScheduleTask,
    UpdateTask,
)
from orchestrator.settings.tree import Settings, TaskSettings
from orchestrator.store import agents, task_runs, tasks
from orchestrator.store.database import Transaction
from orchestrator.store.requests import RequestKey
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group, agent
from tests.support.task_rows import HOURLY_MS

CLUB: Final = GroupFolder("club")
NAMED: Final = (UpdateTask, PauseTask, ResumeTask, CancelTask, RunTask)


@dataclass
class Asker:
    """An agent that asks for things. Each request is a file of its own."""

    desk: Desk
    caller: AgentCaller
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def ask(self, request: Wire) -> Mapping[str, Any]:
        """What it is answered: the result, or {"code": …}."""
        number = next(self._numbers)
        key = RequestKey(
            box=self.caller.box,
            directory="tasks",
            name=f"{number}.json",
            inode=number,
            ctime_ns=number,
            sha256=number.to_bytes(32, "big"),
        )
        wanted = RequestId(f"r-{number}")
        reply = await execute_request(self.desk.services, self.caller, request, key=key, request_id=wanted)
        if reply.error is not None:
            assert reply.error.suggestion, "no way out given"
            return {"code": reply.error.code}
        assert isinstance(reply.result, Mapping)
        return reply.result

    async def schedule(self, **fields: Any) -> str:
        """Schedule something hourly; the task's id."""
        return str((await self.ask(hourly(**fields)))["id"])

    async def set_rights(self, rights: Rights) -> None:
        """From now on somebody with these rights has spoken to it too."""
        await self.desk.run(lambda tx: agents.set_rights(tx, self.caller.agent_id, rights))


def hourly(**fields: Any) -> ScheduleTask:
    plain: dict[str, Any] = {
        "prompt": "Water the plants",
        "schedule_type": "interval",
        "schedule_value": HOURLY_MS,
    }
    return ScheduleTask(**(plain | fields))


def asker(desk: Desk, folder: str, chat: Jid, *, is_main: bool = False) -> Asker:
    caller = AgentCaller(
        agent_id=AgentId(f"agent-{folder}"),
        box=BoxName(folder),
        group=GroupFolder(folder),
        chat_jid=chat,
        is_main=is_main,
    )
    return Asker(desk, caller)


async def remembered(found: Asker) -> Asker:
    """With a record, to which operators alone spoke."""
    caller = found.caller
    record = agent(caller.agent_id, box=caller.box, group=caller.group, chat_jid=caller.chat_jid)
    await found.desk.run(lambda tx: agents.add(tx, replace(record, is_main=caller.is_main)))
    return found


@pytest.fixture
async def family(desk: Desk) -> Asker:
    """The agent of an ordinary group."""
    return await remembered(asker(desk, "family", CHAT))


@pytest.fixture
async def club(desk: Desk) -> Asker:
    """The agent of another ordinary group."""
    await desk.run(lambda tx: add_group(tx, "club", OTHER_CHAT))
    return await remembered(asker(desk, "club", OTHER_CHAT))


@pytest.fixture
async def main(desk: Desk) -> Asker:
    """The agent of the main group."""
    chat = Jid("console:main")
    await desk.run(lambda tx: add_group(tx, "main", chat, is_main=1))
    return await remembered(asker(desk, "main", chat, is_main=True))


async def stored(desk: Desk, task_id: str) -> Any:
    return await desk.run(lambda tx: tasks.get(tx, task_id))


async def runs(desk: Desk, task_id: str) -> list[TaskRun]:
    async with desk.services.db.reader() as reader:
        return list(reversed(await task_runs.history(reader, task_id, count=100)))  # type: ignore[arg-type]


async def test_a_task_is_stored_for_the_callers_group_with_its_next_run(desk: Desk, family: Asker) -> None:
    view = await family.ask(hourly(title="Plants", context_mode="isolated", catch_up="skip", notify=False))

    task = await stored(desk, view["id"])
    assert (task.group, task.chat_jid, task.title, task.status) == ("family", CHAT, "Plants", "active")
    assert (task.context_mode, task.catch_up, task.notify) == ("isolated", "skip", False)
    assert task.next_run_at == desk.later(3600)
    assert task.rights is Rights.OPERATOR


async def test_d_d_what_was_just_scheduled_is_listed_and_what_was_just_cancelled_is_not(
    family: Asker,
) -> None:
    """Case D-d."""
    task_id = await family.schedule()
    shown = await family.ask(ListTasks())
    await family.ask(CancelTask(task_id=task_id))

    assert [each["id"] for each in shown["tasks"]] == [task_id]
    assert await family.ask(ListTasks()) == {"tasks": []}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        pytest.param({"group_folder": CLUB}, "FORBIDDEN", id="another group"),
        pytest.param({"group_folder": GroupFolder("nobody")}, "FORBIDDEN", id="no group"),
        pytest.param({"chat_jid": OTHER_CHAT}, "FORBIDDEN", id="another chat"),
        pytest.param({"chat_jid": Jid("nobody@g.us")}, "FORBIDDEN", id="no chat"),
        pytest.param({"chat_jid": CHAT}, None, id="own chat"),
        pytest.param({"group_folder": GroupFolder("family")}, None, id="own group"),
    ],
)
async def test_an_agent_schedules_for_its_own_group_only(
    family: Asker, club: Asker, fields: dict[str, Any], code: str | None
) -> None:
    assert (await family.ask(hourly(**fields))).get("code") == code
    assert (await club.ask(ListTasks())) == {"tasks": []}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"group_folder": CLUB}, id="by its folder"),
        pytest.param({"chat_jid": OTHER_CHAT}, id="by its chat, as agents of 1.x do"),
        pytest.param({"group_folder": CLUB, "chat_jid": OTHER_CHAT}, id="by both"),
    ],
)
async def test_main_schedules_for_any_group(main: Asker, club: Asker, fields: dict[str, Any]) -> None:
    task_id = await main.schedule(**fields)

    task = await stored(main.desk, task_id)
    assert (task.group, task.chat_jid) == (CLUB, OTHER_CHAT)
    assert [each["id"] for each in (await club.ask(ListTasks()))["tasks"]] == [task_id]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"group_folder": GroupFolder("nobody")}, "NOT_REGISTERED"),
        ({"chat_jid": Jid("nobody@g.us")}, "NOT_REGISTERED"),
        ({"group_folder": CLUB, "chat_jid": CHAT}, "INVALID_REQUEST"),
    ],
)
async def test_f15_a_task_speaks_in_its_own_groups_chat_and_no_other(
    main: Asker, club: Asker, fields: dict[str, Any], code: str
) -> None:
    """Case F15."""
    assert await main.ask(hourly(**fields)) == {"code": code}


@pytest.mark.parametrize("request_type", NAMED)
async def test_a_task_of_another_group_is_out_of_an_agents_reach(
    desk: Desk, family: Asker, club: Asker, request_type: Any
) -> None:
    task_id = await club.schedule()
    before = await stored(desk, task_id)

    plain = await family.ask(request_type(task_id=task_id))
    pretending = await family.ask(request_type(task_id=task_id, group_folder=GroupFolder("family")))
    naming = await family.ask(request_type(task_id=task_id, group_folder=CLUB))

    assert {plain["code"], pretending["code"], naming["code"]} == {"FORBIDDEN"}
    assert await stored(desk, task_id) == before
    assert await runs(desk, task_id) == []


@pytest.mark.parametrize("request_type", NAMED)
async def test_a_group_that_is_not_its_own_is_refused_even_with_its_own_task(
    desk: Desk, family: Asker, club: Asker, request_type: Any
) -> None:
    task_id = await family.schedule()

    assert await family.ask(request_type(task_id=task_id, group_folder=CLUB)) == {"code": "FORBIDDEN"}


@pytest.mark.parametrize("request_type", NAMED)
@pytest.mark.parametrize("folder", [None, CLUB, GroupFolder("main")])
async def test_main_reaches_tasks_of_every_group(
    main: Asker, club: Asker, request_type: Any, folder: GroupFolder | None
) -> None:
    task_id = await club.schedule()

    answer = await main.ask(request_type(task_id=task_id, group_folder=folder))

    assert answer.get("id", answer.get("taskId")) == task_id


@pytest.mark.parametrize("request_type", NAMED)
@pytest.mark.parametrize("folder", [None, CLUB, GroupFolder("main")])
@pytest.mark.parametrize("rights", [Rights.MEMBER, Rights.BOT])
async def test_main_reaches_no_foreign_task_when_others_than_operators_spoke_to_it(
    main: Asker, club: Asker, request_type: Any, folder: GroupFolder | None, rights: Rights
) -> None:
    foreign, own = await club.schedule(), await main.schedule()
    await main.set_rights(rights)

    assert await main.ask(request_type(task_id=foreign, group_folder=folder)) == {"code": "FORBIDDEN"}
    answer = await main.ask(request_type(task_id=own))
    assert answer.get("id", answer.get("taskId")) == own


async def test_main_sees_all_tasks_and_only_its_own_when_others_spoke_to_it(
    main: Asker, club: Asker, family: Asker
) -> None:
    foreign, own = await club.schedule(), await main.schedule()
    of_all = await main.ask(ListTasks())
    of_club = await main.ask(ListTasks(group_folder=CLUB))
    await main.set_rights(Rights.MEMBER)

    assert {each["id"] for each in of_all["tasks"]} == {own, foreign}
    assert [each["id"] for each in of_club["tasks"]] == [foreign]
    assert [each["id"] for each in (await main.ask(ListTasks()))["tasks"]] == [own]
    assert await main.ask(ListTasks(group_folder=CLUB)) == {"code": "FORBIDDEN"}
    assert await family.ask(ListTasks()) == {"tasks": []}
    assert await family.ask(ListTasks(group_folder=CLUB)) == {"code": "FORBIDDEN"}


async def test_a_task_keeps_the_rights_of_the_turn_that_made_or_last_changed_it(
    desk: Desk, family: Asker
) -> None:
    await family.set_rights(Rights.MEMBER)
    task_id = await family.schedule()
    made = (await stored(desk, task_id)).rights
    await family.set_rights(Rights.OPERATOR)
    await family.ask(PauseTask(task_id=task_id))
    await family.ask(ResumeTask(task_id=task_id))
    rested = (await stored(desk, task_id)).rights
    await family.ask(UpdateTask(task_id=task_id, prompt="Feed the cat"))
    changed = (await stored(desk, task_id)).rights
    await family.set_rights(Rights.BOT)
    await family.ask(UpdateTask(task_id=task_id, title="Cat"))

    assert (made, rested, changed) == (Rights.MEMBER, Rights.MEMBER, Rights.OPERATOR)
    assert (await stored(desk, task_id)).rights is Rights.BOT


async def test_a_group_has_so_many_tasks_and_no_more_until_one_is_cancelled(
    desk: Desk, family: Asker, club: Asker
) -> None:
    desk.set_settings(Settings(tasks=TaskSettings(max_per_group=3)))
    ids = [await family.schedule() for _ in range(3)]
    await family.ask(PauseTask(task_id=ids[0]))

    assert await family.ask(hourly()) == {"code": "LIMIT_EXCEEDED"}
    assert await club.schedule()
    await family.ask(CancelTask(task_id=ids[0]))
    assert await family.schedule()


def test_a_hundred_active_tasks_a_group_is_the_rule() -> None:
    assert Settings().tasks.max_per_group == 100


async def test_the_id_that_an_agent_of_1x_gave_its_task_names_it_in_its_own_group_only(
    desk: Desk, family: Asker, club: Asker, main: Asker
) -> None:
    mine = await family.schedule(task_id="task-17-abc")
    theirs = await club.schedule(task_id="task-17-abc")

    assert await family.ask(hourly(task_id="task-17-abc")) == {"code": "INVALID_REQUEST"}
    assert (await family.ask(PauseTask(task_id="task-17-abc")))["id"] == mine
    assert (await stored(desk, theirs)).status is TaskStatus.ACTIVE
    assert await main.ask(PauseTask(task_id="task-17-abc")) == {"code": "TASK_NOT_FOUND"}
    assert (await main.ask(PauseTask(task_id="task-17-abc", group_folder=CLUB)))["id"] == theirs


@pytest.mark.parametrize("name", ["", "../up", "a b", ".hidden", "x" * 129])
async def test_an_id_that_is_no_name_is_refused(family: Asker, name: str) -> None:
    assert await family.ask(hourly(task_id=name)) == {"code": "INVALID_REQUEST"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        pytest.param({"prompt": " \n"}, "INVALID_REQUEST", id="nothing to do"),
        pytest.param({"prompt": "x" * 32_001}, "INVALID_REQUEST", id="a prompt too long"),
        pytest.param({"schedule_type": "weekly"}, "INVALID_REQUEST", id="unknown kind"),
        pytest.param({"context_mode": "shared"}, "INVALID_REQUEST", id="unknown context"),
        pytest.param({"catch_up": "some"}, "INVALID_REQUEST", id="unknown catch-up"),
        pytest.param({"timezone": "Mars/Base"}, "INVALID_SCHEDULE", id="unknown zone"),
        pytest.param({"schedule_value": "-5"}, "INVALID_SCHEDULE", id="negative interval"),
        pytest.param({"schedule_value": "59999"}, "INVALID_SCHEDULE", id="below a minute"),
        pytest.param(
            {"schedule_type": "once", "schedule_value": "2026-02-30T10:00:00"},
            "INVALID_SCHEDULE",
            id="impossible date",
        ),
        pytest.param(
            {"schedule_type": "once", "schedule_value": "2025-12-31T23:58:59Z"},
            "INVALID_SCHEDULE",
            id="F8: past",
        ),
        pytest.param({"schedule_type": "cron", "schedule_value": "* * * *"}, "INVALID_SCHEDULE", id="cron"),
    ],
)
async def test_f8_what_cannot_be_done_is_refused_at_the_door_and_never_stored(
    family: Asker, fields: dict[str, Any], code: str
) -> None:
    """Case F8."""
    assert await family.ask(hourly(**fields)) == {"code": code}
    assert await family.ask(ListTasks()) == {"tasks": []}


@pytest.mark.parametrize(
    ("task_zone", "group_zone", "expected", "zone"),
    [
        pytest.param(None, None, datetime(2026, 1, 1, 9, tzinfo=UTC), "UTC", id="the host's"),
        pytest.param(
            None,
            "Pacific/Auckland",
            datetime(2026, 1, 1, 20, tzinfo=UTC),
            "Pacific/Auckland",
            id="F2: group's",
        ),
        pytest.param(
            "America/New_York",
            "Pacific/Auckland",
            datetime(2026, 1, 1, 14, tzinfo=UTC),
            "America/New_York",
            id="F3: its own",
        ),
    ],
)
async def test_f1_f2_f3_nine_in_the_morning_is_that_of_the_task_else_the_group_else_the_host(
    desk: Desk, task_zone: str | None, group_zone: str | None, expected: datetime, zone: str
) -> None:
    """Cases F1, F2, F3."""
    await desk.run(lambda tx: add_group(tx, "far", Jid("far@g.us"), timezone=group_zone))
    far = await remembered(asker(desk, "far", Jid("far@g.us")))

    view = await far.ask(hourly(schedule_type="cron", schedule_value="0 9 * * *", timezone=task_zone))

    assert datetime.fromisoformat(view["nextRun"]) == expected
    assert "T09:00:00" in view["nextRun"]
    assert view["timezone"] == zone


async def test_an_update_changes_what_is_given_and_keeps_the_rest(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule(title="Plants", notify=False)
    before = await stored(desk, task_id)
    desk.clock.advance(600)

    await family.ask(UpdateTask(task_id=task_id, prompt="Feed the cat"))

    assert await stored(desk, task_id) == replace(before, prompt="Feed the cat")


@pytest.mark.parametrize(
    "changes",
    [
        {"schedule_value": "7200000"},
        {"schedule_type": "cron", "schedule_value": "0 3 * * *"},
        {"timezone": "Asia/Tokyo"},
    ],
)
async def test_a_changed_schedule_or_zone_gives_a_new_next_run(
    desk: Desk, family: Asker, changes: dict[str, Any]
) -> None:
    task_id = await family.schedule()
    desk.clock.advance(600)
    before = (await stored(desk, task_id)).next_run_at

    await family.ask(UpdateTask(task_id=task_id, **changes))

    after = (await stored(desk, task_id)).next_run_at
    assert after is not None
    assert after != before
    assert after > desk.now


async def test_a_refused_update_changes_nothing(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule()
    before = await stored(desk, task_id)

    for changes in ({"prompt": ""}, {"schedule_value": "1"}, {"timezone": "Mars/Base"}, {"catch_up": "x"}):
        answer = await family.ask(UpdateTask(task_id=task_id, title="New", **changes))  # type: ignore[arg-type]
        assert answer["code"] in ("INVALID_REQUEST", "INVALID_SCHEDULE")

    assert await stored(desk, task_id) == before


async def test_what_was_due_while_a_task_rested_is_not_made_up_for(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule()
    await family.ask(PauseTask(task_id=task_id))
    desk.clock.advance(2.5 * 3600)
    await desk.run(lambda tx: claim_due(tx, desk.services, at=desk.now))

    view = await family.ask(ResumeTask(task_id=task_id))

    assert view["status"] == "active"
    assert (await stored(desk, task_id)).next_run_at == datetime(2026, 1, 1, 3, tzinfo=UTC)
    assert await runs(desk, task_id) == []


async def test_a_rested_task_whose_time_has_passed_needs_a_new_one(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule(schedule_type="once", schedule_value="2026-01-01T01:00:00Z")
    await family.ask(PauseTask(task_id=task_id))
    desk.clock.advance(2 * 3600)

    assert await family.ask(ResumeTask(task_id=task_id)) == {"code": "INVALID_REQUEST"}
    await family.ask(UpdateTask(task_id=task_id, schedule_value="2026-01-01T05:00:00Z"))
    assert (await family.ask(ResumeTask(task_id=task_id)))["nextRun"] == "2026-01-01T05:00:00+00:00"


async def test_pausing_and_resuming_twice_changes_nothing_more(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule()
    await family.ask(PauseTask(task_id=task_id))
    once_paused = await stored(desk, task_id)
    await family.ask(PauseTask(task_id=task_id))
    assert await stored(desk, task_id) == once_paused

    await family.ask(ResumeTask(task_id=task_id))
    once_resumed = await stored(desk, task_id)
    await family.ask(ResumeTask(task_id=task_id))
    assert await stored(desk, task_id) == once_resumed


async def test_what_is_cancelled_stays_so(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule()
    await family.ask(CancelTask(task_id=task_id))
    ended = await stored(desk, task_id)

    assert (await family.ask(CancelTask(task_id=task_id)))["status"] == "cancelled"
    assert (await family.ask(PauseTask(task_id=task_id)))["status"] == "cancelled"
    assert (await family.ask(ResumeTask(task_id=task_id)))["status"] == "cancelled"
    assert await family.ask(RunTask(task_id=task_id)) == {"code": "INVALID_REQUEST"}
    again = UpdateTask(task_id=task_id, schedule_value="7200000")
    assert await family.ask(again) == {"code": "INVALID_REQUEST"}
    assert await stored(desk, task_id) == ended
    assert ended.next_run_at is None


@pytest.mark.parametrize("is_paused", [False, True])
async def test_f4_a_run_asked_for_by_hand_moves_no_schedule(
    desk: Desk, family: Asker, *, is_paused: bool
) -> None:
    """Case F4."""
    task_id = await family.schedule()
    if is_paused:
        await family.ask(PauseTask(task_id=task_id))
    before = await stored(desk, task_id)

    asked = await family.ask(RunTask(task_id=task_id))
    again = await family.ask(RunTask(task_id=task_id))

    assert await stored(desk, task_id) == before
    (run,) = await runs(desk, task_id)
    assert (run.planned_at, run.status) == (None, RunStatus.CLAIMED)
    assert asked["runId"] == again["runId"] == run.run_id


async def test_a_run_by_hand_of_a_resting_task_does_not_hide_behind_a_slot_that_will_not_begin(
    desk: Desk, family: Asker
) -> None:
    task_id = await family.schedule()
    desk.clock.advance(3600)
    await desk.run(lambda tx: claim_due(tx, desk.services, at=desk.now))
    await family.ask(PauseTask(task_id=task_id))

    asked = await family.ask(RunTask(task_id=task_id))

    found = {run.run_id: (run.planned_at is None, run.status) for run in await runs(desk, task_id)}
    assert found.pop(asked["runId"]) == (True, RunStatus.CLAIMED)
    assert list(found.values()) == [(False, RunStatus.SKIPPED)]


@pytest.mark.parametrize("request_type", NAMED)
async def test_a_task_that_is_not_there_is_said_so(family: Asker, request_type: Any) -> None:
    assert await family.ask(request_type(task_id="task-none")) == {"code": "TASK_NOT_FOUND"}


async def test_one_task_with_an_unreadable_zone_hides_no_other_from_the_list(
    desk: Desk, family: Asker
) -> None:
    broken, whole = await family.schedule(), await family.schedule()
    await desk.run(lambda tx: _break_zone(tx, broken))

    shown = {each["id"]: each for each in (await family.ask(ListTasks()))["tasks"]}

    assert shown[broken]["nextRun"] == "2026-01-01T01:00:00+00:00"
    assert set(shown) == {broken, whole}
    assert (await family.ask(UpdateTask(task_id=broken, timezone="Europe/Berlin")))["id"] == broken


def _break_zone(tx: Transaction, task_id: str) -> None:
    tx.execute("UPDATE tasks SET timezone = 'Gone/Zone' WHERE task_id = ?", (task_id,))


async def test_titles_and_prompts_are_cleaned(desk: Desk, family: Asker) -> None:
    task_id = await family.schedule(prompt="Water\u202e the\x00 plants", title="Pla\nnts\x1b[31m")

    task = await stored(desk, task_id)
    assert task.prompt == "Water the plants"
    assert "\n" not in task.title
    assert "\x1b" not in task.title


async def test_a_once_task_up_to_a_minute_past_is_due_at_once(desk: Desk, family: Asker) -> None:
    soon = (desk.now - timedelta(seconds=50)).isoformat()
    task_id = await family.schedule(schedule_type="once", schedule_value=soon)

    await desk.run(lambda tx: claim_due(tx, desk.services, at=desk.now))

    assert [run.status for run in await runs(desk, task_id)] == [RunStatus.CLAIMED]
