"""What is a schedule, and what is refused with the reason."""

from datetime import UTC, datetime, timedelta
from time import process_time
from zoneinfo import ZoneInfo

import pytest

from orchestrator.contracts.errors import ErrorCode, InvalidSchedule
from orchestrator.contracts.records.tasks import ScheduleKind
from orchestrator.core.tasks.schedule import (
    MAX_INTERVAL_MS,
    IntervalSchedule,
    OnceSchedule,
    Schedule,
    first_run,
    next_run,
    parse_schedule,
    read_schedule,
)

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
NEW_YORK = ZoneInfo("America/New_York")


def parsed(kind: ScheduleKind, value: str, *, zone: ZoneInfo = NEW_YORK, now: datetime = NOW) -> Schedule:
    return parse_schedule(kind, value, zone=zone, now=now)


@pytest.mark.parametrize(
    ("value", "field", "named"),
    [
        ("60 * * * *", "minute", "60"),
        ("-1 * * * *", "minute", "-1"),
        ("1- * * * *", "minute", "1-"),
        ("1,,2 * * * *", "minute", ""),
        ("100 * * * *", "minute", "100"),
        ("MON * * * *", "minute", "MON"),
        ("*/0 * * * *", "minute", "*/0"),
        ("*/90 * * * *", "minute", "*/90"),
        ("*-5 * * * *", "minute", "*-5"),
        ("1-5-9 * * * *", "minute", "1-5-9"),
        ("1/2/3 * * * *", "minute", "1/2/3"),
        ("R * * * *", "minute", "R"),
        ("H * * * *", "minute", "H"),
        ("L * * * *", "minute", "L"),
        ("? * * * *", "minute", "?"),
        ("1.5 * * * *", "minute", "1.5"),
        ("0 24 * * *", "hour", "24"),
        ("0 9-25 * * *", "hour", "9-25"),
        ("0 9am * * *", "hour", "9AM"),
        ("0 9 0 * *", "day-of-month", "0"),
        ("0 9 32 * *", "day-of-month", "32"),
        ("0 9 ? * *", "day-of-month", "?"),
        ("0 9 15W * *", "day-of-month", "15W"),
        ("0 9 LW * *", "day-of-month", "LW"),
        ("0 9 L-3 * *", "day-of-month", "L-3"),
        ("0 9 1-L * *", "day-of-month", "1-L"),
        ("0 9 5#2 * *", "day-of-month", "5#2"),
        ("0 9 30 2 *", "day-of-month", "30"),
        ("0 9 30,31 FEB *", "day-of-month", "30,31"),
        ("0 9 31 4,6,9,11 *", "day-of-month", "31"),
        ("0 9 30 2 MON", "day-of-month", "30"),
        ("0 9 * 0 *", "month", "0"),
        ("0 9 * 13 *", "month", "13"),
        ("0 9 * JANUARY *", "month", "JANUARY"),
        ("0 9 * MON *", "month", "MON"),
        ("0 9 * * 8", "day-of-week", "8"),
        ("0 9 * * L8", "day-of-week", "L8"),
        ("0 9 * * L", "day-of-week", "L"),
        ("0 9 * * 5#0", "day-of-week", "5#0"),
        ("0 9 * * 5#6", "day-of-week", "5#6"),
        ("0 9 * * 8#2", "day-of-week", "8#2"),
        ("0 9 * * 1-3#2", "day-of-week", "1-3#2"),
        ("0 9 * * *#2", "day-of-week", "*#2"),
        ("0 9 * * FOO#2", "day-of-week", "FOO#2"),
        ("0 9 * * FRIDAY", "day-of-week", "FRIDAY"),
        ("0 9 * * 5#", "day-of-week", "5#"),
        ("", "cron", ""),
        ("* * * *", "cron", "* * * *"),
        ("0 0 9 * * *", "cron", "0 0 9 * * *"),
        ("0 9 * * * 2026", "cron", "0 9 * * * 2026"),
        ("0\u00a09 * * *", "cron", "0\u00a09 * * *"),
        ("@reboot", "cron", "@reboot"),
        ("@midnight", "cron", "@midnight"),
        ("@daily 9", "cron", "@daily 9"),
        ("every day at nine pm", "minute", "EVERY"),
        ("0 9 * * \u017fUN", "day-of-week", "\u017fUN"),
    ],
)
def test_a_cron_expression_off_the_list_is_refused_with_its_field(value: str, field: str, named: str) -> None:
    with pytest.raises(InvalidSchedule) as caught:
        parsed(ScheduleKind.CRON, value)

    error = caught.value
    assert error.code is ErrorCode.INVALID_SCHEDULE
    assert error.details["field"] == field
    assert error.details["value"] == named
    assert field in str(error)
    assert error.details["allowed"]


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        ("60 * * * *", "0-59"),
        ("0 24 * * *", "0-23"),
        ("0 9 32 * *", "1-31"),
        ("0 9 * 13 *", "1-12 or JAN-DEC"),
        ("0 9 * * 8", "0-7 or SUN-SAT"),
        ("0 9 30 2 *", "1-29"),
        ("0 9 31 4,6 *", "1-30"),
        ("@reboot", "@hourly @daily @weekly @monthly @yearly"),
        ("* * *", "minute hour day-of-month month day-of-week"),
    ],
)
def test_a_refusal_says_what_would_be_taken(value: str, allowed: str) -> None:
    with pytest.raises(InvalidSchedule) as caught:
        parsed(ScheduleKind.CRON, value)

    assert allowed in str(caught.value)


