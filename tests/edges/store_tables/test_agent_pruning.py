"""Of agents that ended long ago nothing is left, of living ones what is asked for stays."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.contracts.ids import AgentId, TurnId
from orchestrator.contracts.records.agents import AgentKind, AgentStatus, EndReason, TurnOutcome
from orchestrator.contracts.records.spawns import WaitFor
from orchestrator.store import agents, messages, spawn_texts, spawns, waits
from orchestrator.store.agent_pruning import prune_agents, prune_turns
from orchestrator.store.opening import open_store
from orchestrator.store.slices import BEGIN
from orchestrator.store.transaction import Transaction
from orchestrator.store.waits import Wait
from tests.support.store_rows import CHAT, NOON, add_message, agent, spawn_record
from tests.support.store_template import lay_store

BEFORE: Final = NOON + timedelta(days=30)


def day(number: int) -> datetime:
    """So many days after `NOON`."""
    return NOON + timedelta(days=number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """An agent of a family. parent: the place of an earlier one in it. ended: the day; None: it lives."""

    parent: int | None
    ended: int | None
    holds_a_message: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """A turn. began, ended: days; ended None: it is open."""

    began: int
    ended: int | None
    holds_a_message: bool = False


def end_agent(tx: Transaction, agent_id: AgentId, at: datetime) -> None:
    agents.end(
        tx,
        agent_id,
        was=AgentStatus.STARTING,
        now=AgentStatus.COMPLETED,
        at=at,
        exit_code=0,
        reason=EndReason.EXITED,
    )


def add_turn(tx: Transaction, agent_id: AgentId, turn_id: TurnId, past: Past) -> None:
    agents.start_turn(tx, agent_id, turn_id, CHAT, at=day(past.began))
    if past.ended is not None:
        agents.end_turn(tx, agent_id, turn_id, outcome=TurnOutcome.SUCCESS, at=day(past.ended))
    if past.holds_a_message:
        seq = add_message(tx, f"held by {agent_id}/{turn_id}")
        messages.dispatch(tx, [seq], agent_id=agent_id, turn_id=turn_id, input_file=None)


def add_kin(tx: Transaction, number: int, kin: Kin) -> None:
    """With a row in each table that hangs on an agent."""
    agent_id = AgentId(f"agent-{number}")
    parent = None if kin.parent is None else AgentId(f"agent-{kin.parent}")
    agents.add(tx, agent(agent_id, parent_agent_id=parent, depth=0 if parent is None else 1))
    spawns.add(tx, spawn_record(agent_id, parent_agent_id=parent))
    spawn_texts.add(tx, agent_id, 1, "said")
    waits.add(tx, Wait(waiter=agent_id, awaited=AgentId("agent-0"), wanted=WaitFor.RESULT), at=NOON)
    add_turn(
        tx, agent_id, TurnId("turn-1"), Past(began=0, ended=kin.ended, holds_a_message=kin.holds_a_message)
    )
    if kin.ended is not None:
        end_agent(tx, agent_id, day(kin.ended))


def known(tx: Transaction, column: str, table: str) -> set[str]:
    return {row["found"] for row in tx.all(f"SELECT {column} AS found FROM {table}")}


def prune_all_turns(tx: Transaction, count: int) -> int:
    """In slices of `count`, to the end; how many went."""
    gone, after = 0, BEGIN
    while True:
        done = prune_turns(tx, before=BEFORE, after=after, count=count)
        gone += done.removed
        if done.next_after is None:
            return gone
        after = done.next_after


@st.composite
def families(draw: st.DrawFn) -> list[Kin]:
    """Up to eight agents, whoever started whom."""
    count = draw(st.integers(1, 8))
    ends = st.none() | st.sampled_from([1, 29, 30, 31])
    return [
        Kin(
            parent=draw(st.none() | st.integers(0, number - 1)) if number else None,
            ended=draw(ends),
            holds_a_message=draw(st.integers(0, 4)) == 0,
        )
        for number in range(count)
    ]


def may_go(family: Sequence[Kin], number: int) -> bool:
    """It ended long ago, holds nothing, and nobody that it started has to stay."""
    kin = family[number]
    is_over = kin.ended is not None and kin.ended < 30 and not kin.holds_a_message
    below = (child for child, each in enumerate(family) if each.parent == number)
    return is_over and all(may_go(family, child) for child in below)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file for all examples: each takes back what it wrote."""
    path = tmp_path_factory.mktemp("pruning") / "store.db"
    lay_store(path)
    return path


