"""What a model is told of agents that it starts, asks for and stops, in the shapes of seed 000.

Source: agents.md sections 1 and 2.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from container.tool_answers import ToolAnswer, Words, failure, success
from orchestrator.contracts.errors import ErrorCode
from orchestrator.contracts.wire.agent_requests import SPAWN_AGENT
from orchestrator.contracts.wire.replies import ReplyError
from orchestrator.contracts.wire.tools import Tool

RUNNING: Final = "running"
ENDED: Final = frozenset({"completed", "failed", "timed_out", "terminated"})
"""The lifecycles of agents of which it is known that they are gone."""
_MOST_OUTPUT_CHARS: Final = 60_000
"""Of one agent's output: a model reads no more of it, and the agent's record has all."""
_MOST_NAMED: Final = 50
_WHERE_KNOWN: Final = {"files_modified": "filesModified", "error": "error"}
_LISTED: Final = "- {id} ({lifecycle}) {name}: {task}"
_MOST_TASK_CHARS: Final = 200
_SEED_TEXTS: Final[Mapping[str, str]] = {
    ErrorCode.SPAWN_DISABLED: "Nested spawning is disabled",
    ErrorCode.DEPTH_EXCEEDED: "Depth limit exceeded",
    ErrorCode.QUOTA_EXCEEDED: "Tree agent limit exceeded",
    ErrorCode.PARENT_NOT_FOUND: "Parent agent not found",
    ErrorCode.PARENT_NOT_RUNNING: "Parent agent not running",
    ErrorCode.WORKSPACE_NOT_ALLOWED: "Workspace not allowed",
}
"""How the source document says what these codes mean."""


def spawned(answer: Mapping[str, object], told: Mapping[str, object]) -> ToolAnswer:
    """`SpawnAgentResponse`, and what we know beyond it.

    answer: what the host said at once. told: how the agent stood later; empty: nobody waited for that.
    """
    quota = answer.get("quotaInfo")
    given = {name: told.get(key) for name, key in _WHERE_KNOWN.items()}
    others = {"shared_with": told["sharedWith"]} if told.get("sharedWith") else {}
    content: dict[str, object] = {
        "agent_id": answer.get("agentId"),
        "status": told.get("status", RUNNING),
        "exit_code": told.get("exitCode"),
        "output": _cut(told.get("output")),
        "duration_ms": told.get("durationMs", 0),
        **{name: value for name, value in given.items() if value is not None},
        **others,
        "quota_info": _quota(quota if isinstance(quota, Mapping) else {}),
        "tree_id": answer.get("treeId"),
        "depth": answer.get("depth"),
        "effective_timeout_ms": answer.get("effectiveTimeoutMs"),
        "capped_by": answer.get("cappedBy"),
    }
    return ToolAnswer(text=_story(content), content=content)


def not_spawned(error: ReplyError) -> ToolAnswer:
    """Why an agent was not started, in the words of the source document and in ours."""
    text = _SEED_TEXTS.get(error.code, "")
    if not text or error.message.startswith(text):
        return failure(error)
    return failure(replace(error, message=f"{text}. {error.message}"))


def listed(tool: Tool, result: Mapping[str, object]) -> ToolAnswer:
    """How agents stand, a line each; of one alone also what it said."""
    found = result.get("agents")
    known = found if isinstance(found, list | tuple) else ()
    agents = [_shortened(each) for each in known if isinstance(each, Mapping)]
    lines = [_LISTED.format_map(Words(_shown(each))) for each in agents[:_MOST_NAMED]]
    if len(agents) > _MOST_NAMED:
        lines.append(f"- … and {len(agents) - _MOST_NAMED} more")
    if len(agents) == 1:
        lines += [str(agents[0][key]) for key in ("output", "error") if agents[0].get(key)]
    text = "\n".join([tool.done.format_map(Words({"count": len(agents)})), *lines])
    return ToolAnswer(text=text, content={**result, "agents": agents})


def stopped(tool: Tool, result: Mapping[str, object], after: Mapping[str, str]) -> ToolAnswer:
    """`TerminateAgentResponse`. after: how those that were told to stop stood at last, by their ids."""
    wanted = ids_in(result, "stopping")
    failed = [each for each in wanted if after.get(each, "") not in ENDED]
    gone = [each for each in wanted if each not in failed] + ids_in(result, "terminated")
    content: dict[str, object] = {
        "success": not failed,
        "terminated": gone,
        "failed": [{"agentId": each, "error": _why_not_gone(after.get(each))} for each in failed],
        "skipped": ids_in(result, "skipped"),
        "totalProcessed": result.get("totalProcessed", len(wanted)),
    }
    told = success(tool, content)
    text = f"{told.text} Not gone: {', '.join(failed)}." if failed else told.text
    return ToolAnswer(text=text, content=content)


def ids_in(result: Mapping[str, object], key: str) -> list[str]:
    """The ids that a result lists under a key."""
    found = result.get(key)
    return [str(each) for each in found] if isinstance(found, list | tuple) else []


def _story(content: Mapping[str, object]) -> str:
    seconds = f"{_whole(content['duration_ms']) / 1000:.1f} s"
    match content["status"]:
        case "completed":
            begin = f"Agent {content['agent_id']} has completed its task in {seconds}."
        case "timeout":
            begin = f"Agent {content['agent_id']} was stopped after {seconds}: its time was over."
        case "failed":
            begin = f"Agent {content['agent_id']} has failed after {seconds}: {content.get('error', '')}"
        case _:
            return SPAWN_AGENT.done.format_map(Words(content))
    files = content.get("files_modified")
    names = [str(each) for each in files] if isinstance(files, list | tuple) else []
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    changed = f"Files changed: {', '.join(names[:_MOST_NAMED])}{more}" if names else ""
    return "\n\n".join(part for part in (begin, str(content["output"]), changed) if part)


def _quota(quota: Mapping[str, object]) -> Mapping[str, object]:
    return {
        "tree_agents_remaining": quota.get("treeAgentsRemaining"),
        "depth_remaining": quota.get("depthRemaining"),
    }


def _shortened(agent: Mapping[str, object]) -> Mapping[str, object]:
    return agent if not agent.get("output") else {**agent, "output": _cut(agent["output"])}


def _shown(agent: Mapping[str, object]) -> Mapping[str, object]:
    task = " ".join(str(agent.get("task", "")).split())
    return {**agent, "task": task[:_MOST_TASK_CHARS]}


def _cut(output: object) -> str:
    """An output without its middle, where it is long: beginning and end say most."""
    text = "" if output is None else str(output)
    left_out = len(text) - _MOST_OUTPUT_CHARS
    if left_out <= 0:
        return text
    half = _MOST_OUTPUT_CHARS // 2
    return f"{text[:half]}\n[… {left_out} characters left out …]\n{text[-half:]}"


def _why_not_gone(lifecycle: str | None) -> str:
    if lifecycle is None:
        return "It was told to stop, and nothing was heard of it."
    if lifecycle == "lost":
        return "It was told to stop, and nobody knows whether it still runs."
    return "It was told to stop, and is not gone yet."


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