def test_a_cron_expression_of_boundless_length_is_refused() -> None:
    with pytest.raises(InvalidSchedule, match="at most 500 characters"):
        parsed(ScheduleKind.CRON, f"{'0,' * 250}0 * * * *")


def test_a_time_that_the_clocks_of_the_zone_skip_each_year_is_refused() -> None:
    # New York's clocks go from 02:00 to 03:00 on the second Sunday of each March.
    began_s = process_time()
    with pytest.raises(InvalidSchedule, match="names no time") as caught:
        parsed(ScheduleKind.CRON, "*/10 2 * 3 SUN#2")

    assert process_time() - began_s < 1
    assert "America/New_York" in str(caught.value)
    assert parsed(ScheduleKind.CRON, "*/10 2 * 3 SUN#2", zone=ZoneInfo("UTC"))


def test_a_fixed_time_that_the_clocks_of_the_zone_skip_each_year_runs_after_the_gap() -> None:
    schedule = parsed(ScheduleKind.CRON, "10 2 * 3 SUN#2")

    assert next_run(schedule, after=NOW) == datetime(2026, 3, 8, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2026-01-05T14:00", "2026-01-05T19:00:00Z"),
        ("2026-01-05T14:00:30", "2026-01-05T19:00:30Z"),
        ("2026-01-05 14:00", "2026-01-05T19:00:00Z"),
        (" 2026-01-05t14:00:00z ", "2026-01-05T14:00:00Z"),
        ("2026-01-05T14:00:00.123456Z", "2026-01-05T14:00:00.123Z"),
        ("2026-01-05T14:00:00.5Z", "2026-01-05T14:00:00.500Z"),
        ("2026-01-05T14:00+01:00", "2026-01-05T13:00:00Z"),
        ("2026-01-05T14:00-0330", "2026-01-05T17:30:00Z"),
        ("2026-01-06T14:00:00+14", "2026-01-06T00:00:00Z"),
        ("2026-07-05T14:00", "2026-07-05T18:00:00Z"),
        ("2026-03-08T02:30", "2026-03-08T07:00:00Z"),
        ("2026-11-01T01:30", "2026-11-01T05:30:00Z"),
        ("2026-11-01T01:30-05:00", "2026-11-01T06:30:00Z"),
        ("2028-02-29T00:00", "2028-02-29T05:00:00Z"),
        ("2999-12-31T23:59", "3000-01-01T04:59:00Z"),
    ],
    ids=[
        "the zone's time without an offset",
        "with seconds",
        "a space for the T",
        "in UTC, in lower case, with spaces around",
        "cut to milliseconds",
        "half a second",
        "with an offset",
        "an offset without a colon",
        "an offset of hours",
        "the zone's summer time",
        "in the gap: the first instant after it",
        "in the overlap: the first of the two",
        "in the overlap, the second by its offset",
        "29 February",
        "the last year",
    ],
)
def test_once_is_the_instant_that_its_text_names(value: str, instant: str) -> None:
    assert parsed(ScheduleKind.ONCE, value) == OnceSchedule(at=datetime.fromisoformat(instant))


