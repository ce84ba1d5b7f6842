"""Times in plain English: what a text begins or ends with, before it is asked which instants these are."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from functools import cache
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """So long from now. Days are days of the calendar, whatever the clocks do."""

    days: int = 0
    seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDay:
    """Today, tomorrow or the day after."""

    days_ahead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Weekday:
    """A day of the week, 0 is Monday; is_next: said as `next monday`."""

    number: int
    is_next: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarDay:
    """A date; without a year it is the next one."""

    month: int
    day: int
    year: int | None = None


Day: TypeAlias = NearDay | Weekday | CalendarDay


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A day, a time of day, or both. is_bare_hour: a number alone, which some mean as one of the evening."""

    day: Day | None = None
    clock: time | None = None
    is_bare_hour: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryDay:
    """A time of day on some days of the week. days: as the fifth field of cron says it."""

    days: str
    clock: time | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Again and again after so many seconds."""

    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """Surely meant as a time, but which one has to be asked; the question is one sentence."""

    question: str


TimeWords: TypeAlias = Delay | Moment | EveryDay | Interval | Unclear

MAX_DELAY_S: Final = 10 * 365 * 24 * 3600
_SECONDS: Final[Mapping[str, int]] = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_NUMBERS: Final[Mapping[str, int]] = {
    **{"a": 1, "an": 1, "one": 1, "two": 2, "other": 2, "three": 3, "four": 4, "five": 5, "six": 6},
    **{"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12},
}
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_FIELDS: Final[Mapping[str, str]] = {"weekday": "1-5", "workday": "1-5", "weekend": "0,6", "day": "*"}

_NUMBER: Final = "(?:[0-9]{1,6} ?|(?:" + "|".join(_NUMBERS) + ") )"
_UNIT: Final = r"(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)\b"
_AMOUNT: Final = rf"(?:{_NUMBER}{_UNIT}|half an hour)"
_WEEKDAY: Final = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?)"
)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_END: Final = r"(?!\w|[:.,][0-9])"
_SURE_CLOCK: Final = (
    r"(?P<{0}word>noon|midday|midnight)\b|(?P<{0}hour>[0-9]{{1,2}})"
    r"(?:[:.](?P<{0}minute>[0-9]{{2}})(?: ?(?P<{0}half>[ap])\.?m\b)?| ?(?P<{0}half_alone>[ap])\.?m\b)"
)
_ANY_CLOCK: Final = (
    r"(?P<{0}word>noon|midday|midnight)\b|(?P<{0}hour>[0-9]{{1,2}})(?:[:.](?P<{0}minute>[0-9]{{2}}))?"
    r"(?: ?(?P<{0}half>[ap])\.?m\b)?(?P<{0}half_alone>)(?: ?o['’]?clock\b)?"
)
_DAY: Final = (
    r"(?:(?P<today>today)|(?P<tomorrow>tomorrow)|(?P<after>(?:the )?day after tomorrow)"
    rf"|(?:on )?(?P<next>next )?(?P<weekday>{_WEEKDAY})"
    r"|(?:(?:on|at) )?(?P<iso>(?P<year>[12][0-9]{3})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2}))"
    rf"|(?:on )?(?:the )?(?P<name_day>[0-9]{{1,2}})(?:st|nd|rd|th)?\.?(?: of)? (?P<name>{_MONTH})"
    r"(?:,? (?P<name_year>[12][0-9]{3}))?"
    rf"|(?:on )?(?P<us_name>{_MONTH}) (?P<us_day>[0-9]{{1,2}})(?:st|nd|rd|th)?"
    r"(?:,? (?P<us_year>[12][0-9]{3}))?"
    r"|(?:on )?(?P<slashed>[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}))(?![\w-])"
)
_DAY_LIST: Final = rf"{_WEEKDAY}s?(?:(?:, ?| and |, and | & ){_WEEKDAY}s?)*"
_EVERY: Final = (
    rf"(?:(?:(?:every|each) (?P<days>day|weekday|workday|weekend|{_DAY_LIST})|(?P<daily>daily)"
    rf"|(?:on )?(?P<plural>weekdays|workdays|weekends|{_WEEKDAY}s))\b)"
)


@cache
def _pattern(words: str) -> re.Pattern[str]:
    """Compiled when it is first needed: together they take longer than an answer. A space is one blank."""
    # ASCII: else other letters count as ours, such as the Kelvin sign for a k.
    return re.compile(words, re.IGNORECASE | re.ASCII)


def _at(prefix: str) -> str:
    """`at` and any time of day, or one that can be nothing else."""
    sure, any_clock = _SURE_CLOCK.format(f"{prefix}s_"), _ANY_CLOCK.format(f"{prefix}a_")
    return rf"(?:(?:(?:at|@) ?(?:{any_clock})|(?:{sure})){_END})"


_DELAY: Final = (
    rf"in (?P<one>{_AMOUNT})(?P<half> and a half)?(?:(?:, ?| | and |, and )(?P<two>{_AMOUNT}))?{_END}"
)
_EVERY_AT: Final = rf"{_EVERY}(?:,? {_at('c_')})?"
_AT_EVERY: Final = rf"{_at('c_')},? {_EVERY}"
_DAY_AT: Final = rf"{_DAY}(?:,? {_at('c_')})?"
_ISO_T: Final = (
    rf"(?:(?:on|at) )?(?P<iso>(?P<year>[12][0-9]{{3}})-(?P<month>[0-9]{{1,2}})-(?P<day>[0-9]{{1,2}}))"
    rf"t{_at('c_')}"
)
_AT_DAY: Final = rf"{_at('c_')}(?:,? {_DAY})?"
_INTERVAL: Final = (
    rf"(?:(?:every|each) (?P<number>{_NUMBER})?(?P<unit>{_UNIT})|(?P<hourly>hourly)\b)"
    rf"(?P<clock>,? {_at('c_')})?{_END}"
)
_STARTS: Final = (
    r"(?<!\w)(?:in|at|@|on|every|each|daily|hourly|today|tomorrow|the day after|day after|next"
    rf"|weekdays|weekends|{_WEEKDAY}s?|[12][0-9]{{3}}-)"
)
_CLOCK_ALONE: Final = rf"(?:{_ANY_CLOCK.format('c_a_')}){_END}"
_LAST_CHARS: Final = 120
_BLANKS: Final = re.compile(r"[^\S\n]+")
_AND_MORE: Final = r" ?(?:,|and|&) ?(?:at )?[0-9]{1,2}(?:[:.][0-9]{2}| ?[ap]m\b)"


def folded(text: str) -> str:
    """`text` with one blank for several, so that patterns can't take long; its lines are kept."""
    return _BLANKS.sub(" ", text).strip()


