"""Events on their way to readers who come and go, are slow, or may not see all. Source: agents.md section 1.

The socket itself is played by the test, so that a reader stops reading exactly where the test says.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from starlette.websockets import WebSocket

from orchestrator.api.live_events import serve_events
from orchestrator.app.parts import NoCheckpoints, SystemClock
from orchestrator.commands.agents.event_views import ALL_EVENTS, EventSight, sight_of
from orchestrator.commands.services import Services
from orchestrator.contracts.callers import caller_of
from orchestrator.contracts.events import AgentLogged, ChildSpawned, Event, EventClass
from orchestrator.contracts.ids import AgentId, TreeId
from orchestrator.contracts.seams import Clock
from orchestrator.engine.event_feed import EventFeed
from orchestrator.engine.wakeups import TopicWakeups
from orchestrator.paths import Paths
from orchestrator.settings.events import EventSettings
from orchestrator.settings.tree import Settings
from orchestrator.store import agents, event_log, trees
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import StopRecorder
from tests.support.eventually import eventually
from tests.support.manual_clock import ManualClock
from tests.support.store_rows import add_group, agent
from tests.support.store_template import lay_store

TREE, OTHER, ROOT = TreeId("tree-a"), TreeId("tree-b"), AgentId("agent-1")
Heard = dict[str, Any]


@dataclass
class Reader:
    """The reader's end of a connection. `may_send` stays unset while he does not read."""

    asked: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    heard: list[Heard] = field(default_factory=list)
    reads: asyncio.Event = field(default_factory=asyncio.Event)
    closed: int | None = None
    is_known: bool = True

    def ask(self, **message: object) -> None:
        self.asked.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    def go(self) -> None:
        self.asked.put_nowait({"type": "websocket.disconnect", "code": 1001})

    async def receive(self) -> dict[str, Any]:
        return await self.asked.get()

    async def send(self, message: Any) -> None:
        await self.reads.wait()
        if message["type"] == "websocket.close":
            self.closed = message["code"]
        elif message["type"] == "websocket.send":
            self.heard.append(json.loads(message["text"]))

    def of_type(self, name: str) -> list[Heard]:
        return [each for each in self.heard if each["type"] == name]


class World:
    """A store, the feed of its events, and its readers."""

    def __init__(self, services: Services, feed: EventFeed, tasks: asyncio.TaskGroup) -> None:
        self.services = services
        self.feed = feed
        self._tasks = tasks

    async def happen(self, *events: Event) -> None:
        at = self.services.clock.now()
        for event in events:
            tree = getattr(event, "tree_id", None)
            await self.services.db.run(lambda tx, e=event, t=tree: event_log.append(tx, t, e, at))  # type: ignore[misc]  # a lambda

    def come(self, sight: EventSight = ALL_EVENTS, *, reads: bool = True) -> Reader:
        """A reader connects. His first message tells that he is there."""
        reader = Reader()
        if reads:
            reader.reads.set()
        self._tasks.create_task(self._serve(reader, sight))
        reader.asked.put_nowait({"type": "websocket.connect"})
        return reader

    async def _serve(self, reader: Reader, sight: EventSight) -> None:
        scope = {"type": "websocket", "path": "/ws", "headers": [], "subprotocols": []}
        socket = WebSocket(scope, reader.receive, reader.send)

        async def is_known() -> bool:
            return reader.is_known

        await serve_events(socket, self.services, self.feed, sight, is_known=is_known, subprotocol=None)
        reader.closed = reader.closed or 1000

    async def confirmed(self, reader: Reader, count: int = 1) -> None:
        await eventually(lambda: len(reader.of_type("subscribed")) >= count)


