"""The one screen of `dovecote status`."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from orchestrator.cli.status_lines import LookedAt, age, status_lines
from orchestrator.commands.standing import StatusReport
from orchestrator.contracts.ids import GroupFolder, Jid, TaskId
from orchestrator.contracts.records.agents import QueueReason
from orchestrator.contracts.records.groups import Group
from orchestrator.contracts.records.standing import (
    Backlog,
    LastHeard,
    OpenIncident,
    OutgoingTexts,
    Schedule,
    Standing,
    TaskLine,
    UsedToday,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLACE = LookedAt(home="/srv/dovecote", pid=4711)
MAIN = Group(
    folder=GroupFolder("main"),
    jid=Jid("console:main"),
    name="Main",
    trigger="@Andy",
    assistant_name="Andy",
    requires_trigger=False,
    is_main=True,
    added_at=NOON,
    number=1,
)
CLUB = replace(
    MAIN, folder=GroupFolder("club"), jid=Jid("console:club"), is_main=False, requires_trigger=True
)
TASK = TaskLine(
    task_id=TaskId("task-1"),
    group=GroupFolder("main"),
    title="Water the\nplants",
    due_at=NOON + timedelta(hours=1),
    timezone="Europe/Berlin",
)
BUSY = Standing(
    at=NOON,
    groups=(MAIN, CLUB),
    heard=(
        LastHeard(channel="console", is_group=False, chats=1, last_at=NOON - timedelta(minutes=5)),
        LastHeard(channel="whatsapp", is_group=True, chats=2, last_at=NOON - timedelta(days=3)),
        LastHeard(channel="whatsapp", is_group=False, chats=1, last_at=None),
    ),
    waiting=Backlog(count=2, oldest_at=NOON - timedelta(minutes=90), chat=Jid("console:main")),
    at_work=Backlog(count=1, oldest_at=NOON, chat=Jid("console:main")),
    agents={"running": 2},
    outgoing=OutgoingTexts(
        waiting=Backlog(count=1, oldest_at=NOON - timedelta(seconds=3), chat=Jid("console:main")),
        unknown=Backlog(count=4, oldest_at=NOON, chat=Jid("console:main")),
        failed=Backlog(count=6, oldest_at=NOON, chat=Jid("console:main")),
    ),
    schedule=Schedule(by_status={"active": 1, "paused": 2}, next_tasks=(TASK,)),
    incidents=(OpenIncident(name="provider:console:main", opened_at=NOON - timedelta(hours=2), count=3),),
    proposals=1,
    questions=2,
    refused_spawns={"DEPTH_EXCEEDED": 1, "RATE_LIMITED": 4},
    used_today=UsedToday(calls=12, failed_calls=1, tokens=34_000, cost_usd=0.5, unpriced_calls=2),
)


def test_j1_j6_all_that_goes_on_is_on_the_screen() -> None:
    report = StatusReport(
        version="0.1.0", standing=BUSY, troubles={"whatsapp": "no network", "event feed": "x"}, refused=3
    )

    assert status_lines(report, PLACE) == [
        "orchestrator  process 4711 runs, version 0.1.0; home /srv/dovecote",
        "channels      console: heard in groups never, in direct chats 5 min ago",
        "              whatsapp: not open: no network; heard in groups 3 days ago, in direct chats never",
        "groups        2: main (main, every message), club (@Andy)",
        "queue         2 messages wait, the oldest for 1 h (console:main); 1 with an agent",
        "agents        2 running",
        "tasks         1 active, 2 paused",
        "next          2026-03-01 14:00 Europe/Berlin  main: Water the plants",
        "outbox        1 text waits, the oldest for 3 s (console:main); 4 of unknown fate; "
        "6 failed in the last day",
        "asked         1 wishes wait for your yes or no (dovecote proposal list)",
        "              2 questions of agents have no answer yet",
        "errors        The provider of main is away or busy; its messages wait and are tried again by "
        "themselves. Since 2 h. → dovecote provider check NAME, with the provider of its AGENT.md",
        "              event feed: x",
        "              3 requests were refused in the last day (dovecote errors)",
        "              5 spawns were refused in the last day: 4 RATE_LIMITED, 1 DEPTH_EXCEEDED "
        "(dovecote errors)",
        "usage         today 12 calls (1 failed), 34,000 tokens, 0.5000 USD and 2 calls without a price",
    ]


def test_agents_that_nobody_minds_are_the_last_that_is_known() -> None:
    standing = replace(BUSY, agents={"pending": 1, "running": 2})

    lines = status_lines(StatusReport(version="0.1.0", standing=standing), replace(PLACE, pid=None))

    assert "agents        last known: 1 queued, 2 running" in lines


def test_agents_that_wait_for_a_place_are_in_the_queue_by_what_keeps_them_from_it() -> None:
    standing = Standing(at=NOON, agents={"pending": 4, "running": 2})
    queued = {QueueReason.MAX_RUNNING: 2, QueueReason.PARENT_QUEUED: 1}

    lines = status_lines(StatusReport(version="0.1.0", standing=standing, queued=queued), PLACE)

    start = lines.index("queue         no message waits")
    assert lines[start + 1 : start + 5] == [
        "              2 agents wait for a place: as many agents are at work as may be (queue.max_running)",
        "              1 agent waits for a place: what asked for it is queued too",
        "              1 agent waits for a place",
        "agents        4 queued, 2 running",
    ]


def test_a_home_that_was_never_used_has_its_screen_too() -> None:
    report = StatusReport(version="0.1.0", standing=Standing(at=NOON))

    lines = status_lines(report, replace(PLACE, pid=None))

    assert lines[0] == "orchestrator  none runs here; home /srv/dovecote"
    assert lines[1] == "channels      nothing was ever heard"
    assert lines[-2:] == [
        "errors        none that is not over (dovecote doctor looks closer)",
        "usage         today 0 calls, 0 tokens",
    ]


def test_no_text_of_others_breaks_the_screen() -> None:
    odd = replace(BUSY.waiting, chat=Jid("x\x1b[2J\ny"))
    report = StatusReport(
        version="0.1.0", standing=replace(BUSY, waiting=odd), troubles={"whatsapp": "a\x1b[31m\nb"}
    )

    assert not [line for line in status_lines(report, PLACE) if "\x1b" in line or "\n" in line]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        *((-5, "0 s"), (0, "0 s"), (59.9, "59 s"), (60, "1 min"), (3_599, "59 min"), (3_600, "1 h")),
        *((47.9 * 3_600, "47 h"), (48 * 3_600, "2 days")),
    ],
)
def test_an_age_is_said_in_its_largest_whole_unit(seconds: float, said: str) -> None:
    assert age(NOON - timedelta(seconds=seconds), NOON) == said


def test_a_reason_is_told_in_full_and_of_a_very_long_one_where_the_rest_is() -> None:
    usual, endless = "It is so. " * 30, "It is so. " * 90
    report = StatusReport(version="0.1.0", standing=BUSY, troubles={"a": usual, "b": endless})

    told = "\n".join(status_lines(report, PLACE))

    assert f"a: {usual.strip()}" in told
    assert "… (the rest: dovecote doctor)" in told
    assert endless.strip() not in told
