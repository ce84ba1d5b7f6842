"""What a sentence about reminders asks for: what is to be said, and when; or which one is meant."""

import re
from dataclasses import dataclass
from typing import Final

from container.drivers.time_words import (
    EveryDay,
    TimeWords,
    clock_alone,
    completed,
    folded,
    is_complete,
    time_at_end,
    time_at_start,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to say and when, as far as the sentence tells."""

    text: str = ""
    when: TimeWords | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Which reminder, and what it becomes. text: empty keeps it; when: None keeps it."""

    which: str
    text: str = ""
    when: TimeWords | None = None


REMIND: Final = r"(?:remind (?:me|us|everyone|everybody|all)|(?:set|add|make|create) (?:a )?reminder)"
"""The words that ask for a reminder, as a pattern; a space is one blank."""
_REMIND: Final = re.compile(rf"{REMIND}(?: for)?\b[ ,:]*", re.IGNORECASE)
_JOINT: Final = re.compile(r"[\s,:;]*(?:(?:to|that|about|of)\b[\s:,]*)?", re.IGNORECASE)
_TO: Final = re.compile(r"\s(?:to|into)\s", re.IGNORECASE)
_NUMBER: Final = re.compile(r"#?([0-9]{1,6})")


def asked_in(sentence: str) -> Asked:
    """What a sentence wants to be reminded of; it may begin with `remind me` or with the time."""
    text = folded(sentence)
    remind = _REMIND.match(text)
    if remind is not None:
        text = text[remind.end() :]
    found = time_at_start(text)
    at_end = time_at_end(text if found is None else found[1])
    if found is not None:
        # `tomorrow to call Ada at 10`
        whole = None if at_end is None else completed(found[0], at_end[1])
        if at_end is not None and whole is not None:
            return Asked(when=whole, text=_thing(at_end[0]))
        return Asked(when=found[0], text=_thing(found[1]))
    if at_end is not None:
        return Asked(when=at_end[1], text=_thing(at_end[0]))
    return Asked(text=_thing(text))


def answered(asked: Asked, answer: str) -> Asked | None:
    """What is asked for with what the answer to a question about it adds; None if it adds nothing."""
    text = folded(answer)
    found = time_at_start(text)
    when = clock_alone(text) or (found[0] if found is not None and not found[1].strip() else None)
    if when is None:
        return None if asked.text else Asked(text=_thing(text), when=asked.when)
    # Only a time of day: the day that was said before stays.
    whole = None if asked.when is None else completed(asked.when, when)
    return Asked(text=asked.text, when=whole or when)


def begins_with_time(sentence: str) -> bool:
    """Whether a sentence without `remind me` asks for a reminder all the same: `every day at 7:30 …`."""
    found = time_at_start(folded(sentence))
    if found is None or not found[1].strip():
        return False
    return is_complete(found[0]) or isinstance(found[0], EveryDay)


def change_in(words: str) -> Change | None:
    """What `N to …` changes; None where the new is missing."""
    text = folded(words)
    cut = _TO.search(text)
    if cut is None:
        return None
    which, new = text[: cut.start()].strip(), text[cut.end() :].strip()
    clock = clock_alone(new)
    if clock is not None:
        return Change(which=which, when=clock)
    at_start = time_at_start(new)
    if at_start is not None and (is_complete(at_start[0]) or not at_start[1].strip()):
        return Change(which=which, when=at_start[0], text=_thing(at_start[1]))
    at_end = time_at_end(new)
    if at_end is not None and is_complete(at_end[1]):
        return Change(which=which, when=at_end[1], text=_thing(at_end[0]))
    return Change(which=which, text=new)


def number_in(words: str) -> int | None:
    """The number of a reminder, if it is named by one."""
    found = _NUMBER.fullmatch(words.strip())
    return None if found is None else int(found[1])


def _thing(text: str) -> str:
    """The text itself, without what joins it to the time, nor `remind me` behind one."""
    joint = _JOINT.match(text)
    text = text[joint.end() :] if joint else text
    remind = _REMIND.match(text)
    if remind is not None:
        joint = _JOINT.match(text, remind.end())
        text = text[joint.end() if joint else remind.end() :]
    return text.strip()
