"""The message within the wrappers: disappearing, view-once, edited, sent from another device, and so on.

Read by name from protobuf objects of `neonize`, so that reading them needs no library.
"""

from typing import Any, Final

MAX_DEPTH: Final = 10
_OTHER_WRAPPERS: Final = frozenset({"deviceSentMessage", "commentMessage"})


def unwrap(message: Any) -> Any:
    """The innermost message of a `Message`; itself if it is not wrapped. Deeper than 10 is left as it is."""
    return layers(message)[-1]


def layers(message: Any) -> list[Any]:
    """A `Message` and what it wraps, from the outside in; the last one is what `unwrap` gives."""
    found = [message]
    while len(found) <= MAX_DEPTH and (inner := _within(found[-1])) is not None:
        found.append(inner)
    return found


def is_wrapper(field: Any) -> bool:
    """Whether a field of a `Message` holds nothing but another one."""
    is_plain = field.message_type is not None and field.message_type.name == "FutureProofMessage"
    return is_plain or field.name in _OTHER_WRAPPERS


def _within(message: Any) -> Any | None:
    for field, value in message.ListFields():
        if is_wrapper(field) and value.HasField("message"):
            return value.message
    return None
