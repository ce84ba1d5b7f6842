"""Protobuf objects as bytes, though a test sets only what it is about."""

from typing import Any


def filled(message: Any) -> bytes:
    """The object's bytes; required fields that nobody set are empty."""
    _fill(message)
    return bytes(message.SerializeToString())


def _fill(message: Any) -> None:
    for field in message.DESCRIPTOR.fields:
        is_message = field.message_type is not None
        if is_message and field.is_repeated:
            for each in getattr(message, field.name):
                _fill(each)
        elif is_message and (field.is_required or message.HasField(field.name)):
            _fill(getattr(message, field.name))
            getattr(message, field.name).SetInParent()
        elif field.is_required and not message.HasField(field.name):
            setattr(message, field.name, field.default_value)
