"""What an agent may know of tasks and groups without asking. Source: contracts.md section 4."""

import json
from typing import Any

import pytest

from orchestrator.commands.groups.snapshots import MAX_SNAPSHOT_CHARS, box_snapshots
from orchestrator.commands.operator_requests import ask_as_operator
from orchestrator.contracts.callers import caller_of
from orchestrator.contracts.ids import GroupFolder
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.wire.task_requests import CancelTask, PauseTask, ScheduleTask
from orchestrator.store import agents, chats
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group, agent


async def planned(desk: Desk, prompt: str, *, group: str = "family") -> str:
    """A task of a group, every day."""
    new = ScheduleTask(
        prompt=prompt, schedule_type="cron", schedule_value="0 9 * * *", group_folder=GroupFolder(group)
    )
    return str((await ask_as_operator(desk.services, new))["id"])


async def seen_by(desk: Desk, **fields: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The two snapshots of an agent of the family."""
    held = agent(**fields)
    await desk.run(lambda tx: agents.add(tx, held))
    snapshots = await box_snapshots(desk.services, caller_of(held))
    return json.loads(snapshots.tasks), json.loads(snapshots.groups)


async def two_groups(desk: Desk) -> None:
    """A club beside the family, a group chat that is no group yet, a task each."""

    def body(tx: Transaction) -> None:
        add_group(tx, "club", OTHER_CHAT)
        chats.see(tx, CHAT, channel="whatsapp", name=None, is_group=True, at=desk.now)

    await desk.run(body)
    await planned(desk, "water the plants")
    await planned(desk, "book the hall", group="club")


async def test_a_group_sees_its_own_tasks_and_itself(desk: Desk) -> None:
    await two_groups(desk)

    tasks, groups = await seen_by(desk)

    assert [task["prompt"] for task in tasks] == ["water the plants"]
    assert groups == {
        "groups": [
            {
                "jid": CHAT,
                "name": "Family",
                "folder": "family",
                "lastActivity": desk.now.isoformat(),
                "isRegistered": True,
            }
        ],
        "lastSync": None,
    }


async def test_main_sees_all_with_its_own_first(desk: Desk) -> None:
    await two_groups(desk)

    tasks, groups = await seen_by(desk, is_main=True)

    assert [task["prompt"] for task in tasks] == ["water the plants", "book the hall"]
    assert [group["folder"] for group in groups["groups"]] == ["family", "club"]


@pytest.mark.parametrize("rights", [Rights.MEMBER, Rights.BOT])
async def test_a_main_agent_to_which_others_spoke_sees_what_any_group_sees(
    desk: Desk, rights: Rights
) -> None:
    await two_groups(desk)

    tasks, groups = await seen_by(desk, is_main=True, rights=rights)

    assert [task["prompt"] for task in tasks] == ["water the plants"]
    assert [group["folder"] for group in groups["groups"]] == ["family"]


async def test_a_task_has_every_field_in_both_spellings_and_ended_ones_are_left_out(desk: Desk) -> None:
    resting = await planned(desk, "water the plants")
    await ask_as_operator(desk.services, PauseTask(task_id=resting))
    await ask_as_operator(desk.services, CancelTask(task_id=await planned(desk, "never")))

    (task,), _ = await seen_by(desk)

    wanted = (
        "id groupFolder chatJid title prompt scheduleType scheduleValue timezone contextMode status nextRun"
    )
    older = "lastRun lastStatus schedule_type schedule_value next_run"
    assert set(f"{wanted} {older}".split()) <= set(task)
    assert (task["id"], task["status"]) == (resting, "paused")


async def test_a_snapshot_holds_no_more_than_fits_and_stays_json(desk: Desk) -> None:
    for _ in range(12):
        await planned(desk, "x" * 30_000)

    tasks, _ = await seen_by(desk)

    assert len(tasks) == MAX_SNAPSHOT_CHARS // 30_500
