"""`/mcp/spawn`: seed 000's tools for programs outside."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from orchestrator.api.spawn_body import read_spawn
from orchestrator.api.toolsets.config import CONFIG_SCHEMA, SpawnConfig
from orchestrator.api.toolsets.serving import Object, ProgramCaller, ServedTool
from orchestrator.commands.agents.agent_views import agent_views, as_metadata
from orchestrator.commands.running.stopping import stop_cascade
from orchestrator.commands.services import Services
from orchestrator.commands.setup.api_keys import check_scope
from orchestrator.commands.spawning.spawn_calls import spawn_and_wait, spawn_response
from orchestrator.commands.spawning.spawn_rendering import as_cascade
from orchestrator.contracts.errors import DovecoteError, ErrorCode, InvalidRequest
from orchestrator.contracts.ids import AgentId
from orchestrator.contracts.records.spawns import OnParentExit, RestartPolicy, SpawnProfile, WaitFor
from orchestrator.contracts.records.tokens import Scope

NAME: Final = "dovecote-spawn"
INSTRUCTIONS: Final = (
    "These tools start agents in containers of their own on this machine, show how they stand, and stop "
    "them. An agent gets a task in words and a workspace; its answer is its output. An error names a code, "
    "what is wrong, and what to do."
)
_TEXT: Final = {"type": "string"}
_AGENT: Final = {"type": "string", "description": "The id of an agent, as agent-… from an earlier answer."}
_SPAWN_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "task": {**_TEXT, "description": "What the agent is to do, in words that need nothing else."},
        "workspace_path": {
            **_TEXT,
            "description": "Absolute path of the directory that it works in; left out: the parent's, or an "
            "empty one of its own.",
        },
        "writable_paths": {
            "type": "array",
            "items": _TEXT,
            "description": "Files and directories (with / at the end) in the workspace that it may write.",
        },
        "timeout_ms": {
            "type": "integer",
            "minimum": 1,
            "maximum": 86_400_000,
            "description": "Its time in milliseconds; left out: one hour.",
        },
        "parent_agent_id": {**_AGENT, "description": "The agent below which it is started; left out: none."},
        "wait": {
            "type": "string",
            "enum": [each.value for each in WaitFor],
            "description": "How long this call stays: result (the usual) until it has ended, ready, or none.",
        },
        "profile": {"type": "string", "enum": [each.value for each in SpawnProfile]},
        "on_parent_exit": {"type": "string", "enum": [each.value for each in OnParentExit]},
        "restart_policy": {
            "type": "string",
            "enum": [each.value for each in RestartPolicy],
            "description": "Whether it is started again after it has ended by itself; left out: never.",
        },
        "permissions": {
            "type": "object",
            "properties": {
                name: {"type": "boolean"} for name in ("canSpawn", "chat", "inheritGitHubToken", "detach")
            },
        },
        "name": {**_TEXT, "description": "What people call it."},
        "idempotency_key": {**_TEXT, "description": "The same key again is the same agent, not another one."},
    },
    "required": ["task"],
}

_SEE_AGENTS: Final = "See which there are: get_agent_status without an agent_id."
_ADVICE: Final = {
    ErrorCode.AGENT_NOT_FOUND: _SEE_AGENTS,
    ErrorCode.PARENT_NOT_FOUND: _SEE_AGENTS,
    ErrorCode.WORKSPACE_NOT_ALLOWED: "Ask the operator to allow it: manage_config with the section "
    "workspaces and the action propose.",
}
"""What a program that has these tools can do about an error."""


@contextlib.contextmanager
def _advice_of_tools() -> Iterator[None]:
    """What is refused within names tools, not commands of a terminal."""
    try:
        yield
    except DovecoteError as error:
        error.suggestion = _ADVICE.get(error.code, error.suggestion)
        raise


class SpawnToolset:
    """The four tools, each one operation of the command layer."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._config = SpawnConfig(services)

    def tools(self) -> tuple[ServedTool, ...]:
        """What the server offers."""
        return (
            ServedTool(
                name="spawn_docker_agent",
                about="Start an agent and, unless told otherwise, stay until it has ended: status completed, "
                "failed or timeout, with its output and the files that it changed.",
                schema=_SPAWN_SCHEMA,
                call=self._spawn,
                takes_camel_case=True,
            ),
            ServedTool(
                name="get_agent_status",
                about="How one agent stands, or all of them, each with its parent, children, depth and tree.",
                schema={"type": "object", "properties": {"agent_id": _AGENT}},
                call=self._status,
                only_reads=True,
            ),
            ServedTool(
                name="terminate_agent",
                about="Stop an agent and all below it, and say of each what came of it.",
                schema={"type": "object", "properties": {"agent_id": _AGENT}, "required": ["agent_id"]},
                call=self._terminate,
                ends_something=True,
            ),
            ServedTool(
                name="manage_config",
                about="The directories that agents may be given, the limits, and what was audited last. To "
                "propose a directory is to ask the operator; to approve one needs his own credential.",
                schema=CONFIG_SCHEMA,
                call=self._config.call,
            ),
        )

    async def _spawn(self, caller: ProgramCaller, given: Mapping[str, Any]) -> Object:
        check_scope(caller, Scope.SPAWN)
        asked = read_spawn(dict(given))
        work = spawn_and_wait(self._services, caller, asked.spec, parent=asked.parent, reword=asked.reword)
        with _advice_of_tools():
            return spawn_response(await work)

    async def _status(self, caller: ProgramCaller, given: Mapping[str, Any]) -> Object:
        agent_id = given.get("agent_id")
        named = None if agent_id is None else _agent_id(agent_id)
        with _advice_of_tools():
            found = await agent_views(self._services, caller, named)
        return {"agents": [as_metadata(each) for each in found]}

    async def _terminate(self, caller: ProgramCaller, given: Mapping[str, Any]) -> Object:
        check_scope(caller, Scope.STOP)
        agent_id = _agent_id(given.get("agent_id"))
        with _advice_of_tools():
            return as_cascade(await stop_cascade(self._services, caller, agent_id))


def _agent_id(given: object) -> AgentId:
    if not isinstance(given, str):
        raise InvalidRequest("agent_id is missing, or no text.", suggestion="Give the id of an agent.")
    return AgentId(given)
