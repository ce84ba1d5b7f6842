"""How wire values become JSON and come back: snake_case here, camelCase on the wire.

Frozen dataclasses rather than models of a validation library, because the agent runner has to be
ready in 150 ms and 40 MiB. The host validates the same classes strictly at its doors.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, TypeVar, Union, get_args, get_origin, get_type_hints

W = TypeVar("W", bound="Wire")


class WireError(ValueError):
    """What arrived is not of the form that was expected; the text names the field."""


def camel(name: str) -> str:
    """`group_folder` as it is spelled on the wire: `groupFolder`."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


class Wire:
    """Base of what crosses the wall. Subclasses are frozen, slotted, keyword-only dataclasses.

    A field's name on the wire is its camelCase form, unless `wire_names` gives another.
    """

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"alias_generator": camel, "extra": "ignore"}
    wire_names: ClassVar[Mapping[str, str]] = {}


def to_plain(value: object) -> Any:
    """`value` as JSON types. A field that is None is left out: absent and null mean the same."""
    if isinstance(value, Wire):
        names = value.wire_names
        plain: dict[str, Any] = {}
        for field in fields(value):  # type: ignore[arg-type]  # every Wire subclass is a dataclass
            item = getattr(value, field.name)
            if item is not None:
                plain[names.get(field.name) or camel(field.name)] = to_plain(item)
        return plain
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value


def to_json(value: object) -> str:
    """`value` as JSON on one line. Line separators inside texts are escaped by JSON itself."""
    return json.dumps(to_plain(value), ensure_ascii=False, separators=(",", ":"))


def from_json(kind: type[W], text: str | bytes) -> W:
    """The value that `text` holds. Unknown keys are passed over. Raises WireError."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"{kind.__name__}: not JSON: {error}") from None
    return from_plain(kind, plain)


def from_plain(kind: type[W], plain: object) -> W:
    """The value that the JSON object `plain` stands for. Raises WireError."""
    if not isinstance(plain, dict):
        raise WireError(f"{kind.__name__}: expected an object, got {type(plain).__name__}")
    values: dict[str, Any] = {}
    for name, wire_name, hint, required in _shape(kind):
        if wire_name in plain and (plain[wire_name] is not None or required):
            values[name] = _convert(hint, plain[wire_name], f"{kind.__name__}.{wire_name}")
        elif required:
            raise WireError(f"{kind.__name__}: {wire_name!r} is missing")
    return kind(**values)


@cache
def _shape(kind: type[Wire]) -> tuple[tuple[str, str, Any, bool], ...]:
    """Of each field: its name, its name on the wire, its type, whether it must be there."""
    hints = get_type_hints(kind)
    return tuple(
        (
            field.name,
            kind.wire_names.get(field.name) or camel(field.name),
            hints[field.name],
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(kind)  # type: ignore[arg-type]  # every Wire subclass is a dataclass
    )


_SCALARS: Final[Mapping[object, tuple[type, ...]]] = {
    str: (str,),
    int: (int,),
    float: (int, float),
    bool: (bool,),
    NoneType: (NoneType,),
}


def _convert(hint: Any, value: Any, where: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _convert_union(get_args(hint), value, where)
    if origin is tuple and isinstance(value, list):
        inner = get_args(hint)[0]
        return tuple(_convert(inner, item, f"{where}[{n}]") for n, item in enumerate(value))
    if origin is not None and issubclass(origin, Mapping) and isinstance(value, dict):
        return value
    if is_dataclass(hint) and isinstance(hint, type) and issubclass(hint, Wire):
        return from_plain(hint, value)
    if hint in (object, Any):
        return value
    base = _base_type(hint)
    if isinstance(value, _SCALARS.get(base, (base,))) and not (base is not bool and isinstance(value, bool)):
        return hint(value) if isinstance(hint, type) and hint is not base else value
    if isinstance(hint, type) and issubclass(hint, str) and isinstance(value, str):
        try:
            return hint(value)
        except ValueError:
            raise WireError(f"{where}: {value!r} is not one of its values") from None
    raise WireError(f"{where}: expected {getattr(hint, '__name__', hint)}, got {type(value).__name__}")


def _convert_union(options: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and NoneType in options:
        return None
    chosen = [option for option in options if option is not NoneType]
    return _convert(chosen[0], value, where) if len(chosen) == 1 else value


def _base_type(hint: Any) -> Any:
    """The type behind a `NewType`."""
    while hasattr(hint, "__supertype__"):
        hint = hint.__supertype__
    return hint