@contextlib.asynccontextmanager
async def world_at(
    home: Path, *, reader_buffer: int = 1_000, clock: Clock | None = None
) -> AsyncIterator[World]:
    paths, wakeups = Paths(home=home), TopicWakeups()
    paths.ensure()
    await asyncio.to_thread(lay_store, paths.database)
    database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
    services = Services(
        db=database,
        clock=clock or SystemClock(),
        wakeups=wakeups,
        checkpoints=NoCheckpoints(),
        settings=Settings(events=EventSettings(reader_buffer=reader_buffer)),
        paths=paths,
        text_limit=lambda _: 4_000,
        control=StopRecorder(),
    )
    try:
        for tree in (TREE, OTHER):
            at = services.clock.now()
            await database.run(lambda tx, tree=tree, at=at: trees.add(tx, tree, ROOT, at=at))  # type: ignore[misc]  # a lambda
        feed = await EventFeed.open(services)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(feed.run())
            readers = asyncio.TaskGroup()
            async with readers:
                yield World(services, feed, readers)
            running.cancel()
    finally:
        await database.close()


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    return tmp_path


def line(text: str, tree: TreeId = TREE, agent: AgentId = ROOT) -> AgentLogged:
    return AgentLogged(agent_id=agent, tree_id=tree, depth=0, message=text)


def accounted(heard: Sequence[Heard], tree: TreeId = TREE) -> list[int]:
    """The numbers of a tree that a reader got or was told of, in his order."""
    numbers: list[int] = []
    for each in heard:
        if each.get("treeId") != tree:
            continue
        if each["type"] == "gap":
            numbers += range(each["firstSeq"], each["lastSeq"] + 1)
        elif "seq" in each:
            numbers.append(each["seq"])
    return numbers


async def test_fp17_a_reader_who_does_not_read_is_told_of_each_event_that_he_missed(home: Path) -> None:
    async with world_at(home, reader_buffer=3) as world:
        reader = world.come()
        reader.ask(type="subscribe", treeId=TREE)
        await world.confirmed(reader)

        reader.reads.clear()
        await world.happen(*(line(str(number)) for number in range(1, 21)))
        await eventually(lambda: world.feed.head == 20)
        reader.reads.set()
        await eventually(lambda: reader.of_type("gap"))
        await world.happen(line("21"))
        await eventually(lambda: 21 in accounted(reader.heard))
        reader.go()

    assert accounted(reader.heard) == list(range(1, 22))
    assert {each["reason"] for each in reader.of_type("gap")} == {"overflow"}


async def test_a_reader_who_does_not_read_holds_up_nobody_else(home: Path) -> None:
    async with world_at(home, reader_buffer=3) as world:
        slow, quick = world.come(), world.come()
        for reader in (slow, quick):
            reader.ask(type="subscribe", treeId=TREE)
            await world.confirmed(reader)
        slow.reads.clear()

        for number in range(1, 11):
            await world.happen(line(str(number)))
            await eventually(lambda number=number: number in accounted(quick.heard))
        slow.reads.set()
        slow.go()
        quick.go()

    assert accounted(quick.heard) == list(range(1, 11))
    assert not quick.of_type("gap")


async def test_fp11_an_agent_sees_what_is_below_it_and_nothing_of_its_siblings_or_of_other_trees(
    home: Path,
) -> None:
    own, sibling, child = AgentId("agent-2"), AgentId("agent-3"), AgentId("agent-4")
    held = agent(own, tree_id=TREE)

    def body(tx: Transaction) -> None:
        add_group(tx)
        agents.add(tx, held)

    async with world_at(home) as world:
        await world.services.db.run(body)
        sight = await sight_of(world.services, caller_of(held))
        await world.happen(line("before", agent=sibling), line("own before", agent=own))
        reader = world.come(sight)
        reader.ask(type="subscribe", treeId="*", since=0)
        await world.confirmed(reader)

        spawned = ChildSpawned(agent_id=child, parent_agent_id=own, tree_id=TREE, depth=2, task="t")
        await world.happen(line("sibling", agent=sibling), line("elsewhere", OTHER, own), spawned)
        await world.happen(line("child", agent=child))
        await eventually(lambda: any(each.get("message") == "child" for each in reader.heard))
        reader.ask(type="subscribe", treeId=OTHER)
        await eventually(lambda: reader.of_type("error"))
        reader.ask(type="getBufferedEvents", treeId=TREE)
        await eventually(lambda: reader.of_type("bufferedEvents"))
        reader.go()

    told = [each.get("message") or each["type"] for each in reader.heard if "seq" in each]
    assert told == ["own before", "spawn.nested", "child"]
    assert [each["code"] for each in reader.of_type("error")] == ["NOT_FOUND"]
    (buffered,) = reader.of_type("bufferedEvents")
    assert {each["agentId"] for each in buffered["events"]} == {own, child}


