"""What is asked of the store all the time costs no more in a chat whose agent has lived for weeks."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from orchestrator.contracts.ids import TurnId
from orchestrator.store import agents, bounds, outbox, usage
from orchestrator.store.database import Database
from orchestrator.store.times import to_ms
from orchestrator.store.transaction import Transaction
from orchestrator.store.turn_overlaps import may_all_be_of_others
from tests.support.store_rows import ANN, CHAT, NOON, add_group, agent
from tests.support.store_template import lay_store

AGENT: Final = agent().agent_id
COUNT: Final = 20_000
MOST_STEPS: Final = 4_000
HOUR: Final = timedelta(hours=1)
BEGAN: Final = to_ms(NOON - HOUR)
"""All of it happened within the hour before noon, which the bounds look at."""

_NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count) "
TURNS: Final = f"""
INSERT INTO turns (turn_id, agent_id, chat_jid, started_ms, ended_ms, status, outputs, effects, set_off_by)
{_NUMBERS}
SELECT 't-' || i, :agent, :chat, :began + i * 100, :began + i * 100 + 50, 'success', 0, 1, 'member' FROM n
"""
TEXTS: Final = f"""
INSERT INTO outbox (chat_jid, text, source, source_key, part, parts, status, created_ms, agent_id, turn_id)
{_NUMBERS}
SELECT :chat, 'said ' || i, 'request', 'r-' || i, 1, 1, 'sent', :began + i * 100 + 20, :agent, 't-' || i
  FROM n
"""
MESSAGES: Final = f"""
INSERT INTO messages (chat_jid, message_id, sender_jid, sender_name, sender_role, text, sent_ms, received_ms,
                      is_trigger, status)
{_NUMBERS}
SELECT :chat, 'm-' || i, :ann, 'Ann', 'member', 'do', 0, :began + i * 100, 1, 'settled' FROM n
"""
LAST: Final = TurnId(f"t-{COUNT}")
AT_LAST: Final = NOON - HOUR + COUNT * timedelta(milliseconds=100)


def _overlaps(tx: Transaction) -> object:
    turn = agents.turn(tx, AGENT, LAST)
    assert turn is not None
    return may_all_be_of_others(tx, turn)


ASKED: Final[dict[str, tuple[Callable[[Transaction], object], object]]] = {
    "the oldest text that waits": (lambda tx: outbox.oldest(tx, CHAT), None),
    "texts in flight": (lambda tx: outbox.in_flight_of_chat(tx, CHAT), []),
    "texts of this turn": (
        lambda tx: outbox.requested_texts(tx, AGENT, since=AT_LAST),
        [f"said {COUNT}"],
    ),
    "triggers of a sender": (
        lambda tx: bounds.triggers_of_sender(tx, [ANN], since=NOON - HOUR, now=NOON, count=20),
        20,
    ),
    "triggers, without a bound": (
        lambda tx: bounds.triggers_of_sender(tx, [ANN], since=NOON - HOUR, now=NOON, count=0),
        0,
    ),
    "turns of a chat": (
        lambda tx: bounds.turns_of_chat(tx, CHAT, since=NOON - HOUR, now=NOON, count=60),
        60,
    ),
    "the turn of a provider's call": (lambda tx: usage.turn_at(tx, AGENT, at=NOON), LAST),
    "how the last turn ended": (lambda tx: str(agents.last_turn_end(tx, AGENT)[0]), "success"),
    "turns open beside this one": (_overlaps, False),
}


@pytest.fixture(scope="module")
def long_lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which one agent has answered its chat 20,000 times."""
    root = tmp_path_factory.mktemp("long-lived")
    lay_store(root / "store.db")

    async def fill() -> None:
        database = await Database.open(root / "store.db", backups=root / "backups", on_wake=None)
        facts = {"count": COUNT, "began": BEGAN, "agent": AGENT, "chat": CHAT, "ann": ANN}

        def body(tx: Transaction) -> None:
            add_group(tx)
            agents.add(tx, agent())
            for sql in (TURNS, TEXTS, MESSAGES):
                tx.execute(sql, {name: value for name, value in facts.items() if f":{name}" in sql})

        await database.run(body)
        await database.close()

    asyncio.run(fill())
    return root


@pytest.fixture
async def store(long_lived: Path) -> AsyncIterator[Database]:
    """It, open."""
    database = await Database.open(long_lived / "store.db", backups=long_lived / "backups", on_wake=None)
    yield database
    await database.close()


@pytest.mark.parametrize("what", ASKED)
async def test_what_is_asked_all_the_time_costs_the_same_after_20_000_turns(
    store: Database, what: str
) -> None:
    ask, expected = ASKED[what]

    def body(tx: Transaction) -> tuple[object, int]:
        steps = [0]
        connection = tx._connection  # the only place where SQLite tells what a query costs

        def count() -> int:
            steps[0] += 1
            return 0

        connection.set_progress_handler(count, 10)
        answer = ask(tx)
        connection.set_progress_handler(None, 0)
        return answer, steps[0] * 10

    answer, steps = await store.run(body)

    assert answer == expected
    assert steps < MOST_STEPS, f"{steps} steps of SQLite's machine"
