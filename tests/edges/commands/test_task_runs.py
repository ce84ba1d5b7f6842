"""A run: when it begins, with what, and where its words go. Source: contracts.md section 7."""

from dataclasses import replace

import pytest

from orchestrator.commands.groups.groups import remove_group
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import GroupFolder, RunId
from orchestrator.contracts.records.agents import EndReason
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import (
    FailureClass,
    RunStatus,
    TaskRun,
    TaskStatus,
)
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.core.wording import say
from orchestrator.store import agents, groups, task_runs, tasks
from orchestrator.store.transaction import Transaction
from tests.edges.commands.task_bench import HOUR_S, Bench, told
from tests.edges.commands.task_bench import bench as bench
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group


async def test_f7_a_task_of_a_group_that_is_gone_is_paused_at_once_and_starts_nothing(bench: Bench) -> None:
    """Case F7."""
    await bench.add()
    await bench.add("task-2")
    await bench.claim(after_s=HOUR_S)

    await remove_group(bench.desk.services, HostCaller(), "family")
    await bench.claim(after_s=HOUR_S)

    for name in ("task-1", "task-2"):
        rested = await bench.task(name)
        assert rested.status is TaskStatus.PAUSED
        assert "not registered" in str(rested.paused_why)
        assert await bench.statuses(name) == ["skipped"]
    assert await bench.waiting() == []


async def test_f7_a_group_that_vanished_unseen_pauses_its_task_when_it_is_due(bench: Bench) -> None:
    """Case F7."""
    await bench.add()
    await bench.desk.run(lambda tx: groups.remove(tx, GroupFolder("family")))

    await bench.claim(after_s=HOUR_S)

    assert (await bench.task()).status is TaskStatus.PAUSED
    assert await bench.runs() == []


@pytest.mark.parametrize(
    "column", ["timezone = 'Gone/Zone'", "schedule_value = 'every day'"], ids=["zone", "value"]
)
async def test_an_unreadable_task_is_paused_and_told_and_the_others_go_on(bench: Bench, column: str) -> None:
    await bench.add("broken")
    await bench.add("whole")
    await bench.desk.run(lambda tx: tx.execute(f"UPDATE tasks SET {column} WHERE task_id = 'broken'"))

    await bench.claim(after_s=HOUR_S)

    assert (await bench.task("broken")).status is TaskStatus.PAUSED
    assert await bench.statuses("whole") == ["claimed"]
    assert await bench.desk.texts() == [told(Say.TASK_UNREADABLE)]


async def test_f12_a_provider_without_room_keeps_the_run_waiting_and_it_does_not_fail(bench: Bench) -> None:
    """Case F12: the failure class is stored, and the run goes on when there is room."""
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()

    await bench.desk.end(held, turn=bench.turn, status=TurnStatus.ERROR, code="PROVIDER_RATE_LIMITED")
    await bench.exit(held)

    (run,) = await bench.runs()
    assert (run.status, run.failure) == (RunStatus.CLAIMED, FailureClass.PROVIDER)
    assert await bench.waiting() == []
    assert (await bench.task()).failures == 0
    assert await bench.desk.texts() == [say(Say.PROVIDER_TROUBLE, "en")]
    bench.desk.clock.advance(300)
    held = await bench.start()
    await bench.desk.end(held, turn=bench.turn)
    assert await bench.statuses() == ["succeeded"]
    assert await bench.desk.texts() == [say(Say.PROVIDER_TROUBLE, "en"), say(Say.PROVIDER_BACK, "en")]


async def test_a_run_that_waited_for_its_provider_still_has_its_one_more_time_after_a_crash(
    bench: Bench,
) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    await bench.desk.end(held, turn=bench.turn, status=TurnStatus.ERROR, code="PROVIDER_OVERLOADED")
    await bench.exit(held)
    bench.desk.clock.advance(300)

    await bench.host_dies(await bench.start())

    assert await bench.statuses() == ["claimed"]
    assert len(await bench.waiting()) == 1


async def test_a_run_that_could_not_begin_within_the_grace_is_missed_and_told(bench: Bench) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    bench.desk.clock.advance(24 * HOUR_S + 1)
    (work,) = await bench.waiting()

    _, first = await bench.try_start(work)

    assert first is None
    assert await bench.statuses() == ["missed"]
    assert await bench.desk.texts() == [told(Say.TASK_MISSED)]


async def test_an_agent_that_cannot_be_started_keeps_the_run_waiting(bench: Bench) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    (work,) = await bench.waiting()
    held, _ = await bench.try_start(work)

    await bench.desk.die(held, reason=EndReason.START_FAILED, event=AgentEventKind.START_FAILED, code=127)

    assert await bench.statuses() == ["claimed"]
    bench.desk.clock.advance(300)
    assert len(await bench.waiting()) == 1