@given(family=families(), count=st.integers(1, 3))
def test_what_goes_goes_with_all_that_hangs_on_it_and_whoever_is_still_known_keeps_all_above_him(
    store: Path, family: list[Kin], count: int
) -> None:
    expected = {f"agent-{number}" for number in range(len(family)) if not may_go(family, number)}

    with closing(open_store(store, cached_statements=8)) as connection:
        connection.execute("BEGIN")
        tx = Transaction(connection)
        for number, kin in enumerate(family):
            add_kin(tx, number, kin)
        while prune_agents(tx, before=BEFORE, count=count):
            assert tx.all("PRAGMA foreign_key_check") == []

        assert known(tx, "agent_id", "agents") == expected
        for table in ("turns", "spawns", "spawn_texts"):
            assert known(tx, "agent_id", table) == expected, table
        assert known(tx, "waiter", "waits") == (expected if "agent-0" in expected else set())


@given(
    pasts=st.lists(
        st.builds(
            Past,
            began=st.integers(0, 40),
            ended=st.integers(0, 50).map(lambda drawn: None if drawn > 45 else drawn),
            holds_a_message=st.integers(0, 5).map(lambda drawn: drawn == 0),
        ),
        max_size=10,
    ).map(lambda found: [each for each in found if each.ended is None or each.ended >= each.began]),
    is_a_job=st.booleans(),
    has_ended=st.booleans(),
    count=st.integers(1, 4),
)
def test_of_turns_stay_the_last_the_open_what_was_beside_these_what_holds_a_message_and_those_of_a_job(
    store: Path, pasts: list[Past], is_a_job: bool, has_ended: bool, count: int
) -> None:
    pasts = sorted(pasts, key=lambda past: past.began)
    open_from = [past.began for past in pasts if past.ended is None]

    def stays(number: int) -> bool:
        past = pasts[number]
        is_recent = past.ended is None or past.ended >= 30
        was_beside_an_open_one = past.ended is not None and any(began < past.ended for began in open_from)
        is_last = number == len(pasts) - 1
        is_of_a_living_job = is_a_job and not has_ended
        return is_recent or was_beside_an_open_one or is_last or past.holds_a_message or is_of_a_living_job

    with closing(open_store(store, cached_statements=8)) as connection:
        connection.execute("BEGIN")
        tx = Transaction(connection)
        kind = AgentKind.JOB if is_a_job else AgentKind.SESSION
        agents.add(tx, agent(kind=kind))
        for number, past in enumerate(pasts):
            add_turn(tx, AgentId("agent-1"), TurnId(f"turn-{number}"), past)
        if has_ended:
            end_agent(tx, AgentId("agent-1"), day(50))
        gone = prune_all_turns(tx, count)

        expected = {f"turn-{number}" for number in range(len(pasts)) if stays(number)}
        assert known(tx, "turn_id", "turns") == expected
        assert gone == len(pasts) - len(expected)


def test_behind_what_is_new_nothing_is_looked_at(store: Path) -> None:
    with closing(open_store(store, cached_statements=8)) as connection:
        connection.execute("BEGIN")
        tx = Transaction(connection)
        agents.add(tx, agent())
        for number in range(6):
            add_turn(tx, AgentId("agent-1"), TurnId(f"turn-{number}"), Past(began=20 + 5 * number, ended=60))
        first = prune_turns(tx, before=BEFORE, after=BEGIN, count=2)
        assert first.next_after is not None
        second = prune_turns(tx, before=BEFORE, after=first.next_after, count=2)

    assert second.next_after is None, "the third turn is of day 30"
