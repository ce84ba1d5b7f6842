"""JSON in its one possible reading: what two parsers could take for different things is refused."""

import json
from typing import Any, Final

# A value costs a hundred bytes of memory and two of text: what holds more is no conversation.
_MAX_VALUES: Final = 2_000_000


class UnreadableBody(ValueError):
    """Why a body is not taken; the text says it to a person."""


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object that the body holds, in UTF-8. Raises UnreadableBody."""
    if body.count(b",") + body.count(b"[") + body.count(b"{") > _MAX_VALUES:
        raise UnreadableBody(f"The body holds more than {_MAX_VALUES:,} values.")
    try:
        parsed = json.loads(body.decode("utf-8"), object_pairs_hook=_without_doubles)
    except UnreadableBody:
        raise
    except (ValueError, RecursionError):
        raise UnreadableBody("The body is not JSON in UTF-8.") from None
    if not isinstance(parsed, dict):
        raise UnreadableBody("The body is not a JSON object.")
    return parsed


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise UnreadableBody("A JSON object names a field twice.")
    return found
