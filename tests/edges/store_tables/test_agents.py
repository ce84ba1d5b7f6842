"""Runs of drivers and their turns, as rows."""

import sqlite3
from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.contracts.ids import AgentId, BoxName, TurnId
from orchestrator.contracts.records.agents import AgentStatus, EndReason, Turn, TurnOutcome
from orchestrator.contracts.wire.container_io import TurnError, Usage
from orchestrator.store import agents, messages
from orchestrator.store.agent_pruning import prune_agents
from orchestrator.store.database import Database
from orchestrator.store.transaction import Transaction
from tests.support.store_rows import CHAT, NOON, add_message, agent

AGENT, TURN = AgentId("agent-1"), TurnId("turn-1")


def end(tx: Transaction, *, was: AgentStatus, at_s: int = 0) -> bool:
    return agents.end(
        tx,
        AGENT,
        was=was,
        now=AgentStatus.FAILED,
        at=NOON + timedelta(seconds=at_s),
        exit_code=137,
        reason=EndReason.OOM,
    )


async def test_an_agent_comes_back_as_it_was_added(db: Database) -> None:
    await db.run(lambda tx: agents.add(tx, agent(is_main=True)))

    found = await db.run(lambda tx: agents.get(tx, AGENT))

    assert found == agent(is_main=True)
    assert await db.run(lambda tx: agents.get(tx, AgentId("nobody"))) is None


async def test_an_agents_id_is_used_once(db: Database) -> None:
    await db.run(lambda tx: agents.add(tx, agent()))

    with pytest.raises(sqlite3.IntegrityError):
        await db.run(lambda tx: agents.add(tx, agent(box=BoxName("other"))))


async def test_its_process_is_known_for_after_a_crash(db: Database) -> None:
    await db.run(lambda tx: agents.add(tx, agent()))

    await db.run(lambda tx: agents.set_process(tx, AGENT, '{"pid": 7}', is_legacy=True))

    found = await db.run(lambda tx: agents.get(tx, AGENT))
    assert found == replace(agent(), process_ref='{"pid": 7}', is_legacy=True)


async def test_a_status_moves_only_from_where_it_is(db: Database) -> None:
    await db.run(lambda tx: agents.add(tx, agent()))

    def move(tx: Transaction) -> bool:
        return agents.move(tx, AGENT, was=AgentStatus.STARTING, now=AgentStatus.RUNNING)

    first, second = await db.run(move), await db.run(move)

    assert (first, second) == (True, False)


async def test_an_end_is_written_once_with_its_reason(db: Database) -> None:
    await db.run(lambda tx: agents.add(tx, agent()))

    wrong = await db.run(lambda tx: end(tx, was=AgentStatus.RUNNING))
    right = await db.run(lambda tx: end(tx, was=AgentStatus.STARTING, at_s=5))
    again = await db.run(lambda tx: end(tx, was=AgentStatus.STARTING, at_s=9))

    found = await db.run(lambda tx: agents.get(tx, AGENT))
    assert (wrong, right, again) == (False, True, False)
    assert found == replace(
        agent(),
        status=AgentStatus.FAILED,
        ended_at=NOON + timedelta(seconds=5),
        exit_code=137,
        end_reason=EndReason.OOM,
    )


async def test_the_live_are_those_without_an_end_oldest_first(db: Database) -> None:
    def body(tx: Transaction) -> list[str]:
        for number, status in enumerate(AgentStatus):
            one = agent(f"agent-{status}", status=status, started_at=NOON - timedelta(seconds=number))
            agents.add(tx, one)
        return [each.agent_id for each in agents.live(tx)]

    live = await db.run(body)

    async with db.reader() as reader:
        listed = [each.agent_id for each in await agents.list_live(reader)]
    assert live == listed == ["agent-stopping", "agent-running", "agent-starting"]


async def test_a_left_box_is_its_last_agents(db: Database) -> None:
    def body(tx: Transaction) -> tuple[str | None, str | None]:
        agents.add(tx, agent("agent-old", started_at=NOON))
        agents.add(tx, agent("agent-new", started_at=NOON))
        agents.add(tx, agent("agent-elsewhere", box=BoxName("other"), started_at=NOON + timedelta(hours=1)))
        last, none = agents.last_of_box(tx, BoxName("family")), agents.last_of_box(tx, BoxName("nowhere"))
        return None if last is None else last.agent_id, None if none is None else none.agent_id

    found = await db.run(body)

    assert found == ("agent-new", None)


async def test_a_turn_counts_its_texts_and_effects_and_ends_once(db: Database) -> None:
    def body(tx: Transaction) -> tuple[Turn | None, Turn | None, Turn | None]:
        agents.add(tx, agent())
        agents.start_turn(tx, AGENT, TURN, CHAT, at=NOON)
        agents.count_output(tx, AGENT, TURN)
        agents.count_effect(tx, AGENT)
        agents.start_turn(tx, AGENT, TURN, CHAT, at=NOON + timedelta(hours=1))
        ended = agents.end_turn(
            tx,
            AGENT,
            TURN,
            outcome=TurnOutcome.ERROR,
            at=NOON + timedelta(seconds=9),
            error=TurnError(code="AGENT_ERROR", message="no"),
            usage=Usage(input_tokens=5),
        )
        again = agents.end_turn(tx, AGENT, TURN, outcome=TurnOutcome.SUCCESS, at=NOON)
        return ended, again, agents.turn(tx, AGENT, TURN)

    ended, again, found = await db.run(body)

    assert ended == found
    assert found is not None
    assert (found.outputs, found.effects, found.outcome) == (1, 2, TurnOutcome.ERROR)
    assert found.started_at == NOON
    assert again is None


async def test_the_same_turn_id_of_two_agents_is_two_turns(db: Database) -> None:
    def body(tx: Transaction) -> list[int]:
        for name in ("agent-1", "agent-2"):
            agents.add(tx, agent(name))
            agents.start_turn(tx, AgentId(name), TURN, CHAT, at=NOON)
        agents.count_output(tx, AGENT, TURN)
        found = [agents.turn(tx, AgentId(name), TURN) for name in ("agent-1", "agent-2")]
        return [each.effects for each in found if each is not None]

    effects = await db.run(body)

    assert effects == [1, 0]


async def test_an_old_agent_is_forgotten_with_its_turns_unless_it_still_holds_a_message(db: Database) -> None:
    def body(tx: Transaction) -> None:
        agents.add(tx, agent("agent-live"))
        for name in ("agent-1", "agent-held"):
            agents.add(tx, agent(name))
            agents.start_turn(tx, AgentId(name), TURN, CHAT, at=NOON)
            agents.end(
                tx,
                AgentId(name),
                was=AgentStatus.STARTING,
                now=AgentStatus.LOST,
                at=NOON,
                exit_code=None,
                reason=EndReason.ORCHESTRATOR_DIED,
            )
        messages.dispatch(
            tx, [add_message(tx)], agent_id=AgentId("agent-held"), turn_id=TURN, input_file=None
        )
        assert prune_agents(tx, before=NOON, count=9) == 0
        assert len(tx.all("SELECT * FROM agents")) == 3
        assert prune_agents(tx, before=NOON + timedelta(seconds=1), count=9) == 1

    await db.run(body)

    left = await db.run(lambda tx: {row["agent_id"] for row in tx.all("SELECT agent_id FROM agents")})
    assert left == {"agent-live", "agent-held"}
