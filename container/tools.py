"""The tools of an agent: requests for a model, and their answers in its words.

Made from the `TOOLS` of the wire's areas. Standard library only, so that a driver may use them without a
tool server. Source: contracts.md section 5.
"""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

from container.box_client import BoxClient, ReplyUnknown, Request
from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest, NotFound
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.wire import chat_requests, group_requests, task_requests
from orchestrator.contracts.wire.boxes import TASKS_SNAPSHOT
from orchestrator.contracts.wire.codec import WireError, parse_json
from orchestrator.contracts.wire.replies import Reply, ReplyError
from orchestrator.contracts.wire.tools import CHAT_TOOLS, GROUP_TOOLS, TASK_TOOLS, Tool, ToolInput

REPLY_WAIT_S: Final = 30.0
"""So long a tool waits for its answer. A box at its rate limit is answered within this."""

TOOLSETS: Final[Mapping[str, Sequence[Tool]]] = {
    CHAT_TOOLS: chat_requests.TOOLS,
    TASK_TOOLS: task_requests.TOOLS,
    GROUP_TOOLS: group_requests.TOOLS,
}
"""Every tool, set by set, in the order in which they are listed."""
ALL_TOOLS: Final[Mapping[str, Tool]] = {tool.name: tool for tools in TOOLSETS.values() for tool in tools}
_USUAL: Final = (CHAT_TOOLS, TASK_TOOLS)

_LISTED_PROMPT_CHARS: Final = 1_000
_JSON_TYPES: Final[Mapping[type, str]] = {str: "string", bool: "boolean"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What the model is given. content: the whole answer; text: the same for people, short."""

    text: str
    content: Mapping[str, object]
    is_error: bool = False


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

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolAnswer:
        """Do what the tool is for and wait for the answer; whatever goes wrong is an answer, too.

        Cancelled, it takes nothing back: the request may be carried out.
        """
        try:
            tool = find_tool(name, self.tools)
            request = request_for(tool, self._from_workspace(tool, arguments), chat=self._chat)
            reply = await self._client.request(request, timeout_s=self._reply_wait_s)
        except DovecoteError as error:
            return _failure(
                ReplyError(code=error.code.value, message=error.message, suggestion=error.suggestion)
            )
        if isinstance(reply, ReplyUnknown):
            return await self._unanswered(tool)
        return _answer(tool, reply)

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
            listed = _success(tool, {"tasks": known, "isSnapshot": True})
            note = "The orchestrator does not answer; this is how it last wrote them down. "
            return ToolAnswer(text=note + listed.text, content=listed.content)
        outcome = "" if tool.only_reads else " Whether it was or will be carried out is unknown."
        return _failure(
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


def input_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, each with its meaning, an example and its default."""
    properties: dict[str, Any] = {}
    for name, given in tool.inputs.items():
        kind, default = _field(tool, name)
        schema: dict[str, Any] = {"type": _JSON_TYPES[kind], "description": given.about}
        if given.choices:
            schema["enum"] = list(given.choices)
        if default not in (MISSING, None):
            schema["default"] = default
        properties[name] = schema | {"examples": [given.example]}
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in tool.inputs if _field(tool, name)[1] is MISSING],
        "additionalProperties": False,
    }


