"""What the operator asks by HTTP or the command line as a box would, of tasks; and what he looks at."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Final

from orchestrator.commands.catalog import CATALOG
from orchestrator.commands.command import Command, Context
from orchestrator.commands.operator_advice import for_operator
from orchestrator.commands.services import Services
from orchestrator.commands.spawning.spawn_wishes import agent_key
from orchestrator.commands.tasks.task_views import task_view
from orchestrator.contracts.callers import OperatorCaller
from orchestrator.contracts.errors import DovecoteError, ErrorCode, NotFound
from orchestrator.contracts.ids import BoxName, Jid, agent_of_box, is_own_box, new_id
from orchestrator.contracts.records.messages import OutboxItem, StoredMessage, TextSource
from orchestrator.contracts.records.tasks import Task, TaskRun
from orchestrator.contracts.wire.codec import Wire
from orchestrator.core.authority import allow
from orchestrator.store import message_views, outbox, refused_spawns, task_runs, tasks
from orchestrator.store.refusals import list_refusals
from orchestrator.store.refused_spawns import RefusedSpawns
from orchestrator.store.transaction import Transaction

MAX_ROWS: Final = 1_000


async def ask_as_operator(services: Services, request: Wire) -> Mapping[str, object]:
    """Do what a request says, by the operator's right. Raises what the command refuses."""
    command = CATALOG[type(request)]
    context = Context(
        services=services, caller=OperatorCaller(), at=services.clock.now(), key=new_id("operator")
    )

    try:
        return await _done(services, command, context, request)
    except DovecoteError as error:
        raise for_operator(error) from None


async def _done(
    services: Services, command: Command, context: Context, request: Wire
) -> Mapping[str, object]:
    prepared = await command.prepare(services, context.caller, request)

    def body(tx: Transaction) -> Mapping[str, object]:
        allow(context.caller, command.name, command.target(tx, request))
        return command.run(tx, context, prepared)

    try:
        result = await services.db.run(body)
    except DovecoteError:
        await command.release(services, prepared)
        raise
    await command.finish(services, result)
    return result


async def show_task(services: Services, task_id: str) -> Mapping[str, object]:
    """One task, ended ones too, with what the list leaves out. Raises NotFound."""
    task = await _found_task(services, task_id)
    return {
        **task_view(task, reader=OperatorCaller()),
        "createdAt": _iso(task.created_at),
        "rights": task.rights.value,
        "failuresInARow": task.failures,
        "pausedWhy": task.paused_why,
        "alias": task.alias,
    }


async def ended_tasks(services: Services, folder: str | None) -> list[Mapping[str, object]]:
    """The tasks of one group or of all that are over, what ended last first."""
    async with services.db.reader() as reader:
        found = await tasks.list_ended(reader, folder, count=MAX_ROWS)
    return [task_view(each, reader=OperatorCaller()) for each in found]


async def task_history(services: Services, task_id: str, *, count: int) -> list[Mapping[str, object]]:
    """The newest runs of a task, newest first. Raises NotFound."""
    task = await _found_task(services, task_id)
    async with services.db.reader() as reader:
        return [_run_view(run) for run in await task_runs.history(reader, task.task_id, count=count)]


async def recent_messages(services: Services, chat: Jid | None, *, count: int) -> list[Mapping[str, object]]:
    """The newest messages of one chat or of all, oldest first, with what became of them."""
    async with services.db.reader() as reader:
        return [_message_view(each) for each in await message_views.newest(reader, chat, count=count)]


async def recent_texts(services: Services, chat: Jid | None, *, count: int) -> list[Mapping[str, object]]:
    """The newest texts that were sent to one chat or to all, oldest first."""
    async with services.db.reader() as reader:
        return [_text_view(each) for each in await outbox.newest(reader, chat, count=count)]


async def refused_requests(services: Services, box: str | None, *, count: int) -> list[Mapping[str, object]]:
    """The newest requests that were refused of boxes, with their reasons, newest first.

    Among them the spawns of which no file is kept, such as those by HTTP: those of an hour as one.
    """
    kept = await asyncio.to_thread(partial(list_refusals, services.paths.ipc, box=box, count=count))
    if box is not None and not is_own_box(BoxName(box)):
        return list(kept)
    caller_key = None if box is None else agent_key(agent_of_box(BoxName(box)))
    async with services.db.reader() as reader:
        spawns = await refused_spawns.unkept(reader, caller_key=caller_key, count=count)
    found: list[Mapping[str, object]] = [*kept, *map(_refused_spawn_view, spawns)]
    return sorted(found, key=lambda each: str(each["refusedAt"]), reverse=True)[:count]


async def _found_task(services: Services, task_id: str) -> Task:
    async with services.db.reader() as reader:
        task = await tasks.find(reader, task_id)
    if task is None:
        raise NotFound(
            f"There is no task {task_id!r}.",
            code=ErrorCode.TASK_NOT_FOUND,
            suggestion="See their ids: dovecote task list",
        )
    return task


def _refused_spawn_view(refused: RefusedSpawns) -> dict[str, object]:
    """In the form of a refusal of a box; box: who asked."""
    return {
        "box": refused.caller_key,
        "refusedAt": refused.last_at.isoformat(timespec="milliseconds"),
        "directory": "spawn",
        "code": refused.code,
        "message": refused.message,
        "count": refused.count,
    }


def _run_view(run: TaskRun) -> Mapping[str, object]:
    return {
        "runId": run.run_id,
        "taskId": run.task_id,
        "status": run.status.value,
        "plannedAt": _iso(run.planned_at),
        "claimedAt": _iso(run.claimed_at),
        "startedAt": _iso(run.started_at),
        "endedAt": _iso(run.ended_at),
        "failure": None if run.failure is None else run.failure.value,
        "error": run.error,
        "output": run.output,
        "agentId": run.agent_id,
    }


def _message_view(message: StoredMessage) -> Mapping[str, object]:
    return {
        "seq": message.seq,
        "chatJid": message.chat_jid,
        "messageId": message.message_id,
        "sender": message.sender_name,
        "senderJid": message.sender_jid,
        "senderRole": message.sender_role.value,
        "sentAt": _iso(message.sent_at),
        "status": message.status.value,
        "isTrigger": message.is_trigger,
        "text": message.text,
    }


def _text_view(item: OutboxItem) -> Mapping[str, object]:
    return {
        "id": item.id,
        "chatJid": item.chat_jid,
        "isNotice": item.source is TextSource.NOTICE,
        "createdAt": _iso(item.created_at),
        "text": item.text,
    }


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")
