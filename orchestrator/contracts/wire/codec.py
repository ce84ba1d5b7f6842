"""How wire values become JSON and come back: snake_case here, camelCase on the wire.

Frozen dataclasses rather than models of a validation library, because the agent runner has to be
ready in 150 ms and 40 MiB. The host validates the same classes strictly at its doors.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from orchestrator.contracts.wire.field_names import unknown_field

W = TypeVar("W", bound="Wire")

_BEYOND: Final = 1 << 63
"""The first integer that no store takes."""
_MAX_DIGITS: Final = 20
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# An escaped one may be half of a good pair; this only says where a look is worth its time.
_MAY_HOLD_LONE_SURROGATES: Final = re.compile("\\\\u[dD][89a-fA-F]|[\ud800-\udfff]")


_AS_THEY_ARE: Final = frozenset({str, int, float, bool})
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class WireError(ValueError):
    """What arrived is not of the form that was expected; the text names the field."""


def camel(name: str) -> str:
    """`group_folder` as it is spelled on the wire: `groupFolder`."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


class Wire:
    """Base of what crosses the wall. Subclasses are frozen, slotted, keyword-only dataclasses.

    A field's name on the wire is its camelCase form, unless `wire_names` gives another. Keys that are not
    known are passed over, but by an `ExactWire`.
    """

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"alias_generator": camel, "extra": "ignore"}
    wire_names: ClassVar[Mapping[str, str]] = {}
    is_exact: ClassVar[bool] = False


