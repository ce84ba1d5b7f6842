"""`dovecote agent …`, `dovecote events`, `dovecote top`: at the running orchestrator, and on the store."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from orchestrator.cli.agent_trees import list_agents, show_agent, show_log, show_trees, stop_agent
from orchestrator.cli.client import NotRunning
from orchestrator.cli.events import Wanted, show_events
from orchestrator.cli.home import open_home
from orchestrator.cli.seen import show_sent
from orchestrator.cli.status import show_status
from orchestrator.cli.store_services import open_store_services
from orchestrator.cli.top import rows_that_fit, run_top
from orchestrator.commands.agents.event_writing import note_ended, note_said, note_started
from orchestrator.commands.services import Services
from orchestrator.contracts.errors import DovecoteError
from orchestrator.contracts.events import AgentProgressed, TokenExpired
from orchestrator.contracts.ids import AgentId, GroupFolder, TreeId
from orchestrator.contracts.records.agents import AgentStatus, EndReason, QueueReason
from orchestrator.contracts.records.messages import SpooledFile
from orchestrator.contracts.records.spawns import StopReason
from orchestrator.paths import Paths
from orchestrator.store import agents, event_log, outbox_files, spawns, trees
from orchestrator.store.instance_lock import InstanceLock
from orchestrator.store.transaction import Transaction
from tests.edges.api.conftest import Served, served_at
from tests.edges.api.test_api import put_text
from tests.support.store_rows import agent, spawn_record

ROOT, CHILD, TREE = AgentId("agent-1"), AgentId("agent-2"), TreeId("tree-1")
PAST = "No orchestrator runs here: these are the last known states. Start one: dovecote serve"
NEWEST = Wanted(tree=None, since=None, count=50, only_audit=False)


async def a_tree(services: Services) -> None:
    """A root that runs, and a child that has failed."""
    now = services.clock.now()
    root = agent(ROOT, status=AgentStatus.RUNNING, started_at=now, group=GroupFolder("main"))
    child = agent(
        CHILD,
        status=AgentStatus.RUNNING,
        started_at=now,
        group=GroupFolder("main"),
        parent_agent_id=ROOT,
        depth=1,
    )

    def body(tx: Transaction) -> None:
        trees.add(tx, TREE, ROOT, at=now)
        trees.count_child(tx, TREE, depth=1)
        for each in (root, child):
            agents.add(tx, each)
            note_started(tx, services, each, at=now)
        note_said(tx, child, "half\x1b[2J way", at=now)
        agents.end(
            tx,
            CHILD,
            was=AgentStatus.RUNNING,
            now=AgentStatus.FAILED,
            at=now,
            exit_code=3,
            reason=EndReason.CRASHED,
        )
        note_ended(tx, CHILD, at=now)

    await services.db.run(body)


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A home whose orchestrator does not run."""

    async def fill() -> None:
        home = open_home(tmp_path)
        home.paths.ensure()
        async with open_store_services(home) as services:
            await a_tree(services)

    asyncio.run(fill())
    return tmp_path


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Served]:
    """A home whose orchestrator runs."""
    paths = Paths(home=tmp_path)
    paths.ensure()
    with InstanceLock.acquire(paths.lock, pid=os.getpid()):
        async with served_at(paths) as served:
            await a_tree(served.services)
            yield served


def printed(capsys: pytest.CaptureFixture[str], show: Callable[[], object]) -> str:
    """What a command prints."""
    show()
    return capsys.readouterr().out


