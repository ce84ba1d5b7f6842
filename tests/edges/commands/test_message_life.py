"""The life of messages under any order of events, against a simple model. Source: contracts.md section 6."""

import asyncio
import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from orchestrator.contracts.records.agents import Agent, DeathCause
from orchestrator.contracts.wire.container_io import TurnStatus
from orchestrator.core.states.agent import AgentEventKind
from orchestrator.settings.tree import BoundSettings, Settings
from tests.edges.commands.conftest import Desk, open_desk
from tests.support.store_rows import CHAT

PROVIDER = "PROVIDER_OVERLOADED"
FINAL = ("settled", "partial", "failed", "skipped")
DAY_S = 24 * 3600


@dataclass
class Known:
    """What the model knows of one message. turn: the turn that took it in; None while none did.

    was_read: it came by standard input, which an agent reads whole; a follow-up lies in its box.
    """

    is_trigger: bool
    status: str = "pending"
    tries: int = 0
    deaths: int = 0
    is_nudged: bool = False
    turn: str | None = None
    was_read: bool = False


class MessageLife(RuleBasedStateMachine):
    """One chat and at most one agent; every rule is something that happens to a real installation."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = contextlib.AsyncExitStack()
        self.known: dict[str, Known] = {}
        self.agent: Agent | None = None
        self.turn: str | None = None
        self.has_effects = False
        self.fed: dict[str, str] = {}
        self.count = 0
        self.cursor = 0

    @initialize()
    def open(self) -> None:
        """A desk in a home of its own. The bounds are off: they have tests of their own."""
        home = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="dove-"))
        self.desk: Desk = self.run(self.stack.enter_async_context(open_desk(Path(home))))
        bounds = BoundSettings(triggers_per_sender=0, turns_per_chat=0, bot_turns_in_a_row=0)
        self.desk.set_settings(Settings(bounds=bounds))

    def run(self, work: Any) -> Any:
        """Run it to its end."""
        return self.runner.run(work)

    def name(self, prefix: str) -> str:
        """One that was never used."""
        self.count += 1
        return f"{prefix}-{self.count:03}"

    def held(self) -> dict[str, Known]:
        """What the agent holds."""
        return {name: each for name, each in self.known.items() if each.status == "dispatched"}

    @rule(is_trigger=st.booleans())
    def hear(self, is_trigger: bool) -> None:
        """A person writes."""
        name = self.name("m")
        self.run(self.desk.hear(name, "@Andy hello" if is_trigger else "just talk"))
        self.known[name] = Known(is_trigger=is_trigger)

    @rule()
    def hear_again(self) -> None:
        """The network says the last one twice."""
        if self.known:
            name, last = list(self.known.items())[-1]
            self.run(self.desk.hear(name, "@Andy hello" if last.is_trigger else "just talk"))

    @rule(seconds=st.sampled_from([1, 5, 60, 3600]))
    def time_passes(self, seconds: int) -> None:
        """Messages that wait become due."""
        self.desk.clock.advance(seconds)

    @precondition(lambda self: self.agent is None)
    @rule()
    def start(self) -> None:
        """An agent is started with what waits."""
        batch = self.run(self.desk.batch())
        if batch is None:
            assert not [each for each in self.known.values() if each.is_trigger and each.status == "pending"]
            return
        turn = self.name("turn")
        self.agent = self.run(self.desk.start_agent(self.name("agent"), turn=turn))
        self.given(batch.ids, turn, was_read=True)

    @precondition(lambda self: self.agent is not None)
    @rule()
    def feed(self) -> None:
        """The running agent gets what came since."""
        batch = self.run(self.desk.batch())
        if batch is None or batch.is_alone:
            return
        turn = self.name("turn")
        self.run(self.desk.feed(self.agent_now, turn=turn, stem=turn))
        self.given(batch.ids, turn, was_read=False)

    def given(self, ids: tuple[str, ...], turn: str, *, was_read: bool) -> None:
        """The oldest waiting trigger is always among what is given."""
        waiting = [name for name, each in self.known.items() if each.is_trigger and each.status == "pending"]
        assert waiting[0] in ids
        for name in ids:
            self.known[name].status = "dispatched"
            self.known[name].was_read = was_read
            self.fed[name] = turn

    @property
    def agent_now(self) -> Agent:
        """The one that runs."""
        assert self.agent is not None
        return self.agent

    @precondition(lambda self: self.agent is not None and self.turn is None)
    @rule()
    def begin(self) -> None:
        """It takes what it was given first into a turn."""
        free = [name for name, each in self.held().items() if each.turn is None]
        if not free:
            return
        self.turn, self.has_effects = self.fed[free[0]], False
        ids = [name for name in free if self.fed[name] == self.turn]
        self.run(self.desk.begin(self.agent_now, *ids, turn=self.turn))
        for name in ids:
            self.known[name].turn = self.turn

    @precondition(lambda self: self.turn is not None)
    @rule()
    def join(self) -> None:
        """All it was given since joins the running turn."""
        ids = list(self.held())
        self.run(self.desk.begin(self.agent_now, *ids, turn=str(self.turn)))
        for name in ids:
            self.known[name].turn = self.turn

    @precondition(lambda self: self.turn is not None)
    @rule()
    def pair(self) -> None:
        """It says something."""
        self.run(self.desk.say(self.agent_now, self.name("text"), turn=str(self.turn)))
        self.has_effects = True

    @precondition(lambda self: self.turn is not None)
    @rule(
        how=st.sampled_from(
            [
                (TurnStatus.SUCCESS, None),
                (TurnStatus.ERROR, "AGENT_ERROR"),
                (TurnStatus.ERROR, PROVIDER),
                (TurnStatus.CANCELLED, None),
            ]
        )
    )
    def end(self, how: tuple[TurnStatus, str | None]) -> None:
        """The turn is over."""
        status, code = how
        turn = str(self.turn)
        ids = [name for name, each in self.held().items() if each.turn == turn]
        for _ in range(2):  # said twice it changes nothing
            self.run(self.desk.end(self.agent_now, *ids, turn=turn, status=status, code=code))
        for name in ids:
            self.ended(self.known[name], status, code)
        self.turn = None

    def ended(self, message: Known, status: TurnStatus, code: str | None) -> None:
        """What the contract says of one message of an ended turn."""
        if status is TurnStatus.SUCCESS:
            if message.is_trigger and not self.has_effects and not message.is_nudged:
                message.status, message.turn, message.is_nudged = "pending", None, True
            else:
                message.status = "settled"
        elif code == PROVIDER and not self.has_effects:
            row = self.run(self.desk.row(self.name_of(message)))
            message.status, message.turn = row["status"], None
            assert message.status in ("pending", "failed")  # a day of waiting is told by the store alone
        else:
            cause = DeathCause.HOST if status is TurnStatus.CANCELLED else DeathCause.AGENT
            self.died(message, cause)

    def name_of(self, message: Known) -> str:
        """Its id."""
        return next(name for name, each in self.known.items() if each is message)

    @precondition(lambda self: self.agent is not None)
    @rule(cause=st.sampled_from(list(DeathCause)))
    def die(self, cause: DeathCause) -> None:
        """The agent is no more; for `ORCHESTRATOR` that is a restart."""
        is_restart = cause is DeathCause.ORCHESTRATOR
        event = AgentEventKind.FOUND_DEAD if is_restart else AgentEventKind.ENDED_BADLY
        unread = [
            self.fed[name] for name, each in self.held().items() if each.turn is None and not each.was_read
        ]
        self.run(self.desk.die(self.agent_now, cause, event=event, unread=unread))
        for message in self.held().values():
            self.died(message, cause)
        self.agent = self.turn = None

    def died(self, message: Known, cause: DeathCause) -> None:
        """The rule of death, as the contract says it."""
        has_effects = self.has_effects and message.turn is not None
        was_in_turn, message.turn = message.turn is not None or message.was_read, None
        if cause is DeathCause.STOPPED:
            message.status = "failed"
        elif not was_in_turn:
            message.status = "pending"
        elif has_effects:
            message.status = "partial"
        elif cause in (DeathCause.TIMED_OUT, DeathCause.VIOLATED):
            message.status = "failed"
        elif cause is DeathCause.HOST:
            message.status = "pending"
        elif cause is DeathCause.ORCHESTRATOR:
            message.status = "failed" if message.deaths == 5 else "pending"
            message.deaths += message.status == "pending"
        else:
            message.status = "failed" if message.tries == 4 else "pending"
            message.tries += message.status == "pending"
            message.deaths = 0 if message.status == "pending" else message.deaths

    @invariant()
    def every_message_stands_where_the_contract_says(self) -> None:
        """None lost, none doubled, none settled twice: the store and the model agree after every step."""
        if not hasattr(self, "desk"):
            return
        rows = self.run(self.desk.run(lambda tx: tx.all("SELECT * FROM messages ORDER BY seq")))
        found = {
            row["message_id"]: (row["status"], row["tries"], row["deaths"], row["is_nudged"]) for row in rows
        }
        assert found == {
            name: (each.status, each.tries, each.deaths, each.is_nudged) for name, each in self.known.items()
        }
        held_by = {row["agent_id"] for row in rows if row["status"] == "dispatched"}
        assert held_by <= {None if self.agent is None else self.agent.agent_id}
        limit_ms = (self.desk.now.timestamp() + 3600) * 1000
        assert all(row["due_ms"] <= limit_ms for row in rows if row["status"] == "pending")
        self.check_cursor(rows)

    def check_cursor(self, rows: list[Any]) -> None:
        """It never goes back and nothing unsettled lies at or below it."""
        stored = self.run(
            self.desk.run(lambda tx: tx.one("SELECT seq FROM cursors WHERE chat_jid = ?", (CHAT,)))
        )
        cursor = 0 if stored is None else stored["seq"]
        assert cursor >= self.cursor
        assert all(row["seq"] > cursor for row in rows if row["status"] in ("pending", "dispatched"))
        self.cursor = cursor

    def teardown(self) -> None:
        """Given an agent that answers, every trigger comes to its end."""
        try:
            if hasattr(self, "desk"):
                self.finish()
        finally:
            self.run(self.stack.aclose())
            self.runner.close()

    def finish(self) -> None:
        """Answer all that is left."""
        if self.agent is not None:
            self.die(DeathCause.HOST)
        for _ in range(len(self.known) + 1):
            self.time_passes(3600)
            self.start()
            if self.agent is None:
                break
            self.begin()
            self.pair()
            self.end((TurnStatus.SUCCESS, None))
            self.die(DeathCause.HOST)
        self.every_message_stands_where_the_contract_says()
        assert all(each.status in FINAL for each in self.known.values() if each.is_trigger)


TestMessageLife = pytest.mark.timeout(300)(MessageLife.TestCase)  # each example makes a store: fsync is slow
TestMessageLife.settings = settings(max_examples=20, stateful_step_count=30, deadline=None, database=None)
