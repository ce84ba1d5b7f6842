"""The life of a run: claimed with the next due time, begun, ended, told. Source: contracts.md section 7."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from orchestrator.commands.groups import remove_group
from orchestrator.commands.task_runs import claim_due
from orchestrator.commands.waiting import WaitingWork, waiting_work
from orchestrator.contracts.callers import HostCaller
from orchestrator.contracts.ids import GroupFolder, RunId, TaskId, TurnId
from orchestrator.contracts.records.agents import Agent, AgentStatus, EndReason
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import (
    CatchUp,
    ContextMode,
    FailureClass,
    RunStatus,
    ScheduleKind,
    Task,
    TaskRun,
    TaskStatus,
)
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.chat.death import DeathCause
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.core.wording import Say, say
from orchestrator.engine.work import FirstInput, TaskWork
from orchestrator.settings.tree import Settings, TaskSettings
from orchestrator.store import agents, groups, task_runs, tasks
from orchestrator.store.database import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import CHAT, OTHER_CHAT, add_group, agent
from tests.support.task_rows import task

HOUR_S: Final = 3600.0


def told(what: Say) -> str:
    return say(what, "en", title="Water the plants")


@dataclass
class Bench:
    """Tasks at a desk."""

    desk: Desk
    started: int = 0

    async def add(self, name: str = "task-1", **fields: Any) -> Task:
        """A task that is due in an hour."""
        plain = {"created_at": self.desk.now, "next_run_at": self.desk.later(HOUR_S)}
        made = task(name, **(plain | fields))
        await self.desk.run(lambda tx: tasks.add(tx, made))
        return made

    async def task(self, name: str = "task-1") -> Task:
        """As it is stored."""
        found = await self.desk.run(lambda tx: tasks.get(tx, name))
        assert found is not None
        return found

    async def runs(self, name: str = "task-1") -> list[TaskRun]:
        """All runs of a task, oldest slot first."""
        async with self.desk.services.db.reader() as reader:
            found = await task_runs.history(reader, TaskId(name), count=1000)
        return sorted(found, key=lambda run: run.planned_at or run.claimed_at)

    async def statuses(self, name: str = "task-1") -> list[str]:
        """Of all its runs."""
        return [run.status.value for run in await self.runs(name)]

    async def claim(self, *, after_s: float = 0) -> None:
        """Time passes, and the alarm rings."""
        self.desk.clock.advance(after_s)
        while await self.desk.run(lambda tx: claim_due(tx, self.desk.services, at=self.desk.now)):
            pass

    async def waiting(self) -> list[WaitingWork]:
        """What wants an agent."""
        return await self.desk.run(lambda tx: waiting_work(tx, at=self.desk.now))

    async def try_start(self, work: WaitingWork) -> tuple[Agent, FirstInput | None]:
        """Start an agent for a run; its input, None when it may not begin."""
        assert work.task is not None
        assert work.run_id is not None
        self.started += 1
        held = agent(
            f"agent-{self.started}",
            chat_jid=work.group.jid,
            group=work.group.folder,
            started_at=self.desk.now,
            task_run_id=work.run_id,
        )
        given = TaskWork(services=self.desk.services, group=work.group, task=work.task, run_id=work.run_id)

        def body(tx: Transaction) -> FirstInput | None:
            first = given.claim(tx, held, TurnId(f"turn-{self.started}"))
            if first is not None:
                agents.move(tx, held.agent_id, was=AgentStatus.STARTING, now=AgentStatus.RUNNING)
            return first

        first = await self.desk.run(body)
        return replace(held, status=AgentStatus.RUNNING), first

    async def start(self) -> Agent:
        """Start an agent for the one run that waits, and let it begin its turn."""
        (work,) = await self.waiting()
        held, first = await self.try_start(work)
        assert first is not None
        await self.desk.begin(held, *first.ids, turn=self.turn)
        return held

    @property
    def turn(self) -> str:
        """Of the agent that was started last."""
        return f"turn-{self.started}"

    async def run_once(self, status: TurnStatus = TurnStatus.SUCCESS, *, after_s: float = HOUR_S) -> None:
        """The next slot comes, runs and ends."""
        await self.claim(after_s=after_s)
        held = await self.start()
        await self.desk.end(held, turn=self.turn, status=status)
        await self.exit(held)

    async def exit(self, held: Agent) -> None:
        """An orderly end of the process."""
        await self.desk.die(held, reason=EndReason.EXITED, event=AgentEventKind.ENDED_WELL, code=0)

    async def host_dies(self, held: Agent) -> None:
        """kill -9 of the orchestrator, found at the next start."""
        await self.desk.die(
            held,
            DeathCause.ORCHESTRATOR,
            reason=EndReason.ORCHESTRATOR_DIED,
            event=AgentEventKind.FOUND_DEAD,
        )


@pytest.fixture
def bench(desk: Desk) -> Bench:
    """Tasks at a desk."""
    return Bench(desk)


async def test_a_slot_is_claimed_together_with_the_next_due_time(bench: Bench) -> None:
    made = await bench.add()

    await bench.claim(after_s=HOUR_S)

    (run,) = await bench.runs()
    assert (run.planned_at, run.status) == (made.next_run_at, RunStatus.CLAIMED)
    assert (await bench.task()).next_run_at == bench.desk.later(HOUR_S)


async def test_a_claim_that_breaks_off_leaves_neither_the_run_nor_the_next_due_time(bench: Bench) -> None:
    made = await bench.add()
    bench.desk.clock.advance(HOUR_S)

    def claimed_and_dead(tx: Transaction) -> None:
        claim_due(tx, bench.desk.services, at=bench.desk.now)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        await bench.desk.run(claimed_and_dead)

    assert await bench.runs() == []
    assert await bench.task() == made


async def test_a_slot_is_never_claimed_twice_even_when_the_clock_is_set_back(bench: Bench) -> None:
    made = await bench.add()
    await bench.run_once()
    again = replace(await bench.task(), next_run_at=made.next_run_at)
    await bench.desk.run(lambda tx: tasks.write(tx, again, was=TaskStatus.ACTIVE))

    await bench.claim()

    assert await bench.statuses() == ["succeeded"]
    assert (await bench.task()).next_run_at == bench.desk.later(HOUR_S)


async def test_more_than_a_hundred_due_tasks_are_all_claimed(bench: Bench) -> None:
    for number in range(120):
        await bench.add(f"task-{number:03}", context_mode=ContextMode.ISOLATED)

    await bench.claim(after_s=HOUR_S)

    assert len(await bench.waiting()) == 120


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (CatchUp.LATEST, {3: "claimed"}),
        (CatchUp.SKIP, {}),
        (CatchUp.ALL, {1: "claimed", 2: "claimed", 3: "claimed"}),
    ],
)
async def test_f9_what_was_missed_while_down_is_made_up_for_as_the_task_says(
    bench: Bench, rule: CatchUp, expected: dict[int, str]
) -> None:
    """Case F9."""
    made = await bench.add(catch_up=rule)

    await bench.claim(after_s=3.5 * HOUR_S)

    assert made.next_run_at is not None
    begin = made.next_run_at - timedelta(hours=1)
    found = {
        int((run.planned_at - begin) / timedelta(hours=1)): run.status.value
        for run in await bench.runs()
        if run.planned_at is not None
    }
    assert found == expected
    assert (await bench.task()).next_run_at == begin + timedelta(hours=4)


@pytest.mark.parametrize("mode", ContextMode)
async def test_runs_that_are_made_up_for_go_one_after_another(bench: Bench, mode: ContextMode) -> None:
    await bench.add(catch_up=CatchUp.ALL, context_mode=mode)
    await bench.claim(after_s=3.5 * HOUR_S)
    planned: list[datetime | None] = []

    for _ in range(3):
        (work,) = await bench.waiting()
        held, first = await bench.try_start(work)
        assert first is not None
        await bench.desk.begin(held, *first.ids, turn=bench.turn)
        assert await bench.waiting() == []
        planned += [run.planned_at for run in await bench.runs() if run.status is RunStatus.STARTED]
        await bench.desk.end(held, turn=bench.turn)
        await bench.exit(held)

    assert planned == [run.planned_at for run in await bench.runs()]
    assert await bench.statuses() == ["succeeded"] * 3


async def test_f9_what_is_older_than_the_grace_is_missed_and_told_once(bench: Bench) -> None:
    """Case F9."""
    await bench.add(kind=ScheduleKind.CRON, schedule_value="0 1 * * *")
    bench.desk.set_settings(Settings(tasks=TaskSettings(misfire_grace_s=600)))

    await bench.claim(after_s=3 * 24 * HOUR_S)

    assert await bench.statuses() == ["missed"] * 3
    assert await bench.desk.texts() == [told(Say.TASK_MISSED)]
    assert (await bench.task()).next_run_at == datetime(2026, 1, 4, 1, tzinfo=UTC)


async def test_a_once_task_that_came_too_late_is_missed_told_and_over(bench: Bench) -> None:
    at = bench.desk.later(HOUR_S)
    await bench.add(kind=ScheduleKind.ONCE, schedule_value=at.isoformat(), next_run_at=at)

    await bench.claim(after_s=3 * 24 * HOUR_S)

    assert await bench.statuses() == ["missed"]
    assert (await bench.task()).status is TaskStatus.COMPLETED
    assert await bench.desk.texts() == [told(Say.TASK_MISSED)]


@pytest.mark.parametrize("status", [TurnStatus.SUCCESS, TurnStatus.ERROR])
async def test_a_once_task_is_over_after_its_run(bench: Bench, status: TurnStatus) -> None:
    at = bench.desk.later(HOUR_S)
    await bench.add(kind=ScheduleKind.ONCE, schedule_value=at.isoformat(), next_run_at=at)
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    while_running = (await bench.task()).status

    await bench.desk.end(held, turn=bench.turn, status=status)

    assert while_running is TaskStatus.ACTIVE
    assert (await bench.task()).status is TaskStatus.COMPLETED
    assert (await bench.task()).next_run_at is None


async def test_b4_a_slot_that_comes_while_the_run_before_goes_on_is_skipped_and_noted(bench: Bench) -> None:
    """Case B4."""
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()

    await bench.claim(after_s=HOUR_S)
    await bench.claim()
    await bench.desk.end(held, turn=bench.turn)
    await bench.claim(after_s=HOUR_S)

    assert await bench.statuses() == ["succeeded", "skipped", "claimed"]
    assert (await bench.runs())[1].error == "the run before had not ended"


async def test_b5_a_run_with_an_effect_is_interrupted_by_our_death_and_told_and_never_runs_again(
    bench: Bench,
) -> None:
    """Case B5."""
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    await bench.desk.say(held, "The plants are wet.", turn=bench.turn)

    await bench.host_dies(held)

    assert await bench.statuses() == ["interrupted"]
    assert await bench.waiting() == []
    assert await bench.desk.texts() == ["The plants are wet.", told(Say.TASK_INTERRUPTED)]
    assert (await bench.runs())[0].failure is FailureClass.HOST
    assert (await bench.task()).failures == 0  # it is no failure of the task's


async def test_b5_a_run_without_an_effect_runs_once_more_after_our_death_and_not_a_third_time(
    bench: Bench,
) -> None:
    """Case B5."""
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    await bench.host_dies(await bench.start())
    again = await bench.start()
    told_before = await bench.desk.texts()

    await bench.host_dies(again)

    assert told_before == []
    assert await bench.statuses() == ["interrupted"]
    assert await bench.waiting() == []
    assert await bench.desk.texts() == [told(Say.TASK_INTERRUPTED)]


async def test_a_run_that_died_without_an_effect_is_missed_out_when_the_grace_is_over(bench: Bench) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    bench.desk.clock.advance(3 * 24 * HOUR_S)

    await bench.host_dies(held)

    assert await bench.statuses() == ["interrupted"]
    assert await bench.desk.texts() == [told(Say.TASK_INTERRUPTED)]


async def test_a_run_whose_agent_crashes_runs_once_more_and_then_has_failed(bench: Bench) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    await bench.desk.die(await bench.start())

    await bench.desk.die(await bench.start())

    assert await bench.statuses() == ["failed"]
    assert await bench.desk.texts() == [told(Say.TASK_FAILED)]
    assert (await bench.task()).failures == 1


async def test_a_shutdown_gives_a_run_without_effect_back_and_it_runs_after_the_start(bench: Bench) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()

    await bench.desk.end(held, turn=bench.turn, status=TurnStatus.CANCELLED)
    await bench.desk.die(held, DeathCause.HOST, reason=EndReason.STOPPED)

    assert await bench.statuses() == ["claimed"]
    assert await bench.desk.texts() == []
    held = await bench.start()
    await bench.desk.end(held, turn=bench.turn)
    assert await bench.statuses() == ["succeeded"]


@pytest.mark.parametrize("is_polite", [True, False])
async def test_a_run_over_its_time_has_timed_out_whether_or_not_its_agent_obeyed(
    bench: Bench, *, is_polite: bool
) -> None:
    await bench.add()
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()

    if is_polite:
        await bench.desk.end(
            held, turn=bench.turn, status=TurnStatus.CANCELLED, cancelled_by=DeathCause.TIMED_OUT
        )
    await bench.desk.die(held, DeathCause.TIMED_OUT, reason=EndReason.TIMED_OUT, event=AgentEventKind.RAN_OUT)

    assert await bench.statuses() == ["timed_out"]
    assert (await bench.task()).last_status is RunStatus.TIMED_OUT
    assert await bench.desk.texts() == [told(Say.TASK_FAILED)]


async def test_f10_a_failure_costs_one_occurrence_and_is_told(bench: Bench) -> None:
    """Case F10."""
    await bench.add()
    await bench.run_once(TurnStatus.ERROR)

    await bench.run_once()

    assert await bench.statuses() == ["failed", "succeeded"]
    assert await bench.desk.texts() == [told(Say.TASK_FAILED)]
    assert (await bench.task()).failures == 0


async def test_five_failures_in_a_row_pause_the_task_and_are_told(bench: Bench) -> None:
    await bench.add()
    for _ in range(5):
        assert (await bench.task()).status is TaskStatus.ACTIVE
        await bench.run_once(TurnStatus.ERROR)

    await bench.claim(after_s=5 * HOUR_S)

    rested = await bench.task()
    assert (rested.status, rested.paused_why) == (TaskStatus.PAUSED, "5 runs failed in a row")
    assert await bench.statuses() == ["failed"] * 5
    assert await bench.desk.texts() == [told(Say.TASK_FAILED)] * 4 + [told(Say.TASK_PAUSED)]


async def test_a_success_or_our_own_death_is_no_link_in_a_row_of_failures(bench: Bench) -> None:
    await bench.add()
    for _ in range(4):
        await bench.run_once(TurnStatus.ERROR)
    await bench.claim(after_s=HOUR_S)
    held = await bench.start()
    await bench.desk.say(held, "so far", turn=bench.turn)
    await bench.host_dies(held)
    after_our_death = await bench.task()
    await bench.run_once()
    await bench.run_once(TurnStatus.ERROR)

    assert (after_our_death.failures, after_our_death.status) == (4, TaskStatus.ACTIVE)
    assert (await bench.task()).failures == 1


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
    await bench.desk.run(lambda tx: tasks.write(tx, now, was=made.status))

    held, first = await bench.try_start(work)

    assert (first is not None) is begins
    assert await bench.statuses() == ["started" if begins else "skipped"]
    assert (await bench.desk.run(lambda tx: agents.get(tx, held.agent_id)) is not None) is begins


async def test_a_run_has_the_words_and_the_rights_that_its_task_has_when_it_begins(bench: Bench) -> None:
    made = await bench.add()
    await bench.claim(after_s=HOUR_S)
    (work,) = await bench.waiting()
    now = replace(await bench.task(), prompt="Sell the plants", rights=Rights.BOT)
    await bench.desk.run(lambda tx: tasks.write(tx, now, was=made.status))

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


async def test_messages_go_before_a_task_that_shares_their_box_for_a_minute_and_then_it_is_its_turn(
    bench: Bench,
) -> None:
    await bench.add()
    await bench.add("beside", context_mode=ContextMode.ISOLATED)
    await bench.claim(after_s=HOUR_S)
    await bench.desk.hear("m-1")

    at_first = await bench.waiting()
    bench.desk.clock.advance(61)
    await bench.desk.hear("m-2")
    later = await bench.waiting()

    def shown(works: list[WaitingWork]) -> list[tuple[str, str | None]]:
        return [(work.key, None if work.task is None else work.task.task_id) for work in works]

    assert shown(at_first)[0] == ("family", None)
    assert shown(later)[0] == ("family", "task-1")
    for works in (at_first, later):
        assert [work.task.task_id for work in works[1:] if work.task is not None] == ["beside"]
        assert works[1].key.startswith("@")


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        pytest.param(
            datetime(2026, 3, 28, 1, 30, tzinfo=UTC),
            ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
            id="the gap: once, at the first instant after it",
        ),
        pytest.param(
            datetime(2026, 10, 24, 0, 30, tzinfo=UTC),
            ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"],
            id="the overlap: once",
        ),
    ],
)
async def test_a_daily_task_runs_once_a_day_when_the_clocks_change(
    bench: Bench, first: datetime, expected: list[str]
) -> None:
    bench.desk.clock.advance((first - bench.desk.now).total_seconds() - 60)
    await bench.add(
        kind=ScheduleKind.CRON,
        schedule_value="30 2 * * *",
        timezone="Europe/Berlin",
        next_run_at=first,
    )

    for _ in range(3 * 24 * 6):
        await bench.claim(after_s=600)
        for work in await bench.waiting():
            held, begun = await bench.try_start(work)
            assert begun is not None
            await bench.desk.begin(held, *begun.ids, turn=bench.turn)
            await bench.desk.end(held, turn=bench.turn)

    planned = [run.planned_at for run in await bench.runs() if run.planned_at is not None]
    assert [f"{at:%Y-%m-%dT%H:%M}" for at in planned][:3] == expected
