"""A toolset as an MCP server over streamable HTTP: who calls is known by the bearer, as on every route."""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import mcp_types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from orchestrator.api.body_limit import Receive, Scope, Send
from orchestrator.api.closing import Closing
from orchestrator.api.credentials import Credentials
from orchestrator.api.denials import deny
from orchestrator.api.gate import peer_of
from orchestrator.api.presence import while_open
from orchestrator.contracts.callers import KeyCaller, OperatorCaller
from orchestrator.contracts.errors import DovecoteError, InvalidRequest
from orchestrator.contracts.version import VERSION
from orchestrator.contracts.wire.codec import camel
from orchestrator.contracts.wire.field_names import unknown_field

Object = Mapping[str, object]
ProgramCaller = OperatorCaller | KeyCaller
_CALLER: Final = "dovecote.caller"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTool:
    """One tool. schema: of its arguments, in JSON. call: does it; what it raises is told to the client.

    takes_camel_case: each argument in that spelling, too.
    """

    name: str
    about: str
    schema: Object
    call: Callable[[ProgramCaller, Mapping[str, Any]], Coroutine[Any, Any, Object]]
    only_reads: bool = False
    ends_something: bool = False
    takes_camel_case: bool = False


class ToolsetServer:
    """An ASGI application. `sessions.run()` has to be entered while it serves."""

    def __init__(
        self,
        name: str,
        instructions: str,
        tools: Sequence[ServedTool],
        *,
        credentials: Credentials,
        closing: Closing,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._credentials = credentials
        self._closing = closing
        server: Server[Any] = Server(
            name,
            version=VERSION,
            instructions=instructions,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        # Without sessions: each request brings its credential, and a restart of ours breaks nobody's session.
        self.sessions = StreamableHTTPSessionManager(server, stateless=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request of a caller with a good credential."""
        try:
            self._closing.check()
            caller = await self._credentials.caller(_authorization(scope), peer=peer_of(scope))
        except DovecoteError as error:
            await deny(scope, send, error)
            return
        await self.sessions.handle_request({**scope, _CALLER: caller}, receive, send)

    async def _list(
        self, _context: ServerRequestContext[Any, Any], _params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=[_offered(tool) for tool in self._tools.values()])

    async def _call(
        self, context: ServerRequestContext[Any, Any], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        assert context.request is not None
        caller: ProgramCaller = context.request.scope[_CALLER]
        try:
            tool = self._tools.get(params.name)
            if tool is None:
                raise InvalidRequest(
                    f"There is no tool {params.name[:80]!r} here.",
                    suggestion=f"There are {', '.join(self._tools)}.",
                )
            _check_names(tool, params.arguments or {})
            told = await while_open(self._closing, tool.call(caller, params.arguments or {}))
        except DovecoteError as error:
            return _result(_refusal(error), is_error=True)
        return _result(told, is_error=False)


def _check_names(tool: ServedTool, given: Mapping[str, Any]) -> None:
    """A tool would pass over what it does not know, and do other than was meant. Raises InvalidRequest."""
    properties = tool.schema.get("properties")
    names = list(properties) if isinstance(properties, Mapping) else []
    fault = unknown_field(given, [*names, *map(camel, names)] if tool.takes_camel_case else names)
    if fault is not None:
        takes = f"It takes: {', '.join(names)}." if names else "It takes none."
        raise InvalidRequest(f"The argument {fault}.", suggestion=takes)


def _offered(tool: ServedTool) -> mcp_types.Tool:
    return mcp_types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=dict(tool.schema),
        annotations=mcp_types.ToolAnnotations(
            read_only_hint=tool.only_reads, destructive_hint=tool.ends_something, open_world_hint=False
        ),
    )


def _result(told: Object, *, is_error: bool) -> mcp_types.CallToolResult:
    text = json.dumps(told, ensure_ascii=False)
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(type="text", text=text)],
        structured_content=dict(told),
        is_error=is_error,
    )


def _refusal(error: DovecoteError) -> Object:
    told: dict[str, object] = {"error": error.message, "code": error.code.value}
    if error.suggestion:
        told["suggestion"] = error.suggestion
    if error.retry_after_s is not None:
        told["retry_after_s"] = error.retry_after_s
    return told | error.details


def _authorization(scope: Scope) -> str | None:
    found = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
    return found[0] if len(found) == 1 else None
