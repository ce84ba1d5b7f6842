"""TOML that people write, read so that whatever is wrong with it is one kind of error."""

import tomllib
from collections.abc import Iterable
from typing import Any, Final

_RANGE: Final = range(-(2**63), 2**63)


def load_toml(text: str) -> dict[str, Any]:
    """The tables that `text` holds; an editor's mark at its beginning is passed over.

    Raises TOMLDecodeError, also for what the standard library says otherwise or takes beyond the format:
    deep nesting, whole numbers of more than 64 bits.
    """
    try:
        tables = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # of a decimal number with thousands of digits
        raise tomllib.TOMLDecodeError("a whole number is too large") from None
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    _check_numbers(tables)
    return tables


def _check_numbers(tables: dict[str, Any]) -> None:
    waiting: list[object] = [tables]
    while waiting:
        value = waiting.pop()
        below: Iterable[object] = ()
        match value:
            case dict():
                below = value.values()
            case list():
                below = value
            case int() if value not in _RANGE:
                raise tomllib.TOMLDecodeError("a whole number is too large")
        waiting.extend(below)