def request_for(tool: Tool, arguments: Mapping[str, object], *, chat: Jid) -> Request:
    """The request that a call stands for, for the agent's own chat. Raises InvalidRequest.

    An argument that is null counts as left out.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    unknown = [name for name in given if name not in tool.inputs]
    if unknown:
        takes = ", ".join(tool.inputs) or "no arguments"
        raise InvalidRequest(
            f"{tool.name} has no argument {unknown[0][:64]!r}.", suggestion=f"It takes: {takes}."
        )
    for name, about in tool.inputs.items():
        _check(tool, name, about, given)
    if tool.shape is chat_requests.SendFile:
        return chat_requests.SendFile(**given).as_message(chat)  # type: ignore[arg-type]  # checked above
    if tool.request is chat_requests.SendMessage:
        given["chat_jid"] = chat
    return cast(Request, tool.request(**given))


def _check(tool: Tool, name: str, about: ToolInput, given: Mapping[str, object]) -> None:
    kind, default = _field(tool, name)
    if name not in given:
        if default is MISSING:
            raise InvalidRequest(
                f"{tool.name} needs the argument {name!r}.",
                suggestion=f"Give it, for example {json.dumps(about.example)}.",
            )
        return
    value = given[name]
    if not isinstance(value, kind):
        raise InvalidRequest(
            f"{name!r} has to be a {_JSON_TYPES[kind]}, and is {json.dumps(value)[:64]}.",
            suggestion=f"Give it as in {json.dumps(about.example)}.",
        )
    if about.choices and value not in about.choices:
        raise InvalidRequest(
            f"{name!r} is {json.dumps(value)[:64]}, which it does not take.",
            suggestion=f"Use one of: {', '.join(about.choices)}.",
        )


def _field(tool: Tool, name: str) -> tuple[type, Any]:
    """The type of a request's field, and its default; MISSING where there is none."""
    shape: type[Any] = tool.shape or tool.request
    [default] = [each.default for each in fields(shape) if each.name == name]
    hint = _hints(shape)[name]
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    [kind] = [option for option in options if option is not NoneType]
    return getattr(kind, "__supertype__", kind), default


def _hints(request: type[Any]) -> Mapping[str, Any]:
    return get_type_hints(request)


def _answer(tool: Tool, reply: Reply) -> ToolAnswer:
    if reply.ok:
        return _success(tool, reply.result or {})
    return _failure(
        reply.error
        or ReplyError(code=ErrorCode.INTERNAL_ERROR.value, message="It was refused, nobody says why.")
    )


def _success(tool: Tool, result: Mapping[str, object]) -> ToolAnswer:
    tasks = result.get("tasks")
    if not isinstance(tasks, list):
        return ToolAnswer(text=tool.done.format_map(_Words(result)), content=result)
    listed = [_shortened(task) for task in tasks if isinstance(task, Mapping)]
    lines = [_LISTED.format_map(_Words(task)) for task in listed]
    text = "\n".join([tool.done.format_map(_Words({"count": len(listed)})), *lines])
    return ToolAnswer(text=text, content={**result, "tasks": listed})


def _shortened(task: Mapping[str, object]) -> Mapping[str, object]:
    """A task of a list, without the end of a long prompt: a hundred of them would bury a model."""
    prompt = str(task.get("prompt", ""))
    if len(prompt) <= _LISTED_PROMPT_CHARS:
        return task
    return {**task, "prompt": f"{prompt[:_LISTED_PROMPT_CHARS]}…"}


_LISTED: Final = "- {id} ({status}): {title}; {scheduleType} {scheduleValue}, next {nextRun}"


class _Words(dict[str, object]):
    """A result for a sentence; what it lacks, or is null, reads as none."""

    def __init__(self, result: Mapping[str, object]) -> None:
        super().__init__({name: value for name, value in result.items() if value is not None})

    def __missing__(self, _name: str) -> str:
        return "none"


def _failure(error: ReplyError) -> ToolAnswer:
    told: dict[str, object] = {"code": error.code, "message": error.message}
    if error.suggestion is not None:
        told["suggestion"] = error.suggestion
    if error.details:
        told["details"] = error.details
    said = " ".join(part for part in (error.message, error.suggestion) if part)
    return ToolAnswer(text=f"{error.code}: {said}", content={"error": told}, is_error=True)


def _snapshot(path: Path) -> list[object] | None:
    """The tasks as they were last written down; None if they are not. Blocks for a small file."""
    try:
        tasks = parse_json(path.read_bytes())
    except (OSError, WireError):
        return None
    return tasks if isinstance(tasks, list) else None