class ExactWire(Wire):
    """What would mean more than was said if a key of it were passed over, such as a right that is denied."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"alias_generator": camel, "extra": "forbid"}
    is_exact: ClassVar[bool] = True


def without_lone_surrogates(text: str) -> str:
    """`text` with halves of surrogate pairs replaced: no encoder takes them, and JSON can smuggle them in."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def to_plain(value: object) -> Any:
    """`value` as JSON types. A field that is None is left out: absent and null mean the same."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, Wire):
        plain: dict[str, Any] = {}
        for name, wire_name in _names(type(value)):  # type: ignore[arg-type]  # a class is hashable
            item = getattr(value, name)
            if type(item) in _AS_THEY_ARE:
                plain[wire_name] = item
            elif item is not None:
                plain[wire_name] = to_plain(item)
        return plain
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value


def to_json(value: object) -> str:
    """`value` as JSON on one line that any encoder takes. Raises ValueError on NaN and infinities."""
    return without_lone_surrogates(_ENCODER.encode(to_plain(value)))


def parse_json(text: str | bytes) -> Any:
    """What `text` holds, as JSON types. Raises WireError.

    Stricter than the parser beneath: UTF-8 only, no NaN, no infinities, no integer beyond 64 bits, no key
    twice in an object.
    Halves of surrogate pairs are replaced; a byte order mark is passed over.
    """
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
        plain = json.loads(
            decoded.removeprefix("\ufeff"),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_bounded,
        )
        return _whole(plain) if _MAY_HOLD_LONE_SURROGATES.search(decoded) else plain
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {error}") from None


def from_json(kind: type[W], text: str | bytes) -> W:
    """The value that `text` holds. Unknown keys are passed over. Raises WireError."""
    try:
        plain = parse_json(text)
    except WireError as error:
        raise WireError(f"{kind.__name__}: {error}") from None
    return from_plain(kind, plain)


def from_plain(kind: type[W], plain: object, *, where: str | None = None) -> W:
    """The value that the JSON object `plain` stands for. Raises WireError.

    where: its path in what it is part of.
    """
    path = where or kind.__name__
    if not isinstance(plain, dict):
        raise WireError(f"{path}: expected an object, got {_in_json(type(plain))}")
    if kind.is_exact and (fault := unknown_field(plain, names_on_wire(kind), within=where or "")) is not None:
        raise WireError(fault if where else f"{path}: {fault}")
    values: dict[str, Any] = {}
    for name, wire_name, hint, is_required in _shape(kind):  # type: ignore[arg-type]  # a class is hashable
        if plain.get(wire_name) is not None or (is_required and wire_name in plain):
            values[name] = _convert(hint, plain[wire_name], f"{path}.{wire_name}")
        elif is_required:
            raise WireError(f"{path}: {wire_name!r} is missing")
    return kind(**values)


def names_on_wire(kind: type[Wire]) -> tuple[str, ...]:
    """The names on the wire of all of its fields."""
    return tuple(name for _, name in _names(kind))  # type: ignore[arg-type]  # a class is hashable


def names_at(kind: type[Wire], place: Sequence[object]) -> tuple[str, ...]:
    """The names on the wire of the fields of what lies at a path in a value; none if that has none."""
    found: Any = kind
    for step in place:
        hints = {wire_name: hint for _, wire_name, hint, _ in _shape(found)}
        hint = hints.get(str(step))
        found = next((each for each in (hint, *get_args(hint)) if _is_wire(each)), None)
        if found is None:
            return ()
    return names_on_wire(found)


def _is_wire(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Wire)


@cache
def _names(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    """Of each field: its name, and its name on the wire."""
    return tuple((field.name, kind.wire_names.get(field.name) or camel(field.name)) for field in fields(kind))


@cache
def _shape(kind: type[Any]) -> tuple[tuple[str, str, Any, bool], ...]:
    """Of each field: its name, its name on the wire, its type, whether it must be there."""
    names = dict(_names(kind))  # type: ignore[arg-type]  # a class is hashable
    hints = get_type_hints(kind)
    return tuple(
        (
            field.name,
            names[field.name],
            hints[field.name],
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(kind)
    )


def _convert(hint: Any, value: Any, where: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _convert_union(arguments, value, where)
    if origin is None:
        return _convert_single(_base_type(hint), value, where)
    if issubclass(origin, Mapping) and isinstance(value, dict):
        return {key: _convert(arguments[1], item, f"{where}.{key[:40]}") for key, item in value.items()}
    if origin is tuple and isinstance(value, list):
        return tuple(_convert(arguments[0], item, f"{where}[{n}]") for n, item in enumerate(value))
    raise _mismatch(origin, value, where)


def _convert_union(options: Sequence[Any], value: Any, where: str) -> Any:
    if value is None and NoneType in options:
        return None
    *others, last = [option for option in options if option is not NoneType]
    for option in others:
        try:
            return _convert(option, value, where)
        except WireError:
            continue
    return _convert(last, value, where)


_ACCEPTED: Final[Mapping[object, tuple[type, ...]]] = {str: (str,), int: (int,), float: (int, float)}


def _convert_single(kind: Any, value: Any, where: str) -> Any:
    if kind in (object, Any):
        return value
    if isinstance(value, bool):  # Python's bool is an int; JSON's is not a number
        if kind is bool:
            return value
    elif issubclass(kind, Wire):
        return from_plain(kind, value, where=where)
    elif issubclass(kind, StrEnum) and isinstance(value, str):
        if value not in kind.__members__.values():
            raise WireError(f"{where}: {value[:40]!r} is not one of {', '.join(kind)}")
        return kind(value)
    elif isinstance(value, _ACCEPTED.get(kind, ())):
        return value
    raise _mismatch(kind, value, where)


def _mismatch(kind: Any, value: object, where: str) -> WireError:
    return WireError(f"{where}: expected {_in_json(kind)}, got {_in_json(type(value))}")


_JSON_WORDS: Final[Mapping[object, str]] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    NoneType: "null",
    list: "a list",
    tuple: "a list",
    dict: "an object",
    Mapping: "an object",
}


def _in_json(kind: Any) -> str:
    """A type of values as those who write JSON know it."""
    return _JSON_WORDS.get(kind) or ("a text" if issubclass(kind, str) else "an object")


def _base_type(hint: Any) -> Any:
    """The type behind a `NewType`."""
    while hasattr(hint, "__supertype__"):
        hint = hint.__supertype__
    return hint


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) != len(pairs):
        raise ValueError("a key comes twice in one object")
    return plain


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is out of range")
    return value


def _bounded(digits: str) -> int:
    value = int(digits) if len(digits) <= _MAX_DIGITS else _BEYOND
    if not -_BEYOND <= value < _BEYOND:
        raise ValueError("an integer is out of range")
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return without_lone_surrogates(value)
    if isinstance(value, dict):
        return {without_lone_surrogates(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value