@pytest.mark.parametrize(
    ("status", "by_hand", "begins"),
    [
        (TaskStatus.CANCELLED, False, False),
        (TaskStatus.CANCELLED, True, False),
        (TaskStatus.PAUSED, False, False),
        (TaskStatus.PAUSED, True, True),
        (TaskStatus.ACTIVE, False, True),
    ],
)
async def test_the_status_of_the_task_is_read_again_when_its_run_begins(
    bench: Bench,
    status: TaskStatus,
    by_hand: bool,
    begins: bool,
) -> None:
    made = await bench.add()
    await bench.claim(after_s=HOUR_S)
    if by_hand:
        await bench.desk.run(lambda tx: tx.execute("UPDATE task_runs SET planned_ms = NULL"))
    (work,) = await bench.waiting()
    now = replace(await bench.task(), status=status)
    await bench.desk.run(lambda tx: tasks.write(tx, now, was=made.status, at=bench.desk.now))

    held, first = await bench.try_start(work)

    assert (first is not None) is begins
    assert await bench.statuses() == ["started" if begins else "skipped"]
    assert (await bench.desk.run(lambda tx: agents.get(tx, held.agent_id)) is not None) is begins


async def test_a_run_has_the_words_and_the_rights_that_its_task_has_when_it_begins(bench: Bench) -> None:
    made = await bench.add()
    await bench.claim(after_s=HOUR_S)
    (work,) = await bench.waiting()
    now = replace(await bench.task(), prompt="Sell the plants", rights=Rights.BOT)
    await bench.desk.run(lambda tx: tasks.write(tx, now, was=made.status, at=bench.desk.now))

    held, first = await bench.try_start(work)

    assert first is not None
    assert first.task_prompt == "Sell the plants"
    stored = await bench.desk.run(lambda tx: agents.get(tx, held.agent_id))
    assert stored is not None
    assert stored.rights is Rights.BOT


@pytest.mark.parametrize("notify", [True, False])
async def test_what_a_run_says_is_kept_and_goes_to_the_chat_only_if_its_task_wants_it(
    bench: Bench, *, notify: bool
) -> None:
    await bench.add(notify=notify)
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()

    await bench.desk.say(held, "The plants are wet.", turn=bench.turn)
    await bench.desk.say(held, "All of them.", turn=bench.turn)
    await bench.desk.end(held, turn=bench.turn)

    (run,) = await bench.runs()
    assert run.output == "The plants are wet.\nAll of them."
    assert await bench.desk.texts() == (["The plants are wet.", "All of them."] if notify else [])


async def test_a_run_may_be_silent(bench: Bench) -> None:
    await bench.add()

    await bench.run_once()

    assert await bench.statuses() == ["succeeded"]
    assert await bench.desk.texts() == []


async def test_f15_what_a_task_says_goes_to_its_own_chat_whoever_wrote_last(bench: Bench) -> None:
    """Case F15."""
    await bench.desk.run(lambda tx: add_group(tx, "club", OTHER_CHAT))
    await bench.add()
    await bench.desk.hear("m-1", chat_jid=OTHER_CHAT)
    await bench.claim(after_s=HOUR_S)
    (work,) = [work for work in await bench.waiting() if work.task is not None]
    held, first = await bench.try_start(work)
    assert first is not None
    await bench.desk.begin(held, *first.ids, turn=bench.turn)

    await bench.desk.say(held, "42 euros", turn=bench.turn)

    assert await bench.desk.texts(CHAT) == ["42 euros"]
    assert await bench.desk.texts(OTHER_CHAT) == []


async def test_f4_a_run_by_hand_moves_no_schedule_when_it_ends(bench: Bench) -> None:
    """Case F4."""
    made = await bench.add(status=TaskStatus.PAUSED)
    now = bench.desk.now

    def by_hand(tx: Transaction) -> None:
        run = TaskRun(
            run_id=RunId("run-1"),
            task_id=made.task_id,
            planned_at=None,
            status=RunStatus.CLAIMED,
            claimed_at=now,
            due_at=now,
        )
        task_runs.add(tx, run)

    await bench.desk.run(by_hand)
    held = await bench.start()
    await bench.desk.end(held, turn=bench.turn)

    after = await bench.task()
    assert (after.next_run_at, after.status) == (made.next_run_at, TaskStatus.PAUSED)
    assert await bench.statuses() == ["succeeded"]
