"""Agents that ask for things about tasks, each by a request file of its own."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest

from orchestrator.commands.execute import execute_request
from orchestrator.contracts.callers import AgentCaller
from orchestrator.contracts.ids import AgentId, BoxName, GroupFolder, Jid, RequestId
from orchestrator.contracts.records.rights import Rights
from orchestrator.contracts.records.tasks import TaskRun
from orchestrator.contracts.wire.codec import Wire
from orchestrator.contracts.wire.replies import Reply, ReplyError
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    PauseTask,
    ResumeTask,
    RunTask,
    ScheduleTask,
    UpdateTask,
)
from orchestrator.store import agents, task_runs, tasks
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

    async def refused(self, request: Wire) -> ReplyError:
        """How it is refused."""
        reply = await self._reply(request)
        assert reply.error is not None
        return reply.error

    async def ask(self, request: Wire) -> Mapping[str, Any]:
        """What it is answered: the result, or {"code": …}."""
        reply = await self._reply(request)
        if reply.error is not None:
            assert reply.error.suggestion, "no way out given"
            return {"code": reply.error.code}
        assert isinstance(reply.result, Mapping)
        return reply.result

    async def _reply(self, request: Wire) -> Reply:
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
        return await execute_request(self.desk.services, self.caller, request, key=key, request_id=wanted)

    async def schedule(self, **fields: Any) -> str:
        """Schedule something hourly; the task's id."""
        return str((await self.ask(hourly(**fields)))["id"])

    async def set_rights(self, rights: Rights) -> None:
        """From now on somebody with these rights has spoken to it too."""
        await self.desk.run(lambda tx: agents.set_rights(tx, self.caller.agent_id, rights))


def hourly(**fields: Any) -> ScheduleTask:
    """A wish for a task that runs each hour."""
    plain: dict[str, Any] = {
        "prompt": "Water the plants",
        "schedule_type": "interval",
        "schedule_value": HOURLY_MS,
    }
    return ScheduleTask(**(plain | fields))


def asker(desk: Desk, folder: str, chat: Jid, *, is_main: bool = False) -> Asker:
    """The agent of a group; it has no record yet."""
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
    """A task as it lies in the store."""
    return await desk.run(lambda tx: tasks.get(tx, task_id))


async def runs(desk: Desk, task_id: str) -> list[TaskRun]:
    """The runs of a task, oldest first."""
    async with desk.services.db.reader() as reader:
        return list(reversed(await task_runs.history(reader, task_id, count=100)))  # type: ignore[arg-type]
