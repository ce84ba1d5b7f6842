"""Asking the orchestrator for something: a file in the box, answered by a file."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from orchestrator.contracts.errors import ErrorCode, Unavailable
from orchestrator.contracts.ids import RequestId, new_id
from orchestrator.contracts.wire.agent_requests import (
    GetAgentStatus,
    ReportProgress,
    SpawnAgent,
    TerminateAgent,
)
from orchestrator.contracts.wire.boxes import REPLIES, temporary_name
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.codec import WireError, from_json, to_json
from orchestrator.contracts.wire.group_requests import RefreshGroups, RegisterGroup
from orchestrator.contracts.wire.replies import Reply
from orchestrator.contracts.wire.task_requests import (
    CancelTask,
    ListTasks,
    PauseTask,
    ResumeTask,
    RunTask,
    ScheduleTask,
    UpdateTask,
)

Request: TypeAlias = (
    SendMessage
    | ScheduleTask
    | UpdateTask
    | PauseTask
    | ResumeTask
    | CancelTask
    | RunTask
    | ListTasks
    | RegisterGroup
    | RefreshGroups
    | SpawnAgent
    | GetAgentStatus
    | TerminateAgent
    | ReportProgress
)
"""Every kind of request an agent may make."""

_FIRST_LOOK_S: Final = 0.002
_LAST_LOOK_S: Final = 0.05
_LAST_LOOK_AT_WORK_S: Final = 0.2
"""While another agent works, which takes seconds at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyUnknown:
    """No answer came in time: the request may be done, or may still be. It is never withdrawn."""

    request_id: RequestId


class BoxClient:
    """The agent's side of its box."""

    def __init__(self, box: Path) -> None:
        self._box = box

    async def request(self, request: Request, *, timeout_s: float) -> Reply | ReplyUnknown:
        """Deliver `request` and wait for its answer. Raises Unavailable when the box takes no files."""
        request_id = request.request_id or RequestId(new_id("request"))
        body = to_json(replace(request, request_id=request_id))
        await asyncio.to_thread(self._write, request.directory, new_file_stem(), body)
        return await self.reply_to(request_id, timeout_s=timeout_s)

    async def deliver(self, directory: str, body: str, *, stem: str | None = None) -> None:
        """Deliver a text that need not be a request at all; only for drivers that have to misbehave."""
        await asyncio.to_thread(self._write, directory, stem or new_file_stem(), body)

    async def reply_to(self, request_id: RequestId, *, timeout_s: float) -> Reply | ReplyUnknown:
        """The answer to a request delivered before."""
        return await self._look_for(request_id, lambda _: True, timeout_s=timeout_s, pause_s=_LAST_LOOK_S)

    async def reply_when(
        self, request_id: RequestId, is_met: Callable[[Reply], bool], *, timeout_s: float
    ) -> Reply | ReplyUnknown:
        """The answer once it is as wanted: that about a spawned agent is written again at its end."""
        return await self._look_for(request_id, is_met, timeout_s=timeout_s, pause_s=_LAST_LOOK_AT_WORK_S)

    async def _look_for(
        self, request_id: RequestId, is_met: Callable[[Reply], bool], *, timeout_s: float, pause_s: float
    ) -> Reply | ReplyUnknown:
        """pause_s: the longest between two looks."""
        path = self._box / REPLIES / f"{request_id}.json"
        next_pause_s = _FIRST_LOOK_S
        try:
            async with asyncio.timeout(timeout_s):
                while (reply := await asyncio.to_thread(_read_reply, path)) is None or not is_met(reply):
                    await asyncio.sleep(next_pause_s)
                    next_pause_s = min(2 * next_pause_s, pause_s)
        except TimeoutError:
            return ReplyUnknown(request_id=request_id)
        return reply

    def _write(self, directory: str, stem: str, body: str) -> None:
        target = self._box / directory / f"{stem}.json"
        temporary = target.with_name(temporary_name(target.name))
        try:
            temporary.write_text(body, encoding="utf-8")
            os.rename(temporary, target)
        except OSError as error:
            raise Unavailable(
                f"The box takes no request in {directory!r}: {error.strerror}.",
                code=ErrorCode.STORE_UNAVAILABLE,
                suggestion="Try again in a moment.",
            ) from error


def new_file_stem() -> str:
    """A fresh file name that sorts after all that this machine's processes made before it.

    The machine's monotonic clock is the same for every process of a box and never steps back.
    """
    return f"{time.monotonic_ns():020d}-{new_id('r')}"


def _read_reply(path: Path) -> Reply | None:
    """The reply, or None while there is none. It is renamed in whole; a broken one will not mend."""
    try:
        return from_json(Reply, path.read_bytes())
    except FileNotFoundError:
        return None
    except WireError as error:
        raise Unavailable(f"The orchestrator's reply is unreadable: {error}.") from error
