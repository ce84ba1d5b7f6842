"""Which bodies ask a provider to reach elsewhere on an agent's behalf: web tools, remote servers, files.

A container without a network must not borrow its provider's. Names of fields are compared without
case and underscores, as lenient servers do. Source: agents.md section 5.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, assert_never

from orchestrator.contracts.records.providers import WireFormat

# Tools that the agent's own program runs; whatever else has a type runs at the provider.
_ANTHROPIC_TOOLS: Final = ("bash_", "computer_", "memory_", "text_editor_", "tool_search_tool_")
_OPENAI_CHAT_TOOLS: Final = frozenset({"function", "custom"})
_OPENAI_TOOLS: Final = frozenset(
    {
        "apply_patch", "computer", "computer_use_preview", "custom", "function", "local_shell", "namespace",
        "shell", "tool_search",
    }
)  # fmt: skip
_GEMINI_TOOLS: Final = frozenset({"functiondeclarations", "computeruse"})
# Fields of a whole request that switch such a tool on, with routers and compatible servers in mind.
_OPENAI_SWITCHES: Final = ("mcpservers", "plugins", "searchparameters", "websearchoptions")
_SEARCHING_MODELS: Final = ("-search", ":online", "deep-research")
# Below a message, what a model or tool has said: any JSON, or links that nobody follows.
_SAID: Final = frozenset({"annotations", "args", "arguments", "input", "logprobs", "response"})


def why_it_reaches_elsewhere(wire: WireFormat, body: Mapping[str, Any]) -> str | None:
    """What in the body asks the provider to reach elsewhere, as the end of a sentence; None: nothing."""
    match wire:
        case WireFormat.ANTHROPIC:
            return _anthropic(body)
        case WireFormat.OPENAI_CHAT | WireFormat.OPENAI_RESPONSES:
            return _openai(body, _OPENAI_CHAT_TOOLS if wire is WireFormat.OPENAI_CHAT else _OPENAI_TOOLS)
        case WireFormat.GEMINI:
            return _gemini(body)
        case _:
            assert_never(wire)


def _anthropic(body: Mapping[str, Any]) -> str | None:
    if any(_fields(body, "mcpservers")):
        return "it names remote MCP servers (mcp_servers)"
    for tool in _objects(body, "tools"):
        for kind in _fields(tool, "type"):
            if kind is not None and kind != "custom" and not str(kind).startswith(_ANTHROPIC_TOOLS):
                return f"it uses the provider's tool {_shown(kind)}"
    contents = [*_fields(body, "system")]
    for message in _objects(body, "messages"):
        contents += _fields(message, "content")
    return _first_link(contents, _anthropic_link)


def _anthropic_link(block: Mapping[str, Any]) -> str | None:
    for source in _fields(block, "source"):
        if isinstance(source, Mapping) and (
            any(_fields(source, "url", "fileid")) or {"url", "file"} & {*map(str, _fields(source, "type"))}
        ):
            return "it names a file for the provider to fetch (source)"
    return "it names a file at the provider (file_id)" if any(_fields(block, "fileid")) else None


def _openai(body: Mapping[str, Any], tools: frozenset[str]) -> str | None:
    for switch in _OPENAI_SWITCHES:
        # An empty object switches it on too, with its defaults.
        if any(value is not None and value != [] for value in _fields(body, switch)):
            return f"it switches on {switch}"
    if any(isinstance(value, Mapping) for value in _fields(body, "prompt")):
        return "it names a prompt at the provider, which may hold tools (prompt)"
    for model in _fields(body, "model"):
        if any(mark in str(model).lower() for mark in _SEARCHING_MODELS):
            return f"the model {_shown(model)} searches the web"
    if (tool := _openai_tool(body, tools)) is not None:
        return f"it uses the provider's tool {tool}"
    contents: list[Any] = []
    for item in (*_objects(body, "messages"), *_objects(body, "input")):
        contents += [{key: value for key, value in item.items() if isinstance(value, str)}]
        contents += _fields(item, "content", "output")
    return _first_link(contents, _openai_link)


def _openai_tool(body: Mapping[str, Any], allowed: frozenset[str]) -> str | None:
    waiting = [*_objects(body, "tools")]
    while waiting:
        tool = waiting.pop()
        for kind in _fields(tool, "type"):
            if kind not in allowed:
                return _shown(kind)
        for place in _fields(tool, "environment"):
            if not isinstance(place, Mapping) or [*_fields(place, "type")] != ["local"]:
                return "shell in a container of its own"
        waiting += _objects(tool, "tools")
    return None


def _openai_link(part: Mapping[str, Any]) -> str | None:
    for key, value in part.items():
        name = _folded(key)
        if name in {"fileid", "fileids"} and value:
            return "it names a file at the provider (file_id)"
        links = [*_fields(value, "url")] if isinstance(value, Mapping) else [value]
        if name.endswith("url") and any(link and not _is_inline(link) for link in links):
            return f"it names a file for the provider to fetch ({_shown(key)})"
    return None


def _gemini(body: Mapping[str, Any]) -> str | None:
    contents: list[Any] = []
    for request in (body, *_objects_of(_fields(body, "generatecontentrequest"))):
        for tool in _objects(request, "tools"):
            for name in tool:
                if _folded(name) not in _GEMINI_TOOLS:
                    return f"it uses the provider's tool {_shown(name)}"
        if any(_fields(request, "cachedcontent")):
            return "it names a cache at the provider (cachedContent)"
        contents += _fields(request, "contents", "systeminstruction")
    return _first_link(contents, _gemini_link)


def _gemini_link(part: Mapping[str, Any]) -> str | None:
    return "it names a file for the provider to fetch (fileData)" if any(_fields(part, "filedata")) else None


def _first_link(contents: list[Any], link_in: Callable[[Mapping[str, Any]], str | None]) -> str | None:
    """What `link_in` says of the first object it objects to, at any depth of what is no tool's own JSON."""
    waiting = contents
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, Mapping):
            if (found := link_in(value)) is not None:
                return found
            waiting += [below for key, below in value.items() if _folded(key) not in _SAID]
    return None


def _fields(holder: Mapping[str, Any], *names: str) -> Iterator[Any]:
    return (value for key, value in holder.items() if _folded(key) in names)


def _objects(holder: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    return _objects_of(_fields(holder, name))


def _objects_of(values: Iterator[Any]) -> Iterator[Mapping[str, Any]]:
    for value in values:
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, Mapping):
                yield each


def _is_inline(link: object) -> bool:
    return isinstance(link, str) and link[:5].lower() == "data:"


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _shown(value: object) -> str:
    return ascii(value)[:60]