def time_at_start(text: str) -> tuple[TimeWords, str] | None:
    """The time that `text` begins with, and what stands behind it; None if it begins with none.

    text: as `folded` gives it.
    """
    for pattern, meaning in _FORMS:
        found = _pattern(pattern).match(text)
        if found is not None:
            try:
                words = meaning(found)
            except ValueError as error:
                words = Unclear(question=str(error))
            rest = text[found.end() :]
            if not isinstance(words, Unclear) and _pattern(_AND_MORE).match(rest):
                words = Unclear(question="One time for each reminder, please: which one do you mean here?")
            return words, rest
    return None


def time_at_end(text: str) -> tuple[str, TimeWords] | None:
    """What stands before the time that `text` ends with, and that time; None if it ends with none."""
    first = max(0, len(text) - _LAST_CHARS)
    for start in _pattern(_STARTS).finditer(text, first):
        found = time_at_start(text[start.start() :])
        if found is not None and not found[1].strip():
            return text[: start.start()].rstrip(" ,"), found[0]
    return None


def completed(words: TimeWords, clock: TimeWords) -> TimeWords | None:
    """A day that was said without its time, with the time that was said elsewhere; None if it is not so."""
    if not isinstance(clock, Moment) or clock.day is not None or is_complete(words):
        return None
    if isinstance(words, EveryDay):
        return replace(words, clock=clock.clock)
    # Midnight of a day may be either end of it: that is asked.
    return replace(clock, day=words.day) if isinstance(words, Moment) and clock.clock != time(0) else None


def clock_alone(text: str) -> Moment | None:
    """The time of day that is all of `text`, also without `at`."""
    found = _pattern(_CLOCK_ALONE).fullmatch(text)
    try:
        return None if found is None else _clock(found)
    except ValueError:
        return None


def is_complete(words: TimeWords) -> bool:
    """Whether nothing is missing, so that the words are a time even where none was asked for."""
    return not isinstance(words, Moment | EveryDay) or words.clock is not None


def _delay(found: re.Match[str]) -> TimeWords:
    days, seconds = _amount(found["one"])
    if found["half"]:
        seconds += (days * _SECONDS["d"] + seconds) // 2
    if found["two"]:
        more_days, more_seconds = _amount(found["two"])
        days, seconds = days + more_days, seconds + more_seconds
    total = days * _SECONDS["d"] + seconds
    if not 0 < total <= MAX_DELAY_S:
        raise ValueError("In how long? It has to be more than nothing and at most ten years.")
    return Delay(days=days, seconds=seconds)


