"""What a tool takes: its arguments as a schema for models, and a call of theirs as a request.

Source: contracts.md section 5.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from types import NoneType, UnionType
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

from container.box_client import Request
from orchestrator.contracts.errors import InvalidRequest
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.wire.chat_requests import SendMessage
from orchestrator.contracts.wire.tools import Tool, ToolInput


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A type of an argument: as a schema, in words, and the Python types that JSON has for it."""

    schema: Mapping[str, object]
    words: str
    types: tuple[type, ...]


_KINDS: Final[Mapping[object, _Kind]] = {
    str: _Kind(schema={"type": "string"}, words="a string", types=(str,)),
    bool: _Kind(schema={"type": "boolean"}, words="a boolean", types=(bool,)),
    int: _Kind(schema={"type": "integer"}, words="a whole number", types=(int,)),
    float: _Kind(schema={"type": "number"}, words="a number", types=(int, float)),
    tuple[str, ...]: _Kind(
        schema={"type": "array", "items": {"type": "string"}}, words="a list of strings", types=(list, tuple)
    ),
}


def input_schema(tool: Tool) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, each with its meaning, an example and its default."""
    properties: dict[str, Any] = {}
    for name, given in tool.inputs.items():
        kind, default = _field(tool, name)
        schema: dict[str, Any] = {**kind.schema, "description": given.about}
        if given.choices:
            schema["enum"] = list(given.choices)
        if default not in (MISSING, None, ()):
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
        if name in given:
            given[name] = _checked(_field(tool, name)[0], name, about, given[name])
        elif _field(tool, name)[1] is MISSING:
            raise InvalidRequest(
                f"{tool.name} needs the argument {name!r}.",
                suggestion=f"Give it, for example {json.dumps(about.example)}.",
            )
    if tool.shape is not None:
        return cast(Request, tool.shape(**given).as_request(chat))
    if tool.request is SendMessage:
        given["chat_jid"] = chat
    return cast(Request, tool.request(**given))


def _checked(kind: _Kind, name: str, about: ToolInput, value: object) -> object:
    """The argument as a request has it. Raises InvalidRequest."""
    if isinstance(value, float) and kind.types == (int,) and value.is_integer():
        value = int(value)  # some models write every number with a point
    is_odd_flag = isinstance(value, bool) and bool not in kind.types
    is_list = isinstance(value, list | tuple)
    if (
        not isinstance(value, kind.types)
        or is_odd_flag
        or (is_list and not all(isinstance(each, str) for each in cast(list[object], value)))
    ):
        raise InvalidRequest(
            f"{name!r} has to be {kind.words}, and is {json.dumps(value)[:64]}.",
            suggestion=f"Give it as in {json.dumps(about.example)}.",
        )
    if about.choices and value not in about.choices:
        raise InvalidRequest(
            f"{name!r} is {json.dumps(value)[:64]}, which it does not take.",
            suggestion=f"Use one of: {', '.join(about.choices)}.",
        )
    return tuple(cast(list[str], value)) if is_list else value


def _field(tool: Tool, name: str) -> tuple[_Kind, Any]:
    """The type of a request's field, and its default; MISSING where there is none."""
    shape: type[Any] = tool.shape or tool.request
    [default] = [each.default for each in fields(shape) if each.name == name]
    hint = get_type_hints(shape)[name]
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    [kind] = [option for option in options if option is not NoneType]
    return _KINDS[getattr(kind, "__supertype__", kind)], default
