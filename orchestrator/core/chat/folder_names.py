"""A folder's name made of what people call a chat."""

import re
import unicodedata
from collections.abc import Collection
from itertools import count
from typing import Final

from orchestrator.contracts.ids import GroupFolder, is_folder_name

_GERMAN: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")
_MAX_CHARS: Final = 40
_OTHERWISE: Final = "group"


def folder_name(name: str, *, taken: Collection[str]) -> GroupFolder:
    """A folder's name that is free, as near to `name` as one can be: `the-choir` for `The Choir`."""
    plain = unicodedata.normalize("NFKD", name.lower().translate(_GERMAN))
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    stem = _NOT_IN_NAMES.sub("-", letters)[:_MAX_CHARS].strip("-")
    stem = stem if is_folder_name(stem) else _OTHERWISE
    tries = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    return GroupFolder(next(each for each in tries if each not in taken))
