"""The tools, spoken as MCP; only the tool server has what it needs, `image/requirements-mcp.lock`."""

from typing import Final

import mcp_types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from container.tool_inputs import input_schema
from container.tools import ToolBelt

SERVER_NAME: Final = "dovecote"
_MAX_TEXT_CHARS: Final = 100_000
"""A model reads no more of one answer, and a client takes long over much more."""

_OF_THE_CHAT: Final = (
    "You are the assistant of one chat. send_message writes to it at once, send_file sends a file to it."
)
_OF_TASKS: Final = "The tools with task in their names keep tasks, which start you later with a prompt."
_OF_AGENTS: Final = (
    "spawn_agent has another agent do work for you and gives you its result; get_agent_status and "
    "terminate_agent are for those that you started."
)
_OF_ALL: Final = (
    "Each tool answers when the orchestrator has done it or refused it. An error names a code, what is "
    "wrong, and what to do; a TIMEOUT means that nobody knows yet whether it was done. Dates and times "
    "without an offset are in the time zone {zone}."
)
_ABOUT: Final = {"send_message": _OF_THE_CHAT, "schedule_task": _OF_TASKS, "spawn_agent": _OF_AGENTS}
"""What is said of a set, by the tool that tells it is there."""


async def serve(belt: ToolBelt, *, version: str, zone: str) -> None:
    """Answer on standard output what is asked on standard input, until that ends.

    zone: the IANA name of the chat's time zone, for the model.
    """
    server = _server(belt, version=version, zone=zone)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _server(belt: ToolBelt, *, version: str, zone: str) -> Server[dict[str, object]]:
    async def list_tools(
        _context: ServerRequestContext[dict[str, object]], _params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=_offered_tools(belt))

    async def call_tool(
        _context: ServerRequestContext[dict[str, object]], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        answer = await belt.call(params.name, params.arguments or {})
        return mcp_types.CallToolResult(
            content=[mcp_types.TextContent(type="text", text=answer.text[:_MAX_TEXT_CHARS])],
            structured_content=dict(answer.content),
            is_error=answer.is_error,
        )

    return Server(
        SERVER_NAME,
        version=version,
        instructions=_instructions(belt, zone),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _instructions(belt: ToolBelt, zone: str) -> str:
    about = [text for name, text in _ABOUT.items() if name in belt.tools]
    return " ".join([*about, _OF_ALL.format(zone=zone)])


def _offered_tools(belt: ToolBelt) -> list[mcp_types.Tool]:
    return [
        mcp_types.Tool(
            name=tool.name,
            description=tool.about,
            input_schema=input_schema(tool),
            annotations=mcp_types.ToolAnnotations(
                read_only_hint=tool.only_reads, destructive_hint=tool.ends_something, open_world_hint=False
            ),
        )
        for tool in belt.tools.values()
    ]
