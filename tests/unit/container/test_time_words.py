"""Which schedule a sentence about time asks for. It is Saturday, 28 November 2026, 15:00:20 in Berlin."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from container.drivers.reminder_words import asked_in, begins_with_time, change_in, number_in
from container.drivers.time_meaning import (
    Schedule,
    meaning_of,
    moment_in_words,
    schedule_in_words,
    with_clock,
)
from container.drivers.time_words import Moment, Unclear
from orchestrator.contracts.records.tasks import ScheduleKind
from orchestrator.core.tasks.schedule import first_run, parse_schedule

BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = timedelta(minutes=1)
NOW = datetime(2026, 11, 28, 15, 0, 20, tzinfo=BERLIN)


def understood(sentence: str, *, now: datetime = NOW) -> tuple[str, str, str] | str:
    """Kind, value and text; or the question that is asked back."""
    asked = asked_in(sentence)
    assert asked.when is not None
    meaning = meaning_of(asked.when, now=now, zone=BERLIN)
    return meaning.question if isinstance(meaning, Unclear) else (meaning.kind, meaning.value, asked.text)


@pytest.mark.parametrize(
    ("sentence", "at", "text"),
    [
        ("remind me in 10 minutes to water the plants", "2026-11-28T15:10:20+01:00", "water the plants"),
        ("remind me in an hour and a half: tea", "2026-11-28T16:30:20+01:00", "tea"),
        ("Remind us in 1 hour and 30 minutes to go", "2026-11-28T16:30:20+01:00", "go"),
        ("remind me in half an hour about lunch", "2026-11-28T15:30:20+01:00", "lunch"),
        ("remind me in 2 days to pay", "2026-11-30T15:00:20+01:00", "pay"),
        ("in 30 s tea", "2026-11-28T15:00:50+01:00", "tea"),
        ("remind me at 18:30 to call Ada", "2026-11-28T18:30:00+01:00", "call Ada"),
        ("remind me at 6.30 pm that it is late", "2026-11-28T18:30:00+01:00", "it is late"),
        ("remind me tomorrow at 9 to pay", "2026-11-29T09:00:00+01:00", "pay"),
        ("remind me the day after tomorrow at noon to pay", "2026-11-30T12:00:00+01:00", "pay"),
        ("remind me at 18:30 tomorrow to pay", "2026-11-29T18:30:00+01:00", "pay"),
        ("remind me to pay for two tomorrow at 9", "2026-11-29T09:00:00+01:00", "pay for two"),
        ("remind me to come at 10 in 5 minutes", "2026-11-28T15:05:20+01:00", "come at 10"),
        ("remind me tomorrow at 9 to come at 10", "2026-11-29T09:00:00+01:00", "come at 10"),
        ("remind me tomorrow to call Ada at 10", "2026-11-29T10:00:00+01:00", "call Ada"),
        ("remind me on monday at 9 to pay", "2026-11-30T09:00:00+01:00", "pay"),
        ("remind me next saturday at 9 to pay", "2026-12-05T09:00:00+01:00", "pay"),
        ("at 2027-01-05 14:00 dentist", "2027-01-05T14:00:00+01:00", "dentist"),
        ("at 2027-07-05T14:00 dentist", "2027-07-05T14:00:00+02:00", "dentist"),
        ("on 2027-01-05 at 2pm, dentist", "2027-01-05T14:00:00+01:00", "dentist"),
        ("on 5 January at 10 dentist", "2027-01-05T10:00:00+01:00", "dentist"),
        ("december 24th, 2027 at 18:00 sing", "2027-12-24T18:00:00+01:00", "sing"),
        ("remind me at midnight to sleep", "2026-11-29T00:00:00+01:00", "sleep"),
        ("set a reminder for 18:30 to call", "2026-11-28T18:30:00+01:00", "call"),
        ("remind   me\tat  18:30 to buy\n- milk\n- eggs", "2026-11-28T18:30:00+01:00", "buy\n- milk\n- eggs"),
    ],
)
def test_a_time_that_comes_once(sentence: str, at: str, text: str) -> None:
    assert understood(sentence) == ("once", at, text)


@pytest.mark.parametrize(
    ("sentence", "kind", "value", "text"),
    [
        ("every weekday at 9 stand-up", "cron", "0 9 * * 1-5", "stand-up"),
        ("every day at 7:30 feed the cat", "cron", "30 7 * * *", "feed the cat"),
        ("daily at 7:30am feed the cat", "cron", "30 7 * * *", "feed the cat"),
        ("every monday at 9 bins", "cron", "0 9 * * 1", "bins"),
        ("every Mon, Wed and Sun at 18:30 sport", "cron", "30 18 * * 0,1,3", "sport"),
        ("fridays at 8pm remind us to play", "cron", "0 20 * * 5", "play"),
        ("every weekend at 10 sleep", "cron", "0 10 * * 0,6", "sleep"),
        ("at 9 every weekday stand-up", "cron", "0 9 * * 1-5", "stand-up"),
        ("remind me to pay every friday at 20:00", "cron", "0 20 * * 5", "pay"),
        ("remind me every day to feed the cat at 7:30", "cron", "30 7 * * *", "feed the cat"),
        ("every 2 hours drink water", "interval", "7200000", "drink water"),
        ("remind me every hour to stretch", "interval", "3600000", "stretch"),
        ("hourly stretch", "interval", "3600000", "stretch"),
        ("every other day water the plants", "interval", "172800000", "water the plants"),
    ],
)
def test_a_time_that_comes_again(sentence: str, kind: str, value: str, text: str) -> None:
    assert understood(sentence) == (kind, value, text)


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("remind me at 9 to pay", "`at 21:00` today, or `tomorrow at 09:00`"),
        ("remind me at 12:30 to eat", "past 12:30"),
        ("remind me today at 12:30 to eat", "2026-11-28 12:30 is past"),
        ("at 2025-01-05 14:00 dentist", "2025-01-05 14:00 is past"),
        ("remind me on saturday at 18:00 to pay", "`today at 18:00`, or `2026-12-05 18:00`"),
        ("remind me tomorrow to pay", "At what time"),
        ("remind me every day to pay", "At what time every day"),
        ("every week pay", "On which day of the week"),
        ("every 2 days at 9 pay", "which shall it be"),
        ("every day at 9:00 and 18:00 pills", "One time for each reminder"),
        ("05.01.2027 at 10:00 dentist", "Which day is 05.01.2027"),
        ("on 2027-02-30 at 9 pay", "not in the calendar"),
        ("on 29 february at 9 pay", "In which year"),
        ("at 25:00 pay", "25:00 is no time of day"),
        ("at 13 pm pay", "13 pm is no time of day"),
        ("tomorrow at midnight pay", "which end"),
        ("remind me tomorrow to pay at 25:00", "At what time"),
        ("remind me tomorrow to sing at midnight", "At what time"),
        ("in 0 minutes pay", "In how long"),
        ("in 999999 weeks pay", "In how long"),
        ("every 0 minutes pay", "How often"),
        ("on 2027-03-28 at 2:30 pay", "Clocks skip 2027-03-28 02:30"),
        ("on 2027-10-31 at 2:30 pay", "2027-10-31 02:30 comes twice"),
    ],
)
def test_a_time_that_is_past_or_not_clear_is_asked_back(sentence: str, question: str) -> None:
    answer = understood(sentence)

    assert isinstance(answer, str)
    assert question in answer
    assert answer.endswith(("?", "."))


@pytest.mark.parametrize(
    "sentence",
    [
        "at home",
        "in as many words",
        "in a while crocodile",
        "tomorrow 3 people come",
        "saturday we dance",
        "every now and then",
        "in 10 minutes",
        "sun and rain",
        "",
    ],
)
def test_a_sentence_that_only_seems_to_begin_with_a_time_is_no_reminder(sentence: str) -> None:
    assert not begins_with_time(sentence)


def test_a_day_of_the_calendar_keeps_its_time_when_clocks_change() -> None:
    before = datetime(2027, 3, 27, 12, tzinfo=BERLIN)

    assert understood("remind me in 1 day to pay", now=before) == ("once", "2027-03-28T12:00:00+02:00", "pay")


@pytest.mark.parametrize(
    ("words", "which", "text", "has_time"),
    [
        ("2 to tomorrow at 9", "2", "", True),
        ("2 to 18:30", "2", "", True),
        ("2 to 9am", "2", "", True),
        ("2 to buy oat milk", "2", "buy oat milk", False),
        ("2 to 5 apples", "2", "5 apples", False),
        ("2 to today's menu", "2", "today's menu", False),
        ("2 to tomorrow at 9 buy milk", "2", "buy milk", True),
        ("2 to buy milk tomorrow at 9", "2", "buy milk", True),
        ("the plants to every day", "the plants", "", True),
    ],
)
def test_a_change_is_of_the_time_the_text_or_both(words: str, which: str, text: str, has_time: bool) -> None:
    change = change_in(words)

    assert change is not None
    assert (change.which, change.text, change.when is not None) == (which, text, has_time)


def test_a_change_to_nothing_is_none() -> None:
    assert change_in("2") is None
    assert number_in("#2") == 2
    assert number_in("two") is None


def test_another_time_of_day_keeps_the_days_of_a_schedule_of_ours() -> None:
    assert with_clock("0 9 * * 1-5", time(18, 30)) == Schedule(kind="cron", value="30 18 * * 1-5")
    assert with_clock("0 9 1 * *", time(18, 30)) is None
    assert with_clock("@daily", time(18, 30)) is None


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("once", "2027-01-05T14:00:00+01:00", ""),
        ("cron", "30 7 * * *", "every day at 07:30"),
        ("cron", "0 9 * * 1-5", "every weekday at 09:00"),
        ("cron", "0 9 * * 0,1,3", "every Sunday, Monday and Wednesday at 09:00"),
        ("cron", "0 9 * * 5", "every Friday at 09:00"),
        ("cron", "0 9 * * 1#2", "on the days `1#2` of the week at 09:00"),
        ("cron", "*/5 * * * *", "cron `*/5 * * * *`"),
        ("interval", "7200000", "every 2 hours"),
        ("interval", "60000", "every minute"),
        ("interval", "90000", "every 90 seconds"),
    ],
)
def test_a_schedule_is_said_in_words(kind: str, value: str, words: str) -> None:
    assert schedule_in_words(kind, value) == words


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (timedelta(seconds=31), "today, Saturday, 28 November 2026 at 15:00:51"),
        (timedelta(hours=3), "today, Saturday, 28 November 2026 at 18:00"),
        (timedelta(hours=20), "tomorrow, Sunday, 29 November 2026 at 11:00"),
        (timedelta(days=40), "Thursday, 7 January 2027 at 15:00"),
    ],
)
def test_a_moment_is_said_in_words(ahead: timedelta, words: str) -> None:
    assert moment_in_words(NOW + ahead, now=NOW, zone=BERLIN) == words


TIMES = st.sampled_from(
    [
        *("in 3 days", "in 5 minutes", "tomorrow at 9", "tomorrow at 2:30", "next monday at 7:15 pm"),
        *("every day at 0:00", "every weekday at 2:30", "every sun and tue at 23:59", "every 90 minutes"),
        *("on 2027-06-01 at 12am", "at midnight", "at 23:59", "on 31 december at 8", "every other week"),
    ]
)


@given(
    TIMES,
    st.integers(0, 485 * 24 * 60).map(lambda minutes: datetime(2026, 1, 1, tzinfo=UTC) + minutes * MINUTE),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]),
)
def test_the_host_takes_every_schedule_and_it_is_still_to_come(words: str, now: datetime, name: str) -> None:
    zone = ZoneInfo(name)
    asked = asked_in(f"remind me {words} to pay")
    assert asked.when is not None

    meaning = meaning_of(asked.when, now=now, zone=zone)

    if isinstance(meaning, Schedule):
        schedule = parse_schedule(ScheduleKind(meaning.kind), meaning.value, zone=zone, now=now)
        due = first_run(schedule, now=now)
        assert due is not None
        assert due > now
    if isinstance(asked.when, Moment) and isinstance(meaning, Schedule) and asked.when.clock:
        local = datetime.fromisoformat(meaning.value).astimezone(zone)
        assert local.time() == asked.when.clock


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    for start in ("remind me ", "in 1 ", "at ", "every ", ""):
        asked = asked_in(start + text)
        begins_with_time(start + text)
        change_in(start + text)
        if asked.when is not None:
            meaning_of(asked.when, now=NOW, zone=BERLIN)


@given(st.text(min_size=1).map(lambda text: f"x {text} x"))
def test_the_words_of_a_reminder_are_never_lost(text: str) -> None:
    asked = asked_in(f"remind me in 10 minutes to {text}")

    assert "".join(asked.text.split()) == "".join(text.split())


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "piece", ["remind me ", " ", "at ", "in 1 ", "mon, ", "every ", "9", "in ", "to ", ",", "\n", " and "]
)
def test_a_long_text_takes_no_long_time(piece: str) -> None:
    text = piece * (64 * 1024 // len(piece))

    for start in ("", "remind me ", "every mon", "in 5 minutes", "at 9"):
        asked_in(start + text)
        begins_with_time(start + text)
        change_in(start + text)
