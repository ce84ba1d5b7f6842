"""Which zones there are, and any text whatever as a schedule or a zone."""

import json
from datetime import UTC, datetime, timedelta
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.errors import InvalidSchedule
from orchestrator.contracts.records.tasks import ScheduleKind
from orchestrator.core.tasks.schedule import (
    Schedule,
    first_run,
    known_zone,
    parse_schedule,
)

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
NEW_YORK = ZoneInfo("America/New_York")


def parsed(kind: ScheduleKind, value: str, *, zone: ZoneInfo = NEW_YORK, now: datetime = NOW) -> Schedule:
    return parse_schedule(kind, value, zone=zone, now=now)


@pytest.mark.parametrize("name", ["Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC", "Etc/GMT+3"])
def test_a_zone_of_the_database_is_known(name: str) -> None:
    assert known_zone(name).key == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Berlin",
        "Europe",
        "Mars/Olympus",
        "+03",
        "<+03>-3",
        "EST5EDT,M3.2.0,M11.1.0",
        ":/etc/localtime",
        "/etc/localtime",
        "../../etc/passwd",
        "localtime",
        "posixrules",
        "Factory",
        "posix/Europe/Berlin",
        "right/Europe/Berlin",
        "leapseconds",
        "Europe/Berlin\x00",
        "Europe/Berlin ",
        "Europe/\ud800",
        "Europ\u00e9/Berlin",
        "A" * 300,
        "/".join(["a"] * 30),
    ],
)
def test_what_is_no_zone_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(InvalidSchedule, match="Europe/Berlin, America/New_York or UTC") as caught:
        known_zone(name)

    assert caught.value.details["field"] == "timezone"


def cron_like() -> st.SearchStrategy[str]:
    """Near misses: what crons are made of, in any order."""
    pieces = st.sampled_from(
        ["*", "0", "5", "59", "60", "31", "30", "2", "-", "/", ",", "#", "L", "W", "?", "R", "H", "MON", " "]
    )
    field = st.lists(pieces, max_size=6).map("".join)
    return st.one_of(
        st.lists(field, min_size=4, max_size=7).map(" ".join),
        st.text("0123456789*/,-#LlWRHh?@MONFRISUNJANFEB \t", max_size=40),
    )


def once_like() -> st.SearchStrategy[str]:
    return st.from_regex(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?",
        fullmatch=True,
    )


def any_value() -> st.SearchStrategy[str]:
    """Text of every kind, half surrogate pairs and NUL with the rest."""
    anything = st.text(st.characters(exclude_categories=()), max_size=60)
    repeated = st.builds(lambda piece, count: piece * count, st.text(max_size=6), st.integers(0, 5000))
    return st.one_of(anything, cron_like(), once_like(), st.integers().map(str), repeated)


@given(
    st.sampled_from(ScheduleKind),
    any_value(),
    st.sampled_from(["UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]),
)
def test_any_text_is_a_schedule_or_refused_in_bounded_time(
    kind: ScheduleKind, value: str, zone_name: str
) -> None:
    began_s = process_time()
    try:
        schedule = parsed(kind, value, zone=ZoneInfo(zone_name))
    except InvalidSchedule as error:
        json.dumps([error.message, error.suggestion, error.details], ensure_ascii=False).encode()
    else:
        first = first_run(schedule, now=NOW)
        assert first is not None
        assert first >= NOW - timedelta(seconds=60)
    assert process_time() - began_s < 1


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_any_name_is_a_zone_or_refused(name: str) -> None:
    try:
        assert known_zone(name).key == name
    except InvalidSchedule as error:
        json.dumps([error.message, error.suggestion, error.details], ensure_ascii=False).encode()
