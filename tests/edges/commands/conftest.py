"""A desk: every command on a real store, with a clock moved by hand and agents played by the test."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from orchestrator.app.parts import NoCheckpoints
from orchestrator.commands.hearing.receiving import receive_message
from orchestrator.commands.running.batches import TurnBatch, give_batch, next_batch
from orchestrator.commands.running.burial import bury
from orchestrator.commands.running.remains import Remains
from orchestrator.commands.running.turns import PairKey, begin_turn, end_turn, take_pair
from orchestrator.commands.saying.outgoing import prepare_text
from orchestrator.commands.services import Services
from orchestrator.contracts.ids import AgentId, Jid, TurnId
from orchestrator.contracts.records.agents import (
    Agent,
    AgentStatus,
    DeathCause,
    EndReason,
    ExitStatus,
    StopReach,
)
from orchestrator.contracts.records.messages import MessageStatus
from orchestrator.contracts.records.spawns import StopOutcome, StopReason, StopVerdict
from orchestrator.contracts.seams import Topic
from orchestrator.contracts.wire.container_io import TurnEnded, TurnError, TurnStarted, TurnStatus
from orchestrator.core.agents.unstartable import Need
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.engine.wakeups import TopicListener, TopicWakeups
from orchestrator.paths import Paths
from orchestrator.settings.tree import Settings
from orchestrator.store import agents
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.manual_clock import ManualClock
from tests.support.store_rows import CHAT, add_group, agent, inbound
from tests.support.store_template import lay_store

T = TypeVar("T")


class CountedWakeups(TopicWakeups):
    """Counts who began to listen."""

    def __init__(self) -> None:
        super().__init__()
        self.listeners = 0

    def listen(self, *topics: Topic) -> TopicListener:
        """As `TopicWakeups`."""
        self.listeners += 1
        return super().listen(*topics)


@dataclass
class StopRecorder:
    """Implements `AgentControl`: remembers what it was told. reach: what comes of a stop.

    immortal: agents whose kill fails. by_itself: those that are gone when they are to be told.
    bury: what is done with those that can be killed.
    """

    reach: StopReach = StopReach.STOPPED
    stopped: list[Jid] = field(default_factory=list)
    answers_stopped: list[Jid] = field(default_factory=list)
    closed: list[Jid] = field(default_factory=list)
    answered: list[AgentId] = field(default_factory=list)
    agents_stopped: list[tuple[AgentId, StopReason]] = field(default_factory=list)
    immortal: set[AgentId] = field(default_factory=set)
    by_itself: set[AgentId] = field(default_factory=set)
    bury: Callable[[AgentId], Awaitable[None]] | None = None

    async def close_chat(self, chat: Jid) -> None:
        """Note it."""
        self.closed.append(chat)

    async def hand_over_answers(self, agent_id: AgentId) -> None:
        """Note it."""
        self.answered.append(agent_id)

    async def stop_answer(self, chat: Jid) -> StopReach:
        """Note it."""
        self.answers_stopped.append(chat)
        return self.reach

    async def stop_chat(self, chat: Jid) -> StopReach:
        """Note it."""
        self.stopped.append(chat)
        return self.reach

    def begin_stop(self, agents: Sequence[AgentId], reason: StopReason) -> None:
        """Note them."""
        self.agents_stopped += [(each, reason) for each in agents]

    async def stop_agents(self, agents: Sequence[AgentId], reason: StopReason) -> list[StopOutcome]:
        """Note them; those that can be killed are gone."""
        self.agents_stopped += [(each, reason) for each in agents]
        for each in agents:
            if self.bury is not None and each not in self.immortal:
                await self.bury(each)
        return [
            StopOutcome(agent_id=each, verdict=StopVerdict.FAILED, error="It can't be killed.")
            if each in self.immortal
            else StopOutcome(
                agent_id=each,
                verdict=StopVerdict.SKIPPED if each in self.by_itself else StopVerdict.TERMINATED,
            )
            for each in agents
        ]


class Desk:
    """The commands of one installation, and what stands in the store."""

    def __init__(
        self, services: Services, clock: ManualClock, wakeups: CountedWakeups, control: StopRecorder
    ) -> None:
        self.services = services
        self.clock = clock
        self.wakeups = wakeups
        self.control = control
        self._ordinals: dict[AgentId, int] = {}

    @property
    def now(self) -> datetime:
        """This instant."""
        return self.clock.now()

    async def run(self, body: Callable[[Transaction], T]) -> T:
        """What a body returns, committed."""
        return await self.services.db.run(body)

    def set_settings(self, settings: Settings) -> None:
        """From now on."""
        self.services = replace(self.services, settings=settings)

    async def hear(self, message_id: str, text: str = "@Andy hello", **fields: Any) -> None:
        """A person wrote this."""
        await receive_message(self.services, inbound(message_id, text, **fields), "test")

    async def batch(self, chat: Jid = CHAT) -> TurnBatch | None:
        """What waits in a chat."""
        return await self.run(lambda tx: next_batch(tx, self.services, chat))

    async def start_agent(self, name: str = "agent-1", *, turn: str = "turn-1", chat: Jid = CHAT) -> Agent:
        """An agent that was given what waits, and took its input."""
        held = agent(name, chat_jid=chat, started_at=self.now)

        def body(tx: Transaction) -> Agent:
            batch = next_batch(tx, self.services, chat)
            assert batch is not None, "nothing waits"
            agents.add(tx, held)
            assert give_batch(
                tx, self.services, batch, agent_id=held.agent_id, turn_id=TurnId(turn), input_file=None
            )
            agents.move(tx, held.agent_id, was=AgentStatus.STARTING, now=AgentStatus.RUNNING)
            return replace(held, status=AgentStatus.RUNNING)

        return await self.run(body)

    async def feed(self, held: Agent, *, turn: str, stem: str) -> None:
        """What waits goes to the running agent as a follow-up."""

        def body(tx: Transaction) -> None:
            batch = next_batch(tx, self.services, held.chat_jid)
            assert batch is not None, "nothing waits"
            assert give_batch(
                tx, self.services, batch, agent_id=held.agent_id, turn_id=TurnId(turn), input_file=stem
            )

        await self.run(body)

    async def begin(self, held: Agent, *ids: str, turn: str = "turn-1") -> None:
        """The agent says that it took these into a turn."""
        event = TurnStarted(turn_id=TurnId(turn), inputs=ids)
        await self.run(lambda tx: begin_turn(tx, held, event))

    async def say(self, held: Agent, text: str, *, turn: str = "turn-1", ordinal: int | None = None) -> bool:
        """The agent prints a pair. ordinal: its place in the output; by default behind those before."""
        if ordinal is None:
            ordinal = self._ordinals[held.agent_id] = self._ordinals.get(held.agent_id, 0) + 1
        key = PairKey(agent=held, ordinal=ordinal, turn_id=TurnId(turn))
        shown = await prepare_text(self.services, held.chat_jid, text)
        return await self.run(lambda tx: take_pair(tx, key, shown, at=self.now))

    async def end(
        self,
        held: Agent,
        *ids: str,
        turn: str = "turn-1",
        status: TurnStatus = TurnStatus.SUCCESS,
        code: str | None = None,
        cancelled_by: DeathCause = DeathCause.HOST,
    ) -> None:
        """The agent says that a turn is over."""
        error = None if code is None else TurnError(code=code)
        event = TurnEnded(turn_id=TurnId(turn), inputs=ids, status=status, error=error)
        await self.end_as(held, event, cancelled_by=cancelled_by)

    async def end_as(
        self,
        held: Agent,
        event: TurnEnded,
        *,
        cancelled_by: DeathCause = DeathCause.HOST,
        provider_failure: str | None = None,
        needed: Sequence[Need] = (),
    ) -> None:
        """The agent says `event`. provider_failure: of its latest call, as the proxy saw it."""
        await self.run(
            lambda tx: end_turn(
                tx,
                self.services,
                held,
                event,
                cancelled_by=cancelled_by,
                at=self.now,
                provider_failure=provider_failure,
                needed=needed,
            )
        )

    async def die(
        self,
        held: Agent,
        cause: DeathCause = DeathCause.AGENT,
        *,
        reason: EndReason = EndReason.CRASHED,
        event: AgentEventKind = AgentEventKind.ENDED_BADLY,
        acks: dict[TurnId, object] | None = None,
        unread: Sequence[str] = (),
        code: int = 1,
        provider_failure: str | None = None,
    ) -> None:
        """The agent is dead, its output read to the end and its box drained."""
        remains = Remains(
            cause=cause,
            reason=reason,
            event=event,
            acks=acks or {},
            unread=unread,
            exit=ExitStatus(code=code),
            provider_failure=provider_failure,
        )
        await self.run(lambda tx: bury(tx, self.services, held.agent_id, remains, at=self.now))

    async def statuses(self, chat: Jid = CHAT) -> dict[str, str]:
        """Of each message of a chat."""
        rows = await self.run(
            lambda tx: tx.all(
                "SELECT message_id, status FROM messages WHERE chat_jid = ? ORDER BY seq", (chat,)
            )
        )
        return {row["message_id"]: row["status"] for row in rows}

    async def row(self, message_id: str, chat: Jid = CHAT) -> Any:
        """All columns of a message."""
        sql = "SELECT * FROM messages WHERE message_id = ? AND chat_jid = ?"
        return await self.run(lambda tx: tx.one(sql, (message_id, chat)))

    async def due_in_s(self, message_id: str) -> float:
        """How long a message has to wait."""
        row = await self.row(message_id)
        assert row["status"] == MessageStatus.PENDING
        return max(0.0, float(row["due_ms"]) / 1000 - self.now.timestamp())

    async def texts(self, chat: Jid = CHAT) -> list[str]:
        """All that was put into the outbox for a chat, in order."""
        rows = await self.run(
            lambda tx: tx.all("SELECT text FROM outbox WHERE chat_jid = ? ORDER BY id", (chat,))
        )
        return [row["text"] for row in rows]

    def later(self, seconds: float) -> datetime:
        """So many seconds from now."""
        return self.now + timedelta(seconds=seconds)


@contextlib.asynccontextmanager
async def open_desk(home: Path) -> AsyncIterator[Desk]:
    """A desk in a home of its own, with one registered chat that answers to @Andy."""
    paths = Paths(home=home)
    paths.ensure()
    clock, wakeups, control = ManualClock(), CountedWakeups(), StopRecorder()
    await asyncio.to_thread(lay_store, paths.database)
    database = await Database.open(paths.database, backups=paths.backups, on_wake=wakeups.wake)
    try:
        await database.run(add_group)
        yield Desk(services_on(database, paths, clock, wakeups, control), clock, wakeups, control)
    finally:
        await database.close()


def services_on(
    database: Database, paths: Paths, clock: ManualClock, wakeups: CountedWakeups, control: StopRecorder
) -> Services:
    """What commands use, on an open store."""
    return Services(
        db=database,
        clock=clock,
        wakeups=wakeups,
        checkpoints=NoCheckpoints(),
        settings=Settings(),
        paths=paths,
        text_limit=lambda _: 4_000,
        control=control,
    )


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A desk; closed afterwards."""
    async with open_desk(tmp_path) as each:
        yield each
