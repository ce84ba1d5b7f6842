"""The tools of an agent: requests for a model, and their answers in its words.

Made from the `TOOLS` of the wire's areas. Standard library only, so that a driver may use them without a
tool server. Source: contracts.md section 5.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from container.box_client import BoxClient, ReplyUnknown
from container.spawn_waits import SpawnWaits
from container.tool_answers import ToolAnswer, answer_of, failure, success
from container.tool_inputs import request_for
from orchestrator.contracts.errors import DovecoteError, ErrorCode, NotFound
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.wire import agent_requests, chat_requests, group_requests, task_requests
from orchestrator.contracts.wire.boxes import TASKS_SNAPSHOT
from orchestrator.contracts.wire.codec import WireError, parse_json
from orchestrator.contracts.wire.replies import ReplyError
from orchestrator.contracts.wire.tools import (
    CHAT_TOOLS,
    GROUP_TOOLS,
    PROGRESS_TOOLS,
    SPAWN_TOOLS,
    TASK_TOOLS,
    Tool,
)

REPLY_WAIT_S: Final = 30.0
"""So long a tool waits for its answer. A box at its rate limit is answered within this."""

TOOLSETS: Final[Mapping[str, Sequence[Tool]]] = {
    CHAT_TOOLS: chat_requests.TOOLS,
    TASK_TOOLS: task_requests.TOOLS,
    GROUP_TOOLS: group_requests.TOOLS,
    SPAWN_TOOLS: agent_requests.TOOLS,
    PROGRESS_TOOLS: (agent_requests.REPORT_PROGRESS,),
}
"""Every tool, set by set, in the order in which they are listed."""
ALL_TOOLS: Final[Mapping[str, Tool]] = {tool.name: tool for tools in TOOLSETS.values() for tool in tools}
_USUAL: Final = (CHAT_TOOLS, TASK_TOOLS)


class ToolBelt:
    """The tools, used for one agent through its box."""

    def __init__(
        self,
        *,
        box: Path,
        chat: Jid,
        workspace: Path | None = None,
        toolsets: Collection[str] = _USUAL,
        reply_wait_s: float = REPLY_WAIT_S,
    ) -> None:
        """workspace: where it lies in here; None: where a container has it."""
        self.tools = tools_of(toolsets)
        self._workspace = workspace
        self._box = box
        self._client = BoxClient(box)
        self._chat = chat
        self._reply_wait_s = reply_wait_s
        self._waits = SpawnWaits(self._client, reply_wait_s=reply_wait_s)

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        """Do what the tool is for and wait for the answer; whatever goes wrong is an answer, too.

        Cancelled, it takes nothing back: the request may be carried out.
        """
        try:
            tool = find_tool(name, self.tools)
            request = request_for(tool, self._from_workspace(tool, arguments), chat=self._chat)
            reply = await self._client.request(request, timeout_s=self._reply_wait_s)
            if isinstance(reply, ReplyUnknown):
                return await self._unanswered(tool)
            if tool in agent_requests.TOOLS:
                return await self._waits.answer(tool, request, reply)
            return answer_of(tool, reply)
        except DovecoteError as error:
            return failure(
                ReplyError(code=error.code.value, message=error.message, suggestion=error.suggestion)
            )

    def _from_workspace(self, tool: Tool, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """A path below the workspace, wherever that lies in here, as one that is relative to it."""
        path = arguments.get("path")
        below = f"{self._workspace}/"
        if (
            tool.shape is not chat_requests.SendFile
            or not isinstance(path, str)
            or not path.startswith(below)
        ):
            return arguments
        return {**arguments, "path": path.removeprefix(below)}

    async def _unanswered(self, tool: Tool) -> ToolAnswer:
        known = None
        if tool.request is task_requests.ListTasks:
            known = await asyncio.to_thread(_snapshot, self._box / TASKS_SNAPSHOT)
        if known is not None:
            listed = success(tool, {"tasks": known, "isSnapshot": True})
            note = "The orchestrator does not answer; this is how it last wrote them down. "
            return ToolAnswer(text=note + listed.text, content=listed.content)
        outcome = "" if tool.only_reads else " Whether it was or will be carried out is unknown."
        return failure(
            ReplyError(
                code=ErrorCode.TIMEOUT.value,
                message=f"No answer to {tool.name} within {self._reply_wait_s:g} s.{outcome}",
                suggestion=tool.doubt,
            )
        )


def tools_of(toolsets: Collection[str]) -> Mapping[str, Tool]:
    """The tools of these sets, by name; a set that is not known here adds none."""
    return {tool.name: tool for name, tools in TOOLSETS.items() if name in toolsets for tool in tools}


def find_tool(name: str, tools: Mapping[str, Tool] = ALL_TOOLS) -> Tool:
    """The one of these tools that has that name. Raises NotFound."""
    if name not in tools:
        raise NotFound(f"There is no tool {name[:64]!r}.", suggestion=f"Use one of: {', '.join(tools)}.")
    return tools[name]


def _snapshot(path: Path) -> list[object] | None:
    """The tasks as they were last written down; None if they are not. Blocks for a small file."""
    try:
        tasks = parse_json(path.read_bytes())
    except (OSError, WireError):
        return None
    return tasks if isinstance(tasks, list) else None
