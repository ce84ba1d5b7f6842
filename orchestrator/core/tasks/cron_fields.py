"""Reads a cron expression by a grammar of our own, so that croniter sees only numbers.

What croniter also takes is refused here: seconds and years, `R`, `H`, `W`, `?`, other `@` words. What it
reads oddly is made plain: it widens `5-5` to the whole field, gives up on `1,5#2`, and loses the day of
month beside a `#`. Source: contracts.md section 7.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestrator.contracts.errors import InvalidSchedule
from orchestrator.core.tasks.refusal import quoted, refusal

WORDS: Final[Mapping[str, str]] = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
"""The expressions that have a word of their own."""

_MAX_CHARS: Final = 500
"""Every field written out as a list takes about 400."""
_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MOST_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True, kw_only=True)
class CronFields:
    """What a cron expression says.

    grids: expressions of plain numbers, `*`, `l`, `5#2` and `l5`; a time of any of them is one of the
    whole, since a day of month and a day of week that are both given mean either.
    has_fixed_times: minute and hour are numbers or lists of numbers: no `*`, no range, no step.
    """

    grids: tuple[str, ...]
    has_fixed_times: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """One of the five. aliases: numbers past the end, as 7 is Sunday."""

    name: str
    low: int
    high: int
    allowed: str
    names: Mapping[str, int] = field(default_factory=dict)
    aliases: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """What a field says. numbers: None means any. specials: `l`, `5#2`, `l5`."""

    text: str
    numbers: frozenset[int] | None
    specials: tuple[str, ...]
    is_fixed: bool


_FORMS: Final = "ranges (2-5), lists (2,5) and steps (*/2)"
_MINUTE: Final = _Kind(name="minute", low=0, high=59, allowed=f"0-59, {_FORMS}")
_HOUR: Final = _Kind(name="hour", low=0, high=23, allowed=f"0-23, {_FORMS}")
_DAY: Final = _Kind(name="day-of-month", low=1, high=31, allowed=f"1-31, L for the last day, {_FORMS}")
_MONTH: Final = _Kind(
    name="month",
    low=1,
    high=12,
    allowed=f"1-12 or JAN-DEC, {_FORMS}",
    names={name: place for place, name in enumerate(_MONTHS, start=1)},
)
_WEEKDAY: Final = _Kind(
    name="day-of-week",
    low=0,
    high=6,
    allowed=f"0-7 or SUN-SAT (0 and 7 are Sunday), FRI#2 for the second Friday, L5 for the last, {_FORMS}",
    names={name: place for place, name in enumerate(_WEEKDAYS)},
    aliases={7: 0},
)

_ITEM: Final = re.compile(r"(\*|[0-9]{1,2}|[A-Z]{3})(?:-([0-9]{1,2}|[A-Z]{3}))?(?:/([0-9]{1,3}))?")
_NTH: Final = re.compile(r"([0-9]|[A-Z]{3})#([1-5])")
_LAST: Final = re.compile(r"L([0-9]|[A-Z]{3})|([0-9]|[A-Z]{3})L")


def read_cron(text: str) -> CronFields:
    """What `text` says. Raises InvalidSchedule, naming the field, what it holds and what it takes.

    text: five fields, or one of `WORDS`; upper and lower case are the same. A range may pass the end:
    `22-2` is 22, 23, 0, 1, 2. `*/1` is `*`. The last Friday is `L5` or `5L`, by number or by name.
    """
    minute_text, hour_text, day_text, month_text, weekday_text = _five_texts(text)
    minute, hour = _read(_MINUTE, minute_text), _read(_HOUR, hour_text)
    day, month = _read(_DAY, day_text, _day_special), _read(_MONTH, month_text)
    weekday = _read(_WEEKDAY, weekday_text, _weekday_special)
    _check_days_exist(day, month)

    start, of_month = f"{_written(minute)} {_written(hour)}", _written(month)
    grids = []
    # The last day is a grid of its own: croniter takes thirty numbers and `l` for all days of a month.
    if day.numbers or (day.numbers is None and weekday.numbers is None):
        grids.append(f"{start} {_written(day)} {of_month} *")
    if day.specials:
        grids.append(f"{start} {','.join(day.specials)} {of_month} *")
    if weekday.numbers:
        grids.append(f"{start} * {of_month} {_joined(weekday.numbers)}")
    if weekday.specials:
        grids.append(f"{start} * {of_month} {','.join(weekday.specials)}")
    return CronFields(grids=tuple(grids), has_fixed_times=minute.is_fixed and hour.is_fixed)


def _five_texts(text: str) -> Sequence[str]:
    if len(text) > _MAX_CHARS:
        raise refusal(
            f"The cron schedule has {len(text)} characters.",
            field="cron",
            value=text,
            allowed=f"at most {_MAX_CHARS} characters",
        )
    plain = text.strip(" \t")
    if plain.startswith("@"):
        return _word_meaning(plain).split()
    # Only what is ASCII: the capital of a long s is an S, and a no-break space is no border of fields.
    parts = [part for part in re.split(r"[ \t]+", plain.upper() if plain.isascii() else plain) if part]
    if len(parts) != 5:
        raise refusal(
            f"The cron schedule {quoted(text)} has {len(parts)} fields, not 5.",
            field="cron",
            value=text,
            allowed="minute hour day-of-month month day-of-week",
            suggestion="Write minute hour day-of-month month day-of-week, as in '0 9 * * MON-FRI', "
            f"or one of {' '.join(WORDS)}.",
        )
    return parts


def _word_meaning(word: str) -> str:
    known = WORDS.get(word.lower())
    if known is None:
        raise refusal(
            f"The cron schedule is {quoted(word)}, a word that is not known.",
            field="cron",
            value=word,
            allowed=f"one of {' '.join(WORDS)}, or five fields",
        )
    return known


def _no_special(item: str) -> str | None:
    return None


def _day_special(item: str) -> str | None:
    return "l" if item == "L" else None


def _weekday_special(item: str) -> str | None:
    if nth := _NTH.fullmatch(item):
        return f"{_weekday_number(nth[1], item)}#{nth[2]}"
    if last := _LAST.fullmatch(item):
        return f"l{_weekday_number(last[1] or last[2], item)}"
    return None


def _weekday_number(text: str, item: str) -> int:
    number = _number(_WEEKDAY, text, item)
    return _WEEKDAY.aliases.get(number, number)


def _read(kind: _Kind, text: str, special: Callable[[str], str | None] = _no_special) -> _Field:
    """What one field says. special: what croniter calls an item that is not a number, if it is one."""
    numbers: set[int] = set()
    specials: list[str] = []
    is_any, is_fixed = False, True
    for item in text.split(","):
        named = special(item)
        if named is not None:
            specials.append(named)
            continue
        numbers.update(_numbers(kind, item))
        is_any = is_any or item in ("*", "*/1")
        is_fixed = is_fixed and not any(sign in item for sign in "*-/")
    return _Field(
        text=text,
        numbers=None if is_any else frozenset(numbers),
        specials=() if is_any else tuple(dict.fromkeys(specials)),
        is_fixed=is_fixed,
    )


def _numbers(kind: _Kind, item: str) -> Sequence[int]:
    """The numbers that a `*`, a number or a range stands for, or every so many of them with a step."""
    found = _ITEM.fullmatch(item)
    if found is None or (found[1] == "*" and found[2]):
        raise _bad_item(kind, item)
    step = _step(kind, item, found[3])
    if found[1] == "*":
        return range(kind.low, kind.high + 1, step)
    first = _number(kind, found[1], item)
    last = _number(kind, found[2], item) if found[2] else (kind.high if found[3] else first)
    # Aliases come last, so that `5-7` rises: Friday, Saturday, Sunday.
    return [kind.aliases.get(number, number) for number in _walk(kind, first, last)[::step]]


def _walk(kind: _Kind, first: int, last: int) -> Sequence[int]:
    """From the first to the last, past the end of the field if need be."""
    if first <= last:
        return range(first, last + 1)
    return [*range(first, kind.high + 1), *range(kind.low, last + 1)]


def _step(kind: _Kind, item: str, digits: str | None) -> int:
    if digits is None:
        return 1
    step, most = int(digits), kind.high - kind.low + 1
    if not 1 <= step <= most:  # `*/90` would be each hour: not what its writer means
        raise _bad_item(kind, item, f", a step that is not in 1-{most}")
    return step


def _number(kind: _Kind, text: str, item: str) -> int:
    """The number that `text` is or names, aliases as they are."""
    number = kind.names.get(text)
    if number is None:
        number = int(text) if text.isdigit() else -1
    if not kind.low <= number <= kind.high and number not in kind.aliases:
        raise _bad_item(kind, item)
    return number


def _check_days_exist(day: _Field, month: _Field) -> None:
    """Refuse a day of month that none of the months has, such as 30 February."""
    if day.numbers is None or day.specials:
        return
    longest = max(_MOST_DAYS[number - 1] for number in month.numbers or range(1, 13))
    if min(day.numbers) > longest:
        raise refusal(
            f"The day-of-month field of the cron schedule holds {quoted(day.text)}, "
            f"which never comes in the month {quoted(month.text)}.",
            field=_DAY.name,
            value=day.text,
            allowed=f"1-{longest} in that month, or L for its last day",
        )


def _written(said: _Field) -> str:
    return "*" if said.numbers is None else _joined(said.numbers)


def _joined(numbers: frozenset[int]) -> str:
    return ",".join(map(str, sorted(numbers)))


def _bad_item(kind: _Kind, item: str, why: str = "") -> InvalidSchedule:
    return refusal(
        f"The {kind.name} field of the cron schedule holds {quoted(item)}{why}.",
        field=kind.name,
        value=item,
        allowed=kind.allowed,
    )
