"""When a task runs, and what a rest, a change or a wish by hand does to that.

Source: contracts.md section 7.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestrator.commands.running.task_runs import claim_due
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.tasks import RunStatus
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    ListTasks,
    PauseTask,
    ResumeTask,
    RunTask,
    UpdateTask,
)
from orchestrator.settings.tree import AssistantSettings, Settings
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.edges.commands.task_askers import Asker, asker, hourly, remembered, runs, stored
from tests.edges.commands.task_askers import club as club
from tests.edges.commands.task_askers import family as family
from tests.edges.commands.task_askers import main as main
from tests.support.store_rows import add_group


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
        pytest.param(
            None,
            None,
            datetime(2026, 1, 2, 0, tzinfo=UTC),
            "Asia/Tokyo",
            id="F3: the host's, which is not UTC",
        ),
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
    desk.set_settings(Settings(assistant=AssistantSettings(timezone="Asia/Tokyo")))
    await desk.run(lambda tx: add_group(tx, "far", Jid("far@g.us"), timezone=group_zone))
    far = await remembered(asker(desk, "far", Jid("far@g.us")))

    view = await far.ask(hourly(schedule_type="cron", schedule_value="0 9 * * *", timezone=task_zone))

    assert datetime.fromisoformat(view["nextRun"]) == expected
    assert "T09:00:00" in view["nextRun"]
    assert view["timezone"] == zone


@pytest.mark.parametrize("task_zone", [None, "America/New_York"])
async def test_d_17_a_time_without_offset_means_the_same_clock_once_as_in_cron(
    desk: Desk, task_zone: str | None
) -> None:
    """Case D-17."""
    await desk.run(lambda tx: add_group(tx, "far", Jid("far@g.us"), timezone="Pacific/Auckland"))
    far = await remembered(asker(desk, "far", Jid("far@g.us")))

    cron = await far.ask(hourly(schedule_type="cron", schedule_value="30 9 3 1 *", timezone=task_zone))
    once = await far.ask(hourly(schedule_type="once", schedule_value="2026-01-03T09:30", timezone=task_zone))

    assert once["nextRun"] == cron["nextRun"]
    assert once["nextRun"].startswith("2026-01-03T09:30")


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


@pytest.mark.parametrize("value", ["7200000", "0 */2 * * *"])
async def test_a_short_rest_skips_no_run(value: str, desk: Desk, family: Asker) -> None:
    kind = "interval" if value.isdigit() else "cron"
    task_id = await family.schedule(schedule_type=kind, schedule_value=value)
    planned = (await stored(desk, task_id)).next_run_at

    for _ in range(3):
        await family.ask(PauseTask(task_id=task_id))
        await family.ask(ResumeTask(task_id=task_id))

    assert (await stored(desk, task_id)).next_run_at == planned


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


async def test_a_once_task_up_to_a_minute_past_is_due_at_once(desk: Desk, family: Asker) -> None:
    soon = (desk.now - timedelta(seconds=50)).isoformat()
    task_id = await family.schedule(schedule_type="once", schedule_value=soon)

    await desk.run(lambda tx: claim_due(tx, desk.services, at=desk.now))

    assert [run.status for run in await runs(desk, task_id)] == [RunStatus.CLAIMED]
