"""What is said of a field that is wrong: its name and, of one that nobody knows, the one that was meant."""

import re
from collections.abc import Collection, Sequence
from typing import Final

_MAX_SHOWN: Final = 40
_UNKNOWN: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_MISSING: Final = frozenset({"missing", "missing_argument"})
_OTHER_WORDS: Final = {
    **dict.fromkeys(
        ("limit", "n", "max", "number", "size", "pagesize", "perpage", "pagelimit", "top"), "count"
    ),
    **dict.fromkeys(("after", "cursor", "from", "offset"), "since"),
}
"""What others call what we call so; without underscores."""
_SHOULD: Final = re.compile(r"^\w+ should ")

_OUR_WORDS: Final = (
    (re.compile(r"\b(a valid integer|an? integer)\b.*"), "a whole number"),
    (re.compile(r"\ba valid string\b.*"), "a text"),
    (re.compile(r"\ba (valid|finite) number\b.*"), "a number"),
    (re.compile(r"\ba valid boolean\b.*"), "true or false"),
    (re.compile(r"\ba valid (list|tuple|set|frozenset|array)\b.*"), "a list"),
    (re.compile(r"\ba valid (dictionary|mapping|object)\b.*"), "an object"),
    (re.compile(r"\bgreater than or equal to\b"), "at least"),
    (re.compile(r"\bless than or equal to\b"), "at most"),
)


def unknown_field(given: Collection[str], known: Collection[str], *, within: str = "") -> str | None:
    """What is wrong with the first field of `given` that is not in `known`; None if all are known.

    within: the path of the object that has them, of one that is not the whole.
    """
    strange = next((name for name in given if name not in known), None)
    if strange is None:
        return None
    meant = _nearest(strange, known)
    path = f"{within}." if within else ""
    ask = "" if meant is None else f" (did you mean {path + meant!r}?)"
    return f"{path + strange[:_MAX_SHOWN]!r} is not known{ask}"


def wrong_field(place: Sequence[str | int], kind: str, words: str, known: Collection[str]) -> str:
    """What is wrong with the field at `place`: kind and words as pydantic has them.

    known: the fields of the object that it is in.
    """
    *within, last = [str(part) for part in place] or ["the whole"]
    if kind in _UNKNOWN and (fault := unknown_field([last], known, within=".".join(within))) is not None:
        return fault
    name = ".".join([*within, last])
    if kind in _MISSING:
        return f"{name!r} is missing"
    ours = in_our_words(words)
    said = _SHOULD.sub("must ", ours)
    return f"{name!r} {said}" if said != ours else f"{name!r}: {ours}"


def in_our_words(words: str) -> str:
    """What pydantic says of a value, as people say it: a whole number, a text, at least 1."""
    said = words.removeprefix("Value error, ")
    for theirs, ours in _OUR_WORDS:
        said = theirs.sub(ours, said)
    return said


def _nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that is spelled most like it, or that means the same."""
    # Only who errs pays for its import.
    from difflib import get_close_matches

    plain = {_plain(each): each for each in reversed(tuple(known))}  # of two spellings the first
    wanted = _plain(name[:_MAX_SHOWN])
    found = get_close_matches(wanted, plain, n=1)
    return plain[found[0]] if found else plain.get(_OTHER_WORDS.get(wanted, ""))


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()
