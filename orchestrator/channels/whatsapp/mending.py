"""Texts of protobuf objects that are no UTF-8: a sender can put anything there, and the library takes it."""

from typing import Any, Final

_STRING: Final = 9
"""The type number of text fields (`descriptor.proto`)."""


def mended(message: Any) -> Any:
    """The object itself if all its texts can be read; else a copy in which the rest is `\ufffd`."""
    if not _has_broken_text(message):
        return message
    copied = type(message)()
    copied.CopyFrom(message)
    _mend(copied)
    return copied


def _has_broken_text(message: Any) -> bool:
    for field, value in message.ListFields():
        values = _values(field, value)
        if field.type == _STRING and any(isinstance(each, bytes) for each in values):
            return True
        if field.message_type is not None and any(map(_has_broken_text, values)):
            return True
    return False


def _mend(message: Any) -> None:
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in _values(field, value):
                _mend(each)
        elif field.type == _STRING and field.is_repeated:
            value[:] = [_text(each) for each in value]
        elif field.type == _STRING:
            setattr(message, field.name, _text(value))


def _values(field: Any, value: Any) -> list[Any]:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return []  # no map of theirs holds what we read
    return list(value) if field.is_repeated else [value]


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
