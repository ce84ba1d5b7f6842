"""Which schedule words about time stand for, seen from now in a zone; or the question to ask back."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, assert_never

from container.drivers.time_words import (
    CalendarDay,
    Day,
    Delay,
    EveryDay,
    Interval,
    Moment,
    NearDay,
    TimeWords,
    Unclear,
    Weekday,
)

ONCE: Final = "once"
CRON: Final = "cron"
INTERVAL: Final = "interval"
_DAY_NAMES: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_DAY_FIELDS: Final[Mapping[str, str]] = {"*": "every day", "1-5": "every weekday", "0,6": "every weekend day"}
_UNITS: Final = ((7 * 86_400, "week"), (86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When a task is due, as the host takes it. Source: contracts.md section 7."""

    kind: str
    value: str


def meaning_of(words: TimeWords, *, now: datetime, zone: tzinfo) -> Schedule | Unclear:
    """The schedule that is meant. Times of day are those of `zone`."""
    match words:
        case Unclear():
            return words
        case Delay():
            return _once(_after(words, now=now, zone=zone), zone)
        case Interval(seconds=seconds):
            return Schedule(kind=INTERVAL, value=str(seconds * 1000))
        case EveryDay(clock=None):
            return Unclear(question=f"At what time {_days_in_words(words.days)}? For example `at 9:00`.")
        case EveryDay(days=days, clock=time() as clock):
            return Schedule(kind=CRON, value=f"{clock.minute} {clock.hour} * * {days}")
        case Moment(clock=None):
            return Unclear(question="At what time of that day? For example `at 9:00`.")
        case Moment(day=None, clock=time() as clock):
            return _next_clock(clock, words.is_bare_hour, now=now, zone=zone)
        case Moment(day=day, clock=time() as clock):
            assert day is not None
            return _on_day(day, clock, now=now, zone=zone)
        case _ as never:
            assert_never(never)  # type: ignore[arg-type]  # mypy can't narrow by a field's None


def with_clock(cron: str, clock: time) -> Schedule | None:
    """The same days of the week at another time; None if the expression is not one of ours."""
    return (
        None
        if _fixed_clock(cron) is None
        else Schedule(kind=CRON, value=f"{clock.minute} {clock.hour} * * {cron.split()[4]}")
    )


