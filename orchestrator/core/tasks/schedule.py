"""When a task is due: schedules, read at the door, and the next time of each.

Every instant given back is in UTC. croniter says which local times a cron expression names; which
instants these are when clocks are put forward or back is said here. Source: contracts.md section 7.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Final, TypeAlias, assert_never
from zoneinfo import ZoneInfo

from croniter import CroniterBadDateError, croniter

from orchestrator.contracts.errors import InvalidSchedule
from orchestrator.contracts.records.tasks import ScheduleKind
from orchestrator.core.tasks.cron_fields import read_cron
from orchestrator.core.tasks.local_time import first_change, first_instant_of, local_of, offset_at
from orchestrator.core.tasks.refusal import quoted, refusal

PAST_GRACE: Final = timedelta(seconds=60)
"""A `once` that is no older than this when it comes runs at once: the clock of its writer may lag."""
MAX_INTERVAL_MS: Final = 3653 * 24 * 3600 * 1000
"""Ten years."""

_HORIZON_YEARS: Final = 50
"""Two times of a cron expression are at most 40 years apart: a fifth Monday of February around 2100."""
_YEARS: Final = range(1970, 3000)
_ZONE_NAME: Final = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+){0,2}")
_MAX_ZONE_CHARS: Final = 64
# In the database's directory, but no zones: this machine's own, and copies that count leap seconds.
_NO_ZONES: Final = frozenset({"localtime", "posixrules", "Factory", "posix", "right"})
_INTERVAL: Final = re.compile(r"[0-9]{1,15}")
_INSTANT: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"(?:(Z)|([+-])([01][0-9]|2[0-3]):?([0-5][0-9])?)?"
)
_INSTANT_FORM: Final = "a date and time as in 2027-01-05T14:00 or 2027-01-05T14:00:00+01:00"


@dataclass(frozen=True, slots=True, kw_only=True)
class CronSchedule:
    """Local times of a zone. grids: what croniter reads; a time of any of them counts.

    has_fixed_times: a local time that is skipped runs at the end of the gap, one that comes twice runs
    once. Else it is due at each instant whose local time is on a grid, as often as that comes.
    """

    grids: tuple[str, ...]
    has_fixed_times: bool
    zone: ZoneInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalSchedule:
    """The same time after each planned time, whatever clocks do."""

    every: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class OnceSchedule:
    """One instant."""

    at: datetime


Schedule: TypeAlias = CronSchedule | IntervalSchedule | OnceSchedule


def parse_schedule(
    kind: ScheduleKind, value: str, *, zone: ZoneInfo, now: datetime, min_interval_ms: int = 60_000
) -> Schedule:
    """The schedule of a task that is made or changed at `now`.

    zone: of cron and of a `once` without an offset. Raises InvalidSchedule with the field, its value and
    what it takes, also for an interval below the minimum and a `once` more than 60 s in the past.
    """
    schedule = _read(kind, value, zone=zone, min_interval_ms=min_interval_ms)
    match schedule:
        case OnceSchedule(at=at) if at < now - PAST_GRACE:
            raise refusal(
                f"The once schedule {quoted(value)} is {_shown(at, zone)}, which is past: "
                f"it is {_shown(now, zone)}.",
                field="once",
                value=value,
                allowed="a time that is still to come",
                suggestion="Give a time that is still to come, or run the task at once with run_task.",
            )
        case CronSchedule() if next_run(schedule, after=now) is None:
            raise refusal(
                f"The cron schedule {quoted(value)} names no time that the clocks of {zone} ever show.",
                field="cron",
                value=value,
                allowed="times that daylight saving does not skip each year",
            )
    return schedule


def read_schedule(kind: ScheduleKind, value: str, *, zone: ZoneInfo) -> Schedule:
    """The schedule of a task that is stored already: it may be past, and the minimum may have grown.

    Raises InvalidSchedule.
    """
    return _read(kind, value, zone=zone, min_interval_ms=1)


def first_run(schedule: Schedule, *, now: datetime) -> datetime | None:
    """The first time of a task that is made at `now`; that of a `once` may just have passed."""
    return schedule.at if isinstance(schedule, OnceSchedule) else next_run(schedule, after=now)


def next_run(schedule: Schedule, *, after: datetime, anchor: datetime | None = None) -> datetime | None:
    """The first instant after `after` at which the schedule is due; None if there is none.

    anchor: the planned time that an interval counts from, itself not given again; absent: `after`.
    """
    if after.year not in _YEARS:
        return None
    match schedule:
        case CronSchedule(has_fixed_times=True):
            return _next_fixed(schedule, after.astimezone(UTC))
        case CronSchedule():
            return _next_real(schedule, after.astimezone(UTC))
        case IntervalSchedule(every=every):
            start = _whole_ms(after if anchor is None else anchor)
            return start + max(1, (after - start) // every + 1) * every
        case OnceSchedule(at=at):
            return at if at > after else None
        case _ as never:
            assert_never(never)


def known_zone(name: str) -> ZoneInfo:
    """The zone of the tz database with this name. Raises InvalidSchedule."""
    is_plain = len(name) <= _MAX_ZONE_CHARS and _ZONE_NAME.fullmatch(name) is not None
    if is_plain and name.split("/")[0] not in _NO_ZONES:
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):  # not there; not a zone's file; a directory
            pass
    raise refusal(
        f"There is no timezone {quoted(name)}.",
        field="timezone",
        value=name,
        allowed="an IANA name such as Europe/Berlin, America/New_York or UTC",
    )


def zone_or_utc(name: str) -> ZoneInfo:
    """As `known_zone`, to show a time in: UTC for a zone that the tz database no longer has."""
    try:
        return known_zone(name)
    except InvalidSchedule:
        return ZoneInfo("UTC")


def _read(kind: ScheduleKind, value: str, *, zone: ZoneInfo, min_interval_ms: int) -> Schedule:
    match kind:
        case ScheduleKind.CRON:
            fields = read_cron(value)
            return CronSchedule(grids=fields.grids, has_fixed_times=fields.has_fixed_times, zone=zone)
        case ScheduleKind.INTERVAL:
            return IntervalSchedule(every=_interval(value, min_interval_ms))
        case ScheduleKind.ONCE:
            return OnceSchedule(at=_instant(value, zone))
        case _ as never:
            assert_never(never)


def _next_fixed(schedule: CronSchedule, after: datetime) -> datetime | None:
    """Each local time once: when it first comes, or at the end of the gap that holds it."""
    local = _next_local(schedule.grids, local_of(after, schedule.zone))
    while local is not None:
        instant = first_instant_of(local, schedule.zone)
        if instant > after:
            return instant
        # The clock was put back: what it shows again has been.
        local = _next_local(schedule.grids, local)
    return None


def _next_real(schedule: CronSchedule, after: datetime) -> datetime | None:
    """Each instant whose local time is on a grid: from one change of the clock to the next."""
    zone, start, shown = schedule.zone, after, local_of(after, schedule.zone)
    last_year = after.year + _HORIZON_YEARS  # it may have no end: 02:10 on the day of each year that skips it
    while (local := _next_local(schedule.grids, shown)) is not None and local.year <= last_year:
        instant = local.replace(tzinfo=UTC) - offset_at(start, zone)
        change = first_change(zone, after=start, until=instant)
        if change is None:
            return instant
        start, shown = change, local_of(change, zone) - timedelta(microseconds=1)
    return None


def _next_local(grids: Sequence[str], after: datetime) -> datetime | None:
    """The first local time after `after` that is on one of the grids."""
    minute = after.replace(second=0, microsecond=0)
    found = [time for grid in grids if (time := _next_on(grid, minute)) is not None]
    return min(found, default=None)


def _next_on(grid: str, after: datetime) -> datetime | None:
    try:
        # Without a timezone: its own way with them runs a fixed time twice when clocks are put back.
        found: datetime = croniter(grid, after, max_years_between_matches=_HORIZON_YEARS).get_next(datetime)
    except CroniterBadDateError:
        return None
    return found


def _interval(value: str, min_ms: int) -> timedelta:
    plain = value.strip(" \t")
    allowed = (
        f"a whole number of milliseconds from {min_ms} ({_span(min_ms)}) "
        f"to {MAX_INTERVAL_MS} ({_span(MAX_INTERVAL_MS)})"
    )
    if not _INTERVAL.fullmatch(plain):
        message = f"The interval schedule is {quoted(value)}."
        raise refusal(message, field="interval", value=value, allowed=allowed)
    every_ms = int(plain)
    if every_ms < min_ms:
        message = f"An interval of {_span(every_ms)} is too short: the shortest is {_span(min_ms)}."
        suggestion = f"Give at least {_span(min_ms)}."
        raise refusal(message, field="interval", value=value, allowed=allowed, suggestion=suggestion)
    if every_ms > MAX_INTERVAL_MS:
        message = f"An interval of {_span(every_ms)} is too long: the longest is {_span(MAX_INTERVAL_MS)}."
        raise refusal(message, field="interval", value=value, allowed=allowed)
    return timedelta(milliseconds=every_ms)


def _span(ms: int) -> str:
    """As people say it: days if it is whole days, else seconds."""
    days, rest = divmod(ms, 24 * 3600 * 1000)
    return f"{days} days" if days > 1 and not rest else f"{ms / 1000:.15g} s"


def _instant(value: str, zone: ZoneInfo) -> datetime:
    """The instant that ISO 8601 text names, to the millisecond; without an offset in `zone`."""
    found = _INSTANT.fullmatch(value.strip(" \t").upper())
    if found is None or int(found[1]) not in _YEARS:
        raise refusal(
            f"The once schedule is {quoted(value)}.",
            field="once",
            value=value,
            allowed=f"{_INSTANT_FORM}, from {_YEARS.start} to {_YEARS.stop - 1}",
        )
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    milliseconds = int((found[7] or "").ljust(3, "0")[:3])
    try:
        local = datetime(year, month, day, hour, minute, second, milliseconds * 1000)  # noqa: DTZ001 - naive on purpose: what a clock shows
    except ValueError as error:
        raise refusal(
            f"The once schedule is {quoted(value)}, a time that does not exist: {error}.",
            field="once",
            value=value,
            allowed=_INSTANT_FORM,
        ) from None
    if found[8] or found[9]:
        return local.replace(tzinfo=_offset(found)).astimezone(UTC)
    return first_instant_of(local, zone)


def _offset(found: re.Match[str]) -> timezone:
    size = timedelta(hours=int(found[10] or 0), minutes=int(found[11] or 0))
    return timezone(-size if found[9] == "-" else size)


def _whole_ms(instant: datetime) -> datetime:
    """In UTC, cut to what the store keeps."""
    instant = instant.astimezone(UTC)
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def _shown(instant: datetime, zone: ZoneInfo) -> str:
    return instant.astimezone(zone).isoformat(timespec="seconds")
