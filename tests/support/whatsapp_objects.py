"""Any protobuf object, for tests that promise something of all of them."""

from typing import Any, Final

from hypothesis import strategies as st

_TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["@4915199999999", "4915199999999@s.whatsapp.net", "1:2@lid", "@", "[Photo]", "\x00\u202e"]
)
_SCALARS: Final[dict[int, st.SearchStrategy[Any]]] = {
    1: st.floats(),
    2: st.floats(width=32),
    3: st.integers(-(2**63), 2**63 - 1),
    4: st.integers(0, 2**64 - 1),
    5: st.integers(-(2**31), 2**31 - 1),
    6: st.integers(0, 2**64 - 1),
    7: st.integers(0, 2**32 - 1),
    8: st.booleans(),
    9: _TEXTS,
    12: st.binary(max_size=8),
    13: st.integers(0, 2**32 - 1),
    15: st.integers(-(2**31), 2**31 - 1),
    16: st.integers(-(2**63), 2**63 - 1),
}
_MAX_DEPTH: Final = 5


@st.composite
def objects(draw: st.DrawFn, kind: Any, depth: int = 0) -> Any:
    """Any object of a protobuf class, with a few of its fields set to anything."""
    made = kind()
    fields = [field for field in kind.DESCRIPTOR.fields if not _is_map(field)]
    fields = [field for field in fields if field.message_type is None or depth < _MAX_DEPTH]
    for field in draw(st.lists(st.sampled_from(fields), max_size=3, unique_by=_name)) if fields else []:
        count = draw(st.integers(0, 3)) if field.is_repeated else 1
        values = [draw(_value(made, field, depth)) for _ in range(count)]
        if field.message_type is None and not field.is_repeated:
            setattr(made, field.name, values[0])
        elif field.message_type is None:
            getattr(made, field.name).extend(values)
        else:
            for value in values:
                _into(made, field).CopyFrom(value)
    return made


def _into(made: Any, field: Any) -> Any:
    target = getattr(made, field.name)
    if field.is_repeated:
        return target.add()
    target.SetInParent()
    return target


def _name(field: Any) -> str:
    return str(field.name)


def _is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _value(made: Any, field: Any, depth: int) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return objects(type(_probe(made, field)), depth + 1)
    if field.enum_type is not None:
        return st.sampled_from([value.number for value in field.enum_type.values])
    return _SCALARS[field.type]


def _probe(made: Any, field: Any) -> Any:
    """An object of the class that the field holds; `made` stays as it is."""
    empty = type(made)()
    target = getattr(empty, field.name)
    return target.add() if field.is_repeated else target
