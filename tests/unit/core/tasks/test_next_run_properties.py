"""The next time of a cron schedule, against what its expression means minute by minute."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, pairwise, takewhile
from zoneinfo import ZoneInfo

from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.contracts.records.tasks import ScheduleKind
from orchestrator.core.tasks.local_time import local_of, offset_at
from orchestrator.core.tasks.schedule import Schedule, next_run, read_schedule
from tests.unit.core.tasks.cron_oracle import Expression, Meaning, instants
from tests.unit.core.tasks.cron_strategies import expressions, fixed_expressions, real_expressions

CHANGES = {
    "America/New_York": ["2026-03-08T07:00", "2026-11-01T06:00"],
    "Europe/London": ["2026-03-29T01:00", "2026-10-25T01:00"],
    "Australia/Lord_Howe": ["2026-04-04T15:00", "2026-10-03T15:30"],
    "Pacific/Auckland": ["2026-04-04T14:00", "2026-09-26T14:00"],
    "America/Santiago": ["2025-04-06T03:00", "2025-09-07T04:00"],
    "Pacific/Apia": ["2011-12-30T10:00"],
    "Pacific/Kwajalein": ["1993-08-21T12:00"],
    "Africa/Casablanca": ["2025-02-23T02:00", "2025-04-06T02:00"],
    "Asia/Kolkata": ["2026-01-01T00:00"],
    "UTC": ["2024-02-29T00:00"],
}
"""Moments at which clocks are changed, from the tz database; at the last two they are not."""


@st.composite
def zones_and_starts(draw: st.DrawFn) -> tuple[ZoneInfo, datetime]:
    """A zone and a moment in the day before a change of its clocks or in the hours after it."""
    name = draw(st.sampled_from(sorted(CHANGES)))
    change = datetime.fromisoformat(draw(st.sampled_from(CHANGES[name]))).replace(tzinfo=UTC)
    return ZoneInfo(name), change + timedelta(seconds=draw(st.integers(-86_400, 10_800)))


def starts() -> st.SearchStrategy[datetime]:
    """Any moment of more than a century."""
    moments = st.datetimes(datetime(1971, 1, 2), datetime(2100, 12, 31))  # noqa: DTZ001 - made aware below
    return moments.map(lambda moment: moment.replace(tzinfo=UTC))


def zones() -> st.SearchStrategy[ZoneInfo]:
    return st.sampled_from(sorted(CHANGES)).map(ZoneInfo)


def cron(meant: Expression, zone: ZoneInfo) -> Schedule:
    return read_schedule(ScheduleKind.CRON, meant.text, zone=zone)


def runs(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    """The runs after `after`, one by one."""
    found = next_run(schedule, after=after)
    while found is not None:
        yield found
        found = next_run(schedule, after=found)


@given(st.one_of(fixed_expressions(), real_expressions(), expressions()), zones_and_starts())
def test_around_a_change_of_the_clocks_it_is_due_exactly_when_its_expression_says(
    meant: Expression, zone_and_start: tuple[ZoneInfo, datetime]
) -> None:
    zone, start = zone_and_start
    until = start + timedelta(hours=30)

    found = list(takewhile(lambda instant: instant <= until, runs(cron(meant, zone), start)))

    assert found == instants(meant, zone, after=start, until=until)


@given(expressions(), zones(), starts())
def test_each_run_is_later_than_the_one_before(meant: Expression, zone: ZoneInfo, start: datetime) -> None:
    found = list(islice(runs(cron(meant, zone), start), 20))

    assert all(before < after for before, after in pairwise([start, *found]))
    assert all(instant.tzinfo is UTC for instant in found)


@given(expressions(), zones(), starts())
def test_each_run_is_on_the_grid_or_at_the_end_of_a_gap(
    meant: Expression, zone: ZoneInfo, start: datetime
) -> None:
    for instant in islice(runs(cron(meant, zone), start), 10):
        is_end_of_gap = offset_at(instant - timedelta(seconds=1), zone) < offset_at(instant, zone)
        assert meant.has(local_of(instant, zone)) or (meant.is_fixed and is_end_of_gap)


@given(expressions(), zones(), starts())
def test_no_gap_is_longer_than_the_expression_allows(
    meant: Expression, zone: ZoneInfo, start: datetime
) -> None:
    found = list(islice(runs(cron(meant, zone), start), 5))

    for before, after in pairwise([start, *found]):
        first, last = local_of(before, zone).date(), local_of(after, zone).date()
        between = (first + timedelta(days=place) for place in range(1, (last - first).days))
        passed_over = [day for day in between if meant.has_day(day) and is_whole(day, zone)]
        assert passed_over == []


def is_whole(day: date, zone: ZoneInfo) -> bool:
    """Whether clocks show every time of the day: on others an expression may find its hours skipped."""
    noon = datetime.combine(day, time(12), tzinfo=zone)
    return offset_at(noon - timedelta(hours=13), zone) == offset_at(noon + timedelta(hours=13), zone)


@given(expressions(), zones(), starts(), st.floats(0, 1))
def test_every_start_before_a_run_gives_that_run(
    meant: Expression, zone: ZoneInfo, start: datetime, part: float
) -> None:
    schedule = cron(meant, zone)
    first = next_run(schedule, after=start)
    assert first is not None
    last_moment = first - timedelta(microseconds=1)
    between = min(start + (first - start) * part, last_moment)

    assert next_run(schedule, after=between) == first
    assert next_run(schedule, after=last_moment) == first


@settings(max_examples=100)
@given(expressions(), starts())
def test_without_daylight_saving_cronsim_says_the_same(meant: Expression, start: datetime) -> None:
    ours = next_run(cron(meant, ZoneInfo("UTC")), after=start)

    assert ours == next(CronSim(in_cronsims_words(meant), start))


def in_cronsims_words(meant: Expression) -> str:
    """What it means as plain lists: cronsim has no ranges past the end, no `L5`, and other steps of days."""
    fields = (meant.minute, meant.hour, meant.day, meant.month, meant.weekday)
    return " ".join("*" if each.is_any else ",".join(listed(each)) for each in fields)


def listed(field: Meaning) -> Iterator[str]:
    yield from map(str, sorted(field.numbers))
    yield from (f"{weekday}#{which}" if which else f"{weekday}L" for weekday, which in field.nth)
    if field.has_last_day:
        yield "L"
