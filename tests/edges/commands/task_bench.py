"""Tasks at a desk: added, claimed, run and ended by hand."""

from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

from orchestrator.commands.running.task_runs import claim_due
from orchestrator.commands.running.waiting import WaitingWork, waiting_work
from orchestrator.contracts.ids import TaskId, TurnId
from orchestrator.contracts.records.agents import Agent, AgentStatus, DeathCause, EndReason
from orchestrator.contracts.records.tasks import (
    Task,
    TaskRun,
)
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.sentence_keys import Say
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.core.wording import say
from orchestrator.engine.work import FirstInput, TaskWork
from orchestrator.store import agents, task_runs, tasks
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.support.store_rows import agent
from tests.support.task_rows import task

HOUR_S: Final = 3600.0


def told(what: Say) -> str:
    """What the chat of a task is told."""
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
