"""What a model is given for a call of a tool. Standard library only. Source: contracts.md section 5."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.wire.replies import Reply, ReplyError
from orchestrator.contracts.wire.tools import Tool

_LISTED_PROMPT_CHARS: Final = 1_000
_LISTED: Final = "- {id} ({status}): {title}; {scheduleType} {scheduleValue}, next {nextRun}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What the model is given. content: the whole answer; text: the same for people, short."""

    text: str
    content: Mapping[str, object]
    is_error: bool = False


class Words(dict[str, object]):
    """A result for a sentence; what it lacks, or is null, reads as none."""

    def __init__(self, result: Mapping[str, object]) -> None:
        super().__init__({name: value for name, value in result.items() if value is not None})

    def __missing__(self, _name: str) -> str:
        return "none"


def answer_of(tool: Tool, reply: Reply) -> ToolAnswer:
    """The answer that a reply stands for."""
    return success(tool, reply.result or {}) if reply.ok else failure(error_of(reply))


def error_of(reply: Reply) -> ReplyError:
    """Why a request was refused."""
    unsaid = ReplyError(code=ErrorCode.INTERNAL_ERROR.value, message="It was refused, and nobody says why.")
    return reply.error or unsaid


def success(tool: Tool, result: Mapping[str, object]) -> ToolAnswer:
    """The answer to what was done; a list of tasks one by one."""
    tasks = result.get("tasks")
    if not isinstance(tasks, list):
        return ToolAnswer(text=tool.done.format_map(Words(result)), content=result)
    listed = [_shortened(task) for task in tasks if isinstance(task, Mapping)]
    lines = [_LISTED.format_map(Words(task)) for task in listed]
    text = "\n".join([tool.done.format_map(Words({"count": len(listed)})), *lines])
    return ToolAnswer(text=text, content={**result, "tasks": listed})


def failure(error: ReplyError) -> ToolAnswer:
    """The answer to what was refused or went wrong: its code, and what to do."""
    told: dict[str, object] = {"code": error.code, "message": error.message}
    if error.suggestion is not None:
        told["suggestion"] = error.suggestion
    if error.details:
        told["details"] = error.details
    said = " ".join(part for part in (error.message, error.suggestion) if part)
    return ToolAnswer(text=f"{error.code}: {said}", content={"error": told}, is_error=True)


def _shortened(task: Mapping[str, object]) -> Mapping[str, object]:
    """A task of a list, without the end of a long prompt: a hundred of them would bury a model."""
    prompt = str(task.get("prompt", ""))
    if len(prompt) <= _LISTED_PROMPT_CHARS:
        return task
    return {**task, "prompt": f"{prompt[:_LISTED_PROMPT_CHARS]}…"}