async def test_what_is_not_kept_any_more_is_a_gap_for_who_comes_back(home: Path) -> None:
    async with world_at(home) as world:
        await world.happen(*(line(str(number)) for number in range(1, 6)))
        services = world.services
        await services.db.run(
            lambda tx: event_log.prune(tx, EventClass.AGENT, before=services.clock.now(), count=5)
        )
        reader = world.come()
        reader.ask(type="subscribe", treeId=TREE, since=2)
        await world.confirmed(reader)

        await world.happen(line("6"))
        await eventually(lambda: 6 in accounted(reader.heard))
        reader.go()

    assert accounted(reader.heard) == [3, 4, 5, 6]
    assert [each["reason"] for each in reader.of_type("gap")] == ["expired"]


async def test_a_reader_whose_credential_was_taken_back_is_sent_away(home: Path) -> None:
    clock = ManualClock()
    async with world_at(home, clock=clock) as world:
        reader = world.come()
        reader.ask(type="subscribe", treeId=TREE)
        await world.confirmed(reader)

        reader.is_known = False
        clock.advance(31)
        await world.happen(line("secret"), line("secret"))
        await eventually(lambda: reader.closed)

    assert reader.closed == 1008
    assert not [each for each in reader.heard if each.get("message") == "secret"]


async def test_one_reader_more_than_there_may_be_is_turned_away(home: Path) -> None:
    async with world_at(home) as world:
        places = [world.feed.subscribe(only=None) for _ in range(world.services.settings.events.max_readers)]

        late = world.come()
        await eventually(lambda: late.closed)
        for place in places:
            place.close()

    assert late.closed == 1008


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("happen"), st.integers(min_value=1, max_value=6)),
        st.tuples(st.just("leave"), st.just(0)),
        st.tuples(st.just("pause"), st.integers(min_value=1, max_value=6)),
    ),
    min_size=1,
    max_size=12,
)


def reached(heard: Heard, *, by_tree: bool) -> int:
    """From where a reader goes on who has heard this."""
    number = heard.get("seq", heard.get("lastSeq", 0)) if by_tree else heard.get("cursor", 0)
    assert isinstance(number, int)
    return number


# Without shrinking: an example that fails waits for its deadline, and each smaller one would again.
@settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(steps=STEPS, by_tree=st.booleans())
def test_what_a_reader_hears_who_comes_and_goes_has_no_hole_and_no_repeat_but_for_gaps(
    steps: list[tuple[str, int]], by_tree: bool
) -> None:
    heard, count = asyncio.run(_come_and_go(steps, by_tree=by_tree))

    assert accounted(heard) == list(range(1, count + 1))


async def _come_and_go(steps: list[tuple[str, int]], *, by_tree: bool) -> tuple[list[Heard], int]:
    """Play the steps; what the reader heard over all of his connections, and how much happened."""
    count, heard = 0, list[Heard]()
    with TemporaryDirectory() as directory:
        async with world_at(Path(directory), reader_buffer=4) as world:

            def come() -> Reader:
                reader = world.come()
                since = max([0, *(reached(each, by_tree=by_tree) for each in heard)])
                reader.ask(type="subscribe", treeId=TREE if by_tree else "*", since=since)
                return reader

            async def more(number: int) -> None:
                nonlocal count
                await world.happen(*(line(str(count + each)) for each in range(1, number + 1)))
                count += number

            reader = come()
            for name, number in steps:
                if name == "happen":
                    await more(number)
                elif name == "pause":
                    reader.reads.clear()
                    await more(number)
                    reader.reads.set()
                else:
                    reader.go()
                    await eventually(lambda reader=reader: reader.closed)
                    heard += reader.heard
                    reader = come()
            await eventually(lambda: accounted(heard + reader.heard)[-1:] == [count] or not count)
            reader.go()
            await eventually(lambda: reader.closed)
    return heard + reader.heard, count
