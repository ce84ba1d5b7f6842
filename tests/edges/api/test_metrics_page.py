"""The text that Prometheus is given, read back by the grammar of its exposition format."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.api.metrics_page import metrics_page
from orchestrator.contracts.ids import Jid
from orchestrator.contracts.records.standing import (
    Backlog,
    LastHeard,
    OpenIncident,
    Schedule,
    Standing,
    UsedToday,
)
from orchestrator.core.metrics import METRICS, Reading

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUIET = Standing(at=NOON)
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (-?[0-9.e+-]+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\["\\n])*)"')
Parsed = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parse(text: str) -> Parsed:
    """Every sample by its name and labels. Fails on what is no line of the format."""
    found: Parsed = {}
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith(("# HELP ", "# TYPE ")):
            continue
        match = SAMPLE.fullmatch(line)
        assert match is not None, line
        labels = frozenset((name, unescape(value)) for name, value in LABEL.findall(match[2] or ""))
        assert (match[1], labels) not in found, "told twice"
        found[match[1], labels] = float(match[3])
    return found


def unescape(value: str) -> str:
    """The value of a label as it was."""
    return re.sub(r"\\(.)", lambda sign: {"n": "\n"}.get(sign[1], sign[1]), value)


def as_text(standing: Standing, *, refused: int, troubles: Mapping[str, str]) -> str:
    """The page of one moment."""
    return metrics_page(Reading(standing=standing, refused=refused, troubles=troubles)).decode()


def test_a_busy_moment_is_told_in_its_numbers() -> None:
    busy = replace(
        QUIET,
        heard=(LastHeard(channel="whatsapp", is_group=True, chats=3, last_at=NOON - timedelta(hours=1)),),
        waiting=Backlog(count=2, oldest_at=NOON - timedelta(seconds=90), chat=Jid("console:main")),
        agents={"running": 2, "starting": 1},
        schedule=Schedule(by_status={"active": 4}, late=7),
        incidents=(
            OpenIncident(name="provider:console:a", opened_at=NOON, count=3),
            OpenIncident(name="provider:console:b", opened_at=NOON, count=1),
        ),
        used_today=UsedToday(calls=3, failed_calls=1, tokens=1_234_567_890_123, cost_usd=0.25),
        refused_spawns={"DEPTH_EXCEEDED": 3},
        ever={"messages": 12},
    )

    told = parse(as_text(busy, refused=5, troubles={"whatsapp": "away"}))

    of_groups = frozenset({("channel", "whatsapp"), ("kind", "group")})
    expected = {
        ("dovecote_last_inbound_timestamp_seconds", of_groups): 1_772_362_800,
        ("dovecote_messages_waiting", frozenset()): 2,
        ("dovecote_messages_waiting_oldest_seconds", frozenset()): 90,
        ("dovecote_agents", frozenset({("status", "running")})): 2,
        ("dovecote_tasks_overdue", frozenset()): 7,
        ("dovecote_incidents", frozenset({("kind", "provider")})): 2,
        ("dovecote_parts_in_trouble", frozenset()): 1,
        ("dovecote_requests_refused_last_day", frozenset()): 5,
        ("dovecote_spawns_refused_last_day", frozenset({("code", "DEPTH_EXCEEDED")})): 3,
        ("dovecote_usage_tokens_today", frozenset()): 1_234_567_890_123,
        ("dovecote_usage_usd_today", frozenset()): 0.25,
        ("dovecote_messages_numbered_total", frozenset()): 12,
    }
    assert told | expected == told


def test_a_quiet_moment_has_every_number_that_needs_no_label() -> None:
    told = parse(as_text(QUIET, refused=0, troubles={}))

    assert {name for name, _ in told} == {each.name for each in METRICS if not each.labels}
    assert set(told.values()) == {0}


def test_each_metric_is_named_as_its_kind_asks_and_described_once() -> None:
    names = [each.name for each in METRICS]
    lines = as_text(QUIET, refused=0, troubles={}).splitlines()

    assert len(set(names)) == len(names)
    for each in METRICS:
        assert re.fullmatch(r"dovecote_[a-z_]+", each.name)
        assert each.name.endswith("_total") == (each.kind == "counter")
        assert lines.count(f"# TYPE {each.name} {each.kind}") == 1
        assert lines.count(f"# HELP {each.name} {each.meaning}") == 1


@given(st.text(), st.booleans())
def test_whatever_a_channel_is_called_is_read_back(name: str, is_group: bool) -> None:
    heard = LastHeard(channel=name, is_group=is_group, chats=1, last_at=NOON)

    told = parse(as_text(replace(QUIET, heard=(heard,)), refused=0, troubles={}))

    labels = frozenset({("channel", name), ("kind", "group" if is_group else "direct")})
    assert ("dovecote_last_inbound_timestamp_seconds", labels) in told