def test_without_an_orchestrator_trees_agents_and_events_are_read_from_the_store(
    stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = printed(capsys, lambda: show_trees(stopped, None, as_json=False))
    listed = printed(capsys, lambda: list_agents(stopped, ended=True, as_json=False))
    shown = json.loads(printed(capsys, lambda: show_agent(stopped, CHILD, as_json=True)))
    log = printed(capsys, lambda: show_log(stopped, CHILD, follow=False, as_json=False))
    events = printed(capsys, lambda: show_events(stopped, NEWEST, follow=False, as_json=False))

    said, _, *rows = tree.splitlines()
    assert said == PAST
    assert rows[0].split()[:2] == [TREE, "active"]
    assert rows[1].startswith(f"└─ {ROOT}")
    assert rows[2].startswith(f"   └─ {CHILD}")
    assert "failed" in rows[2]
    assert [line.split()[0] for line in listed.splitlines()[1:]] == ["AGENT", ROOT, CHILD]
    assert (shown["id"], shown["lifecycle"], shown["exitCode"]) == (CHILD, "failed", 3)
    assert [line.split()[4] for line in log.splitlines()] == ["agent.started", "agent.log", "agent.failed"]
    assert "\x1b" not in log + events + tree
    assert len(events.splitlines()) == 4


def test_what_is_shown_without_an_orchestrator_is_said_to_be_the_last_that_is_known(
    stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = [
        printed(capsys, lambda: list_agents(stopped, ended=False, as_json=False)),
        printed(capsys, lambda: show_trees(stopped, TREE, as_json=False)),
        printed(capsys, lambda: show_agent(stopped, ROOT, as_json=False)),
    ]
    [tree] = json.loads(printed(capsys, lambda: show_trees(stopped, None, as_json=True)))
    listed = json.loads(printed(capsys, lambda: list_agents(stopped, ended=True, as_json=True)))
    agent = json.loads(printed(capsys, lambda: show_agent(stopped, ROOT, as_json=True)))

    assert [text.splitlines()[0] for text in shown] == [PAST] * 3
    assert [each["orchestratorRuns"] for each in (tree, *tree["agents"], *listed, agent)] == [False] * 6


async def test_a_queued_agent_says_what_keeps_it_and_was_not_started(
    running: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    queued, now, home = AgentId("agent-3"), running.services.clock.now(), running.paths.home
    reserved = agent(
        queued, status=AgentStatus.PENDING, started_at=now, group=GroupFolder("main"), parent_agent_id=ROOT
    )
    await running.services.db.run(lambda tx: agents.add(tx, reserved))
    running.services.queued_by[queued] = QueueReason.MAX_RUNNING

    shown, listed, tree, status = [
        await asyncio.to_thread(printed, capsys, show)
        for show in (
            lambda: show_agent(home, queued, as_json=False),
            lambda: list_agents(home, ended=False, as_json=False),
            lambda: show_trees(home, None, as_json=False),
            lambda: show_status(home, as_json=False),
        )
    ]

    why = "as many agents are at work as may be (queue.max_running)"
    assert f"queued: {why}" in shown
    assert ("asked for at" in shown, "started at" in shown) == (True, False)
    assert [line.split()[0] for line in listed.splitlines() if f"waits: {why}" in line] == [queued]
    assert f"waits: {why[:-20]}" in tree, "80 columns cut the setting off"
    assert f"1 agent waits for a place: {why}" in status


def test_top_shows_the_last_that_is_known_once_without_an_orchestrator(
    stopped: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")

    shown = printed(capsys, lambda: run_top(stopped, every_s=1, ended_within_s=300)).splitlines()
    tree = printed(capsys, lambda: show_trees(stopped, None, as_json=False)).splitlines()

    assert shown[0] == tree[0] == PAST
    assert shown[2].split()[:2] == [TREE, "active"]
    assert max(map(len, [*shown[1:], *tree[1:]])) == 60


def test_a_trees_id_stands_for_its_root_and_in_its_log_for_all_of_it(
    stopped: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = json.loads(printed(capsys, lambda: show_agent(stopped, TREE, as_json=True)))
    log = printed(capsys, lambda: show_log(stopped, TREE, follow=False, as_json=True))

    assert shown["id"] == ROOT
    assert [json.loads(line)["agentId"] for line in log.splitlines()] == [ROOT, CHILD, CHILD, CHILD]


def test_what_needs_running_agents_says_that_no_orchestrator_runs(stopped: Path) -> None:
    for act in (
        lambda: stop_agent(stopped, ROOT),
        lambda: show_log(stopped, ROOT, follow=True, as_json=False),
        lambda: show_events(stopped, NEWEST, follow=True, as_json=False),
    ):
        with pytest.raises(NotRunning):
            act()


def test_an_agent_or_a_tree_that_is_not_there_is_an_error_that_says_what_to_do(stopped: Path) -> None:
    with pytest.raises(DovecoteError, match="agent-9") as unknown_agent:
        show_agent(stopped, "agent-9", as_json=False)
    with pytest.raises(DovecoteError, match="tree-9") as unknown_tree:
        show_trees(stopped, "tree-9", as_json=False)

    assert unknown_agent.value.suggestion
    assert unknown_tree.value.suggestion


def test_an_unused_home_has_no_agents_and_stays_unused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, lambda: show_trees(tmp_path, None, as_json=False)) == "No trees.\n"
    assert printed(capsys, lambda: show_events(tmp_path, NEWEST, follow=False, as_json=False)) == ""
    assert list(tmp_path.iterdir()) == []


async def test_at_the_running_orchestrator_the_same_is_shown_and_top_prints_once_without_a_terminal(
    running: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    home = running.paths.home
    for show in (
        lambda: show_trees(home, ROOT, as_json=False),
        lambda: run_top(home, every_s=1, ended_within_s=300),
    ):
        rows = (await asyncio.to_thread(printed, capsys, show)).splitlines()

        assert rows[1].split()[:2] == [TREE, "active"]
        assert rows[3].startswith(f"   └─ {CHILD}")
    shown = await asyncio.to_thread(printed, capsys, lambda: show_agent(home, CHILD, as_json=True))
    events = await asyncio.to_thread(
        printed, capsys, lambda: show_events(home, NEWEST, follow=False, as_json=True)
    )

    assert json.loads(shown)["lifecycle"] == "failed"
    assert json.loads(shown)["orchestratorRuns"] is True
    assert [json.loads(line)["seq"] for line in events.splitlines()] == [1, 2, 3, 4]


async def test_a_stop_of_a_tree_says_of_each_what_came_of_it(
    running: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    queued, now = AgentId("agent-3"), running.services.clock.now()
    reserved = agent(
        queued, status=AgentStatus.PENDING, started_at=now, group=GroupFolder("main"), parent_agent_id=ROOT
    )
    await running.services.db.run(lambda tx: agents.add(tx, reserved))

    said = await asyncio.to_thread(printed, capsys, lambda: stop_agent(running.paths.home, TREE))

    words = dict(line.split("  ", 1) for line in said.splitlines())
    assert words.pop(ROOT).startswith("NOT STOPPED: ")  # no process of it is here
    assert words == {queued: "stopped before it was started", CHILD: "had ended before: failed"}


def test_top_keeps_how_it_ends_and_says_what_does_not_fit() -> None:
    rows = [(f"row {number}",) for number in range(40)]

    shown, below = rows_that_fit(rows, lines=30)
    all_of_it, alone = rows_that_fit(rows, lines=42)

    how = "Ctrl+C ends this. Stop one: dovecote agent stop ID"
    assert shown == rows[:27]  # with the heads and two lines below: thirty
    assert below.splitlines() == ["… and 13 more: dovecote agent tree", how]
    assert (all_of_it, alone) == (rows, how)
    assert rows_that_fit(rows, lines=1)[1].endswith(how)


async def test_a_file_that_was_sent_is_named_beside_its_caption_if_it_has_one(
    running: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in ("The figures.", ""):
        number = await put_text(running, text, key=f"key {text}")
        file = SpooledFile(
            name="report.pdf", media_type="application/pdf", size_bytes=7, spool_name=f"copy {number}"
        )
        await running.services.db.run(partial(outbox_files.attach, outbox_id=number, file=file))
    await put_text(running, "No file.", key="a")

    home = running.paths.home
    sent = await asyncio.to_thread(
        printed, capsys, lambda: show_sent(home, chat=None, count=9, as_json=False)
    )

    said = [line.partition("agent")[2].strip() for line in sent.splitlines()[1:]]
    assert said == ["[report.pdf] The figures.", "[report.pdf]", "No file."]


async def test_a_followed_log_ends_with_its_agent(
    running: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    home = running.paths.home

    log = await asyncio.to_thread(printed, capsys, lambda: show_log(home, CHILD, follow=True, as_json=False))

    assert "agent.failed" in log.splitlines()[-1]


def flooded(home: Path, *, reports: int) -> None:
    """After what `stopped` holds a child says again and again how far it is, its token is refused, and on."""

    async def fill() -> None:
        async with open_store_services(open_home(home)) as services:
            now = services.clock.now()

            def report(tx: Transaction) -> None:
                for done in range(reports):
                    event = AgentProgressed(agent_id=CHILD, tree_id=TREE, depth=1, progress=done)
                    event_log.append(tx, TREE, event, now)

            def body(tx: Transaction) -> None:
                report(tx)
                event_log.append(tx, TREE, TokenExpired(agent_id=CHILD, expired_at=1), now)
                report(tx)

            await services.db.run(body)

    asyncio.run(fill())


@pytest.mark.parametrize("tree", [None, TREE])
@pytest.mark.parametrize("since", [None, 0])
def test_what_is_asked_for_is_found_behind_whatever_else_happened(
    stopped: Path, capsys: pytest.CaptureFixture[str], tree: str | None, since: int | None
) -> None:
    flooded(stopped, reports=30)
    wanted = Wanted(tree=tree, since=since, count=5, only_audit=False)

    def types(wish: Wanted) -> list[str]:
        shown = printed(capsys, lambda: show_events(stopped, wish, follow=False, as_json=True))
        return [json.loads(line)["type"] for line in shown.splitlines()]

    assert types(replace(wanted, only_audit=True)) == ["token.expired"]
    assert types(wanted) == ["agent.started", "agent.started", "agent.log", "agent.failed", "token.expired"]
    assert len(types(replace(wanted, all_types=True))) == 5
    assert "agent.progress" in types(replace(wanted, all_types=True))


def test_an_agent_is_shown_in_words(stopped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def stop() -> None:
        async with open_store_services(open_home(stopped)) as services:

            def body(tx: Transaction) -> None:
                spawns.add(tx, spawn_record(CHILD, parent_agent_id=ROOT, at=services.clock.now()))
                spawns.note_stop(tx, CHILD, StopReason.ORPHAN_CLEANUP, stopped_by=None)

            await services.db.run(body)

    asyncio.run(stop())

    rows = printed(capsys, lambda: show_agent(stopped, CHILD, as_json=False)).splitlines()

    assert "failed: stopped because what had started it was gone" in " ".join(rows)
    assert [row for row in rows if "orphan_cleanup" in row or row.startswith("lifecycle")] == []
