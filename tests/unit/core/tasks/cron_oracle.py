"""What a cron expression means, worked out minute by minute with zoneinfo and no cron library."""

import bisect
import calendar
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import accumulate
from zoneinfo import ZoneInfo

_MINUTE = timedelta(minutes=1)
_MARGIN = timedelta(hours=4)
"""Longer than a clock is put back for."""
_MOST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """One field with what it means. nth: `(weekday, which)`; which 0 is the last of its month.

    is_plain: numbers and lists of numbers only.
    """

    text: str
    numbers: frozenset[int] = field(default=frozenset(), repr=False)
    nth: frozenset[tuple[int, int]] = frozenset()
    has_last_day: bool = False
    is_any: bool = False
    is_plain: bool = True


@dataclass(frozen=True, kw_only=True)
class Expression:
    """Five fields. Weekdays: 0 is Sunday."""

    minute: Meaning
    hour: Meaning
    day: Meaning
    month: Meaning
    weekday: Meaning

    @property
    def text(self) -> str:
        return " ".join(each.text for each in (self.minute, self.hour, self.day, self.month, self.weekday))

    @property
    def is_fixed(self) -> bool:
        return self.minute.is_plain and self.hour.is_plain

    @property
    def is_possible(self) -> bool:
        """Some month has one of the days."""
        longest = max(_MOST_DAYS[number - 1] for number in self.month.numbers)
        return self.day.has_last_day or min(self.day.numbers) <= longest

    def has_day(self, day: date) -> bool:
        """A day of month and a day of week that are both given mean either."""
        if day.month not in self.month.numbers:
            return False
        last = calendar.monthrange(day.year, day.month)[1]
        weekday = day.isoweekday() % 7
        which = {(weekday, (day.day - 1) // 7 + 1)} | ({(weekday, 0)} if day.day + 7 > last else set())
        is_day = day.day in self.day.numbers or (self.day.has_last_day and day.day == last)
        is_weekday = weekday in self.weekday.numbers or bool(which & self.weekday.nth)
        if self.day.is_any or self.weekday.is_any:
            return is_day and is_weekday
        return is_day or is_weekday

    def has(self, local: datetime) -> bool:
        """Whether a clock that shows `local` is on the grid."""
        is_time = local.minute in self.minute.numbers and local.hour in self.hour.numbers
        return is_time and self.has_day(local.date())


def instants(meant: Expression, zone: ZoneInfo, *, after: datetime, until: datetime) -> list[datetime]:
    """Every instant in (after, until] at which the expression is due.

    A fixed local time is due at the first instant at which the clock shows it or has passed it; any other
    expression whenever the clock shows a time of it. after, until: in UTC.
    """
    begin, end = (after - _MARGIN).replace(second=0, microsecond=0), until + _MINUTE
    minutes = [begin + place * _MINUTE for place in range(int((end - begin) / _MINUTE))]
    shown = [minute.astimezone(zone).replace(tzinfo=None) for minute in minutes]
    if not meant.is_fixed:
        due = {minute for minute, local in zip(minutes, shown, strict=True) if meant.has(local)}
        return sorted(instant for instant in due if after < instant <= until)
    furthest = list(accumulate(shown, max))
    count = int((furthest[-1] - shown[0]) / _MINUTE) + 1
    locals_passed = (shown[0] + place * _MINUTE for place in range(count))
    due = {minutes[bisect.bisect_left(furthest, local)] for local in locals_passed if meant.has(local)}
    return sorted(instant for instant in due if after < instant <= until)