@pytest.mark.parametrize(
    "value",
    [
        "",
        "tomorrow",
        "14:00",
        "2026-01-06",
        "2026-02-30T09:00",
        "2027-02-29T09:00",
        "2026-13-01T09:00",
        "2026-01-06T24:00",
        "2026-01-06T09:60",
        "2026-01-06T09:00:60",
        "2026-01-06T9:00",
        "2026-1-6T09:00",
        "20260106T0900",
        "2026-W02-1T09:00",
        "2026-01-06T09:00+25:00",
        "2026-01-06T09:00+01:60",
        "2026-01-06T09:00 Europe/Berlin",
        "2026-01-06T09:00ZZ",
        "0001-01-01T00:00",
        "1969-12-31T23:59",
        "3000-01-01T00:00",
        "9999-12-31T23:59-12:00",
        "\u0662\u0660\u0662\u0667-01-05T14:00",
        "1767704400",
    ],
)
def test_what_is_no_instant_is_refused(value: str) -> None:
    with pytest.raises(InvalidSchedule) as caught:
        parsed(ScheduleKind.ONCE, value)

    assert caught.value.details["field"] == "once"
    assert "2027-01-05T14:00" in str(caught.value)


def test_a_once_up_to_a_minute_past_runs_at_once() -> None:
    schedule = parsed(ScheduleKind.ONCE, "2026-01-05T11:59:00Z")

    assert first_run(schedule, now=NOW) == NOW - timedelta(seconds=60)
    assert next_run(schedule, after=NOW) is None


def test_an_older_once_is_refused_and_both_times_are_said() -> None:
    with pytest.raises(InvalidSchedule) as caught:
        parsed(ScheduleKind.ONCE, "2026-01-05T06:58:59.999")

    assert "2026-01-05T06:58:59-05:00" in str(caught.value)
    assert "2026-01-05T07:00:00-05:00" in str(caught.value)


def test_a_once_that_is_stored_can_be_read_when_it_is_past() -> None:
    schedule = read_schedule(ScheduleKind.ONCE, "2020-01-01T00:00Z", zone=NEW_YORK)

    assert schedule == OnceSchedule(at=datetime(2020, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("value", ["60000", " 60000 ", "3600000", "000060000", str(MAX_INTERVAL_MS)])
def test_an_interval_is_a_number_of_milliseconds(value: str) -> None:
    assert parsed(ScheduleKind.INTERVAL, value) == IntervalSchedule(every=timedelta(milliseconds=int(value)))


@pytest.mark.parametrize(
    "value",
    [
        "",
        "0",
        "59999",
        "-60000",
        "+60000",
        "60000.0",
        "6e4",
        "60_000",
        "0xea60",
        "60000 ms",
        "1h",
        "NaN",
        "\uff16\uff10\uff10\uff10\uff10",
        str(MAX_INTERVAL_MS + 1),
        "9" * 400,
        "9" * 5000,
    ],
)
def test_an_interval_off_the_limits_is_refused_with_the_limits(value: str) -> None:
    with pytest.raises(InvalidSchedule) as caught:
        parsed(ScheduleKind.INTERVAL, value)

    allowed = "a whole number of milliseconds from 60000 (60 s) to 315619200000 (3653 days)"
    assert (caught.value.details["field"], caught.value.details["allowed"]) == ("interval", allowed)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("5000", "An interval of 5 s is too short: the shortest is 60 s."),
        ("59999", "An interval of 59.999 s is too short: the shortest is 60 s."),
        ("0", "An interval of 0 s is too short: the shortest is 60 s."),
        ("315619200001", "An interval of 315619200.001 s is too long: the longest is 3653 days."),
        ("315705600000", "An interval of 3654 days is too long: the longest is 3653 days."),
        ("1h", "The interval schedule is '1h'."),
    ],
)
def test_an_interval_off_the_limits_is_refused_in_the_words_of_people(value: str, expected: str) -> None:
    with pytest.raises(InvalidSchedule) as caught:
        parsed(ScheduleKind.INTERVAL, value)

    assert caught.value.message == expected


def test_the_minimum_of_intervals_can_be_configured() -> None:
    shorter = parse_schedule(ScheduleKind.INTERVAL, "1000", zone=NEW_YORK, now=NOW, min_interval_ms=1000)

    assert shorter == IntervalSchedule(every=timedelta(seconds=1))
    with pytest.raises(InvalidSchedule, match="the shortest is 3600 s"):
        parse_schedule(ScheduleKind.INTERVAL, "60000", zone=NEW_YORK, now=NOW, min_interval_ms=3_600_000)


def test_an_interval_that_is_stored_can_be_read_when_the_minimum_has_grown() -> None:
    schedule = read_schedule(ScheduleKind.INTERVAL, "1000", zone=NEW_YORK)

    assert schedule == IntervalSchedule(every=timedelta(seconds=1))
