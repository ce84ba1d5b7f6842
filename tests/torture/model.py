"""The lives of messages, texts and task runs as a state machine, on a store that is killed at any statement.

What must hold is written here from contracts.md sections 6 and 7, not taken from the tables of the code.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, Final, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from orchestrator.commands.saying.delivery import (
    claim_next,
    note_refused,
    note_sent,
    note_unavailable,
    note_unknown,
)
from orchestrator.contracts.ids import MessageId
from orchestrator.contracts.records.agents import Agent, EndReason
from orchestrator.contracts.records.messages import OutboxItem, Receipt
from orchestrator.contracts.records.tasks import ContextMode, ScheduleKind
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.store.transaction import Transaction
from tests.edges.commands.conftest import Desk
from tests.edges.commands.task_bench import Bench
from tests.support.store_rows import CHAT
from tests.torture.crash_store import CrashStore, Killed
from tests.torture.promises import Promises

T = TypeVar("T")
CRASHES: Final = st.one_of(st.none(), st.none(), st.integers(0, 60))
"""After how many statements of a step the process is killed, if it is."""
_PATIENCE: Final = 120
_PAST_ALL_WAITS_S: Final = 400.0


class Act(StrEnum):
    """What an agent does when it is its turn to do something."""

    SAY = "say"
    REPEAT = "repeat"
    END = "end"
    FAIL = "fail"
    EXIT = "exit"


@dataclass(kw_only=True)
class Playing:
    """An agent that runs. begun: whether it named what it took into its turn."""

    agent: Agent
    turn: str
    ids: tuple[str, ...]
    texts: list[str] = field(default_factory=list)
    begun: bool = False
    ended: bool = False


class StoreLife(RuleBasedStateMachine):
    """Everything that can happen to a chat and to its tasks, in any order, with a kill at any moment."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.Runner()
        self._store = CrashStore()
        self._promises = Promises()
        self._playing: Playing | None = None
        self._numbers = 0

    @property
    def _desk(self) -> Desk:
        return self._store.desk

    def _next(self) -> int:
        self._numbers += 1
        return self._numbers

    @initialize(triggers=st.integers(0, 2), has_task=st.booleans())
    def begin(self, triggers: int, has_task: bool) -> None:
        """A store with one chat, in which something may wait already."""
        self._loop.run(self._store.open())
        for _ in range(triggers):
            self.hear(is_trigger=True, crash=None)
        if has_task:
            self.plan(ScheduleKind.ONCE, isolated=False)
            self.let_time_pass(61.0, crash=None)

    def teardown(self) -> None:
        """All that waits comes to its end; then nothing is open."""
        try:
            if self._store._desk is not None:
                self._loop.run(self._come_to_an_end())
        finally:
            self._loop.run(self._store.close())
            self._loop.close()

    def _do(self, work: Callable[[], Awaitable[T]], crash: int | None = None) -> T | None:
        """One step; None if it was cut short: then all agents are dead, and the start has settled that."""

        async def step() -> T | None:
            try:
                return await self._store.attempt(work, crash_after=crash)
            except Killed:
                self._playing = None
                await self._store.recover()
                return None

        return self._loop.run(step())

    @rule(is_trigger=st.booleans(), crash=CRASHES)
    def hear(self, is_trigger: bool, crash: int | None) -> None:
        """Somebody writes; what could not be stored is brought again by the network."""
        name = f"m-{self._next()}"
        text = f"@Andy {name}" if is_trigger else name
        self._do(lambda: self._desk.hear(name, text), crash)
        if crash is not None:
            self._do(lambda: self._desk.hear(name, text))
        self._promises.accepted[name] = text

    @precondition(lambda self: self._promises.accepted)
    @rule(pick=st.randoms(use_true_random=False), crash=CRASHES)
    def hear_again(self, pick: Any, crash: int | None) -> None:
        """The network brings a message a second time."""
        name = pick.choice(sorted(self._promises.accepted))
        self._do(lambda: self._desk.hear(name, self._promises.accepted[name]), crash)

    @rule(
        acts=st.lists(st.sampled_from(Act), min_size=1, max_size=5),
        crash=st.one_of(st.none(), st.integers(0, 40)),
    )
    def agent_works(self, acts: list[Act], crash: int | None) -> None:
        """An agent is started, takes what it was given, acts and ends; the kill comes in the last step."""
        for act in acts[:-1]:
            self._act(act, None)
        self._act(acts[-1], crash)

    def _act(self, act: Act, crash: int | None) -> None:
        playing = self._playing
        if playing is None:
            start = self._start_task if act is Act.REPEAT else self._start
            start(crash)
        elif act is Act.EXIT or playing.ended:
            self._exit(playing, crash)
        elif not playing.begun:
            playing.begun = True
            self._do(lambda: self._desk.begin(playing.agent, *playing.ids, turn=playing.turn), crash)
        elif act in (Act.SAY, Act.REPEAT):
            self._say(playing, crash, is_repeat=act is Act.REPEAT and bool(playing.texts))
        else:
            self._end(playing, TurnStatus.SUCCESS if act is Act.END else TurnStatus.ERROR, crash)

    def _start(self, crash: int | None) -> None:
        """An agent is given what waits in the chat."""
        batch = self._loop.run(self._desk.batch())
        if batch is None:
            self._start_task(crash)
            return
        number = self._next()
        name, turn = f"agent-{number}", f"turn-{number}"
        agent = self._do(lambda: self._desk.start_agent(name, turn=turn), crash)
        if agent is not None:
            self._playing = Playing(agent=agent, turn=turn, ids=batch.ids)

    def _start_task(self, crash: int | None) -> None:
        """An agent is given the run of a task."""
        bench = Bench(self._desk, started=self._next())
        works = [each for each in self._loop.run(bench.waiting()) if each.task is not None]
        if not works:
            return
        begun = self._do(lambda: bench.try_start(works[0]), crash)
        self._numbers = bench.started
        if begun is not None and begun[1] is not None:
            self._playing = Playing(agent=begun[0], turn=bench.turn, ids=begun[1].ids)

    def _say(self, playing: Playing, crash: int | None, *, is_repeat: bool) -> None:
        """The agent prints a pair; or its output is read again from the first byte."""
        if not is_repeat:
            playing.texts.append(f"says {self._next()}")
        ordinal, text = len(playing.texts), playing.texts[-1]
        said = self._do(
            lambda: self._desk.say(playing.agent, text, turn=playing.turn, ordinal=ordinal), crash
        )
        if said:
            self._promises.said[text] = (playing.turn, playing.ids)

    def _end(self, playing: Playing, status: TurnStatus, crash: int | None) -> None:
        """The agent says that its turn is over."""
        playing.ended = True
        self._do(lambda: self._desk.end(playing.agent, *playing.ids, turn=playing.turn, status=status), crash)

    def _exit(self, playing: Playing, crash: int | None) -> None:
        """The agent's process ends, well after its turn, badly in it."""
        self._playing = None
        reason, event, code = EndReason.CRASHED, AgentEventKind.ENDED_BADLY, 1
        if playing.ended:
            reason, event, code = EndReason.EXITED, AgentEventKind.ENDED_WELL, 0
        self._do(lambda: self._desk.die(playing.agent, reason=reason, event=event, code=code), crash)

    @rule(
        outcomes=st.lists(
            st.sampled_from(["sent", "unknown", "lost", "refused", "away"]), min_size=1, max_size=3
        ),
        while_claiming=st.booleans(),
        crash=CRASHES,
    )
    def send(self, outcomes: list[str], while_claiming: bool, crash: int | None) -> None:
        """The sender takes text after text to the network, and notes what came of it."""
        for number, outcome in enumerate(outcomes, 1):
            kill = crash if number == len(outcomes) else None
            due = self._do(self._claim, kill if while_claiming else None)
            if due is None:
                return
            if outcome in ("sent", "unknown"):
                self._promises.taken.append((due.id, due.was_resent))
            self._do(partial(self._noted, due, outcome), None if while_claiming else kill)

    async def _noted(self, item: OutboxItem, outcome: str) -> None:
        await self._desk.run(partial(self._note, item=item, outcome=outcome))

    async def _claim(self) -> OutboxItem | None:
        services, now = self._desk.services, self._desk.now
        return (await self._desk.run(lambda tx: claim_next(tx, services, CHAT, at=now))).item

    def _note(self, tx: Transaction, item: OutboxItem, outcome: str) -> None:
        services, at = self._desk.services, self._desk.now
        match outcome:
            case "sent":
                note_sent(tx, item, Receipt(message_id=MessageId(f"out-{item.id}-{item.attempts}")), at=at)
            case "unknown" | "lost":
                note_unknown(tx, item, why="no answer", at=at)
            case "refused":
                note_refused(tx, services, item, why="not wanted", at=at)
            case "away":
                note_unavailable(tx, services, item, why="away", at=at)

    @rule(kind=st.sampled_from([ScheduleKind.ONCE, ScheduleKind.INTERVAL]), isolated=st.booleans())
    def plan(self, kind: ScheduleKind, isolated: bool) -> None:
        """Somebody plans a task."""
        name, due_at = f"task-{self._next()}", self._desk.later(60)
        mode = ContextMode.ISOLATED if isolated else ContextMode.GROUP
        value = due_at.isoformat() if kind is ScheduleKind.ONCE else "3600000"
        bench = Bench(self._desk)
        self._do(
            lambda: bench.add(name, kind=kind, schedule_value=value, next_run_at=due_at, context_mode=mode)
        )
        self._promises.tasks.add(name)

    @rule(after_s=st.sampled_from([1.0, 61.0, 3_700.0, 30 * 3_600.0]), crash=CRASHES)
    def let_time_pass(self, after_s: float, crash: int | None) -> None:
        """The clock goes on, and the alarm rings."""
        self._desk.clock.advance(after_s)
        self._do(Bench(self._desk).claim, crash)

    @precondition(lambda self: self._playing is not None)
    @rule()
    def power_cut(self) -> None:
        """The process is killed between two steps."""
        self._do(self._nothing, 0)

    async def _nothing(self) -> None:
        """No step at all."""

    @invariant()
    def every_promise_is_kept(self) -> None:
        """After each step."""
        if self._store._desk is not None:
            self._loop.run(self._promises.check(self._desk, live=self._playing is not None))

    async def _come_to_an_end(self) -> None:
        """Agents that answer, a network that takes everything: nothing waits in the end."""
        await self._store.recover()
        for number in range(_PATIENCE):
            self._desk.clock.advance(_PAST_ALL_WAITS_S)
            if not await self._step_to_the_end(f"last-{number}"):
                break
        else:
            raise AssertionError("it comes to no end")
        await self._promises.check(self._desk, live=False, is_over=True)

    async def _step_to_the_end(self, name: str) -> bool:
        desk = self._desk
        while (item := await self._claim()) is not None:
            self._promises.taken.append((item.id, item.was_resent))
            await desk.run(partial(self._note, item=item, outcome="sent"))
        if (batch := await desk.batch()) is not None:
            agent = await desk.start_agent(f"agent-{name}", turn=name)
            await self._answer(agent, batch.ids, name)
            return True
        bench = Bench(desk, started=self._next() + 1_000)
        works = [each for each in await bench.waiting() if each.task is not None]
        if works:
            agent, first = await bench.try_start(works[0])
            if first is not None:
                await self._answer(agent, first.ids, bench.turn)
        return bool(works)

    async def _answer(self, agent: Agent, ids: tuple[str, ...], turn: str) -> None:
        desk = self._desk
        await desk.begin(agent, *ids, turn=turn)
        await desk.say(agent, f"says {turn}", turn=turn)
        await desk.end(agent, *ids, turn=turn)
        await desk.die(agent, reason=EndReason.EXITED, event=AgentEventKind.ENDED_WELL, code=0)