def _amount(words: str) -> tuple[int, int]:
    """Days, and seconds."""
    if words.lower() == "half an hour":
        return 0, 1800
    digits = re.match("[0-9]*", words)
    number = (digits and digits[0]) or words.partition(" ")[0]
    unit = words[len(number) :].strip().lower()[0]
    count = _number(number)
    if unit in "dw":
        return count * _SECONDS[unit] // _SECONDS["d"], 0
    return 0, count * _SECONDS[unit]


def _number(word: str) -> int:
    word = word.strip().lower()
    return int(word) if word.isdecimal() else _NUMBERS[word]


def _interval(found: re.Match[str]) -> TimeWords:
    if found["hourly"]:
        return Interval(seconds=_SECONDS["h"])
    unit = found["unit"].lower()[0]
    if unit == "w" and found["number"] is None:
        raise ValueError("On which day of the week, and when? For example `every monday at 9`.")
    if unit in "dw" and found["clock"]:
        raise ValueError(
            "I can repeat `every 2 days` from now on, or on days of the week as in `every monday at 9`, but "
            "not every so many days at a time of day: which shall it be?"
        )
    seconds = _number(found["number"] or "1") * _SECONDS[unit]
    if not 0 < seconds <= MAX_DELAY_S:
        raise ValueError("How often? It has to be more than nothing and at most every ten years.")
    return Interval(seconds=seconds)


def _every(found: re.Match[str]) -> TimeWords:
    at = _clock(found)
    word = (found["days"] or found["plural"] or "day").lower()
    field = _DAY_FIELDS.get(word.removesuffix("s")) or ",".join(
        # Cron's week begins with Sunday as 0.
        str(number)
        for number in sorted({(_weekday(name) + 1) % 7 for name in re.findall(_WEEKDAY, word)})
    )
    return EveryDay(days=field, clock=None if at is None else at.clock)


def _moment(found: re.Match[str]) -> TimeWords:
    day, at = _day(found.groupdict()), _clock(found)
    if at is None:
        return Moment(day=day)
    is_midnight = "midnight" in ((found["c_a_word"] or "").lower(), (found["c_s_word"] or "").lower())
    if is_midnight and day is not None:
        raise ValueError("Midnight at which end of that day? Say `at 0:00` or `at 23:59` instead.")
    return replace(at, day=day)


def _clock(found: re.Match[str]) -> Moment | None:
    """The time of day of a match, without its day. Raises ValueError with a question."""
    parts = {key: value for key, value in found.groupdict().items() if key.startswith("c_") and value}
    given = {key.split("_", 2)[2]: value.lower() for key, value in parts.items()}
    if not given:
        return None
    if "word" in given:
        return Moment(clock=time(0 if given["word"] == "midnight" else 12))
    hour, minute = int(given["hour"]), int(given.get("minute", "0"))
    half = given.get("half") or given.get("half_alone")
    if minute > 59 or hour > 23 or (half and not 1 <= hour <= 12):
        shown = given["hour"] + (f":{given['minute']}" if "minute" in given else "")
        raise ValueError(f"{shown}{f' {half}m' if half else ''} is no time of day: when do you mean?")
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return Moment(clock=time(hour, minute), is_bare_hour=half is None and "minute" not in given)


def _day(given: Mapping[str, str | None]) -> Day | None:
    """The day of a match. Raises ValueError with a question."""
    near = [n for n, name in enumerate(("today", "tomorrow", "after")) if given.get(name)]
    if near:
        return NearDay(days_ahead=near[0])
    if weekday := given.get("weekday"):
        return Weekday(number=_weekday(weekday), is_next=bool(given.get("next")))
    if slashed := given.get("slashed"):
        raise ValueError(f"Which day is {slashed}? Please write it as in `2027-01-31` or `31 January 2027`.")
    for day, name, year in (("name_day", "name", "name_year"), ("us_day", "us_name", "us_year")):
        if given.get(name):
            return _calendar_day(given[year], _MONTHS.index((given[name] or "")[:3].lower()) + 1, given[day])
    if given.get("iso"):
        return _calendar_day(given["year"], int(given["month"] or 0), given["day"])
    return None


def _calendar_day(year: str | None, month: int, day: str | None) -> CalendarDay:
    try:
        date(int(year or 2000), month, int(day or 0))
    except ValueError:
        raise ValueError("That day is not in the calendar: which one do you mean?") from None
    return CalendarDay(year=int(year) if year else None, month=month, day=int(day or 0))


def _weekday(name: str) -> int:
    return _DAYS.index(name[:3].lower())


# First fit wins: the longer forms stand before those they begin with.
_FORMS: Final[tuple[tuple[str, Callable[[re.Match[str]], TimeWords]], ...]] = (
    (_DELAY, _delay),
    (_AT_EVERY, _every),
    (_EVERY_AT, _every),
    (_INTERVAL, _interval),
    (_ISO_T, _moment),
    (_DAY_AT, _moment),
    (_AT_DAY, _moment),
)
