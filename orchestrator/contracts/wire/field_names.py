"""What is said of a field that nobody knows: its name, and the one that was probably meant."""

from collections.abc import Collection
from typing import Final

_MAX_SHOWN: Final = 40


def unknown_field(given: Collection[str], known: Collection[str]) -> str | None:
    """What is wrong with the first field of `given` that is not in `known`; None if all are known."""
    strange = next((name for name in given if name not in known), None)
    if strange is None:
        return None
    meant = _nearest(strange, known)
    ask = "" if meant is None else f" (did you mean {meant!r}?)"
    return f"{strange[:_MAX_SHOWN]!r} is not known{ask}"


def _nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that is spelled most like it."""
    # Only who errs pays for its import.
    from difflib import get_close_matches

    plain = {_plain(each): each for each in reversed(tuple(known))}  # of two spellings the first
    found = get_close_matches(_plain(name[:_MAX_SHOWN]), plain, n=1)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()