def schedule_in_words(kind: str, value: str) -> str:
    """How often a task comes; empty for one that comes once."""
    if kind == ONCE:
        return ""
    if kind == INTERVAL and value.isdecimal():
        return _interval_in_words(int(value) // 1000)
    clock = _fixed_clock(value) if kind == CRON else None
    if clock is None:
        return f"{kind} `{value.replace('`', '')}`"
    return f"{_days_in_words(value.split()[4])} at {clock:%H:%M}"


def moment_in_words(at: datetime, *, now: datetime, zone: tzinfo) -> str:
    """A day and a time of `zone`, with seconds where they matter, and with the year where it is another."""
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    is_close = abs(at - now) < timedelta(minutes=2)
    clock = f"{local:%H:%M:%S}" if is_close else f"{local:%H:%M}"
    day = f"{local:%A}, {local.day} {local:%B %Y}"
    near = {today: "today, ", today + timedelta(days=1): "tomorrow, "}.get(local.date(), "")
    return f"{near}{day} at {clock}"


def _after(delay: Delay, *, now: datetime, zone: tzinfo) -> datetime:
    local = now.astimezone(zone).replace(tzinfo=None) + timedelta(days=delay.days)
    start = local.replace(tzinfo=zone) if delay.days else now
    # A whole second, and never too soon.
    seconds = math.ceil(start.timestamp()) + delay.seconds
    return datetime.fromtimestamp(seconds, UTC)


def _next_clock(clock: time, is_bare_hour: bool, *, now: datetime, zone: tzinfo) -> Schedule | Unclear:
    today = now.astimezone(zone).date()
    if clock == time(0):
        return _at(today + timedelta(days=1), clock, zone)
    found = _at(today, clock, zone)
    if isinstance(found, Unclear) or datetime.fromisoformat(found.value) > now:
        return found
    later = time((clock.hour + 12) % 24, clock.minute)
    if is_bare_hour and now.astimezone(zone).time() < later and clock.hour < 12:
        return Unclear(question=f"Do you mean `at {later:%H:%M}` today, or `tomorrow at {clock:%H:%M}`?")
    return Unclear(question=f"It is past {clock:%H:%M} already: do you mean `tomorrow at {clock:%H:%M}`?")


def _on_day(day: Day, clock: time, *, now: datetime, zone: tzinfo) -> Schedule | Unclear:
    today = now.astimezone(zone).date()
    found_day = _date_of(day, clock, today=today)
    if isinstance(found_day, Unclear):
        return found_day
    found = _at(found_day, clock, zone)
    if isinstance(found, Schedule) and datetime.fromisoformat(found.value) <= now:
        local = now.astimezone(zone)
        return Unclear(
            question=f"{found_day.isoformat()} {clock:%H:%M} is past (it is {local:%Y-%m-%d %H:%M} now): "
            "when do you mean?"
        )
    return found


def _date_of(day: Day, clock: time, *, today: date) -> date | Unclear:
    match day:
        case NearDay(days_ahead=days):
            return today + timedelta(days=days)
        case Weekday(number=number, is_next=is_next):
            ahead = (number - today.weekday()) % 7
            if ahead == 0 and not is_next:
                later = (today + timedelta(days=7)).isoformat()
                return Unclear(question=f"Do you mean `today at {clock:%H:%M}`, or `{later} {clock:%H:%M}`?")
            return today + timedelta(days=ahead or 7)
        case CalendarDay(year=int() as year):
            return date(year, day.month, day.day)
        case CalendarDay():
            return _next_such_date(day, today)
        case _ as never:
            assert_never(never)


def _next_such_date(day: CalendarDay, today: date) -> date | Unclear:
    for year in (today.year, today.year + 1):
        try:
            found = date(year, day.month, day.day)
        except ValueError:
            continue
        if found >= today:
            return found
    return Unclear(question="In which year? Please write the day as in `2028-02-29`.")


def _at(day: date, clock: time, zone: tzinfo) -> Schedule | Unclear:
    """The instant at which clocks show this; a question where they never do, or do twice."""
    local = datetime.combine(day, clock)
    first, second = local.replace(tzinfo=zone), local.replace(tzinfo=zone, fold=1)
    if first.utcoffset() == second.utcoffset():
        return _once(first, zone)
    shown = f"{day.isoformat()} {clock:%H:%M}"
    if first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local:
        return Unclear(question=f"Clocks skip {shown}, as they are put forward then: which other time?")
    return Unclear(question=f"{shown} comes twice, as clocks are put back then: which other time?")


def _once(at: datetime, zone: tzinfo) -> Schedule:
    return Schedule(kind=ONCE, value=at.astimezone(zone).isoformat(timespec="seconds"))


def _fixed_clock(cron: str) -> time | None:
    """The time of day of an expression that names one, on days of the week."""
    fields = cron.split()
    if len(fields) != 5 or fields[2:4] != ["*", "*"] or not (fields[0].isdecimal() and fields[1].isdecimal()):
        return None
    minute, hour = int(fields[0]), int(fields[1])
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _days_in_words(field: str) -> str:
    if field in _DAY_FIELDS:
        return _DAY_FIELDS[field]
    numbers = field.split(",")
    if not all(number in ("0", "1", "2", "3", "4", "5", "6") for number in numbers):
        return f"on the days `{field.replace('`', '')}` of the week"
    names = [_DAY_NAMES[int(number)] for number in numbers]
    return "every " + (names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}")


def _interval_in_words(seconds: int) -> str:
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds % size == 0), (1, "second"))
    count = seconds // size
    return f"every {unit}" if count == 1 else f"every {count} {unit}s"
