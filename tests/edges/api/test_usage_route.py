"""What groups used, over a real socket."""

from datetime import timedelta

import pytest

from orchestrator.contracts.ids import AgentId, GroupFolder, TurnId
from orchestrator.contracts.records.usage import UsedCall
from orchestrator.store import usage
from orchestrator.store.transaction import Transaction
from tests.edges.api.conftest import Served


def add(tx: Transaction, served: Served, folder: str, tokens: int, *, days_ago: int = 0) -> None:
    """A call of a group's agent."""
    call = UsedCall(
        at=served.services.clock.now() - timedelta(days=days_ago),
        group=GroupFolder(folder),
        agent_id=AgentId(f"agent-{folder}"),
        turn_id=TurnId("turn-1"),
        provider="claude",
        model="m-1",
        status=200,
        failure=None,
        input_tokens=tokens,
        output_tokens=1,
        cache_read_tokens=None,
        cache_write_tokens=None,
        cost_usd=0.5,
    )
    usage.add(tx, call)


@pytest.fixture
async def spent(served: Served) -> Served:
    """Two groups used something today, one of them long ago as well."""

    def fill(tx: Transaction) -> None:
        add(tx, served, "main", 10)
        add(tx, served, "main", 20)
        add(tx, served, "club", 5)
        add(tx, served, "club", 7, days_ago=40)

    await served.services.db.run(fill)
    return served


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, [("club", 5, 0.5), ("main", 30, 1.0)]),
        ({"group": "main"}, [("main", 30, 1.0)]),
        ({"group": "nobody"}, []),
        ({"group": "club", "days": "60"}, [("club", 7, 0.5), ("club", 5, 0.5)]),
    ],
)
async def test_use_is_told_by_day_and_group(
    spent: Served, query: dict[str, str], found: list[tuple[str, int, float]]
) -> None:
    async with spent.client() as client:
        rows = (await client.get("/api/v1/usage", params=query)).json()

    assert [(row["group"], row["inputTokens"], row["costUsd"]) for row in rows] == found


async def test_use_is_told_by_turn_the_newest_first(spent: Served) -> None:
    async with spent.client() as client:
        rows = (await client.get("/api/v1/usage", params={"by": "turn", "days": "60"})).json()

    assert {(row["group"], row["tokens"], row["calls"]) for row in rows} == {("main", 32, 2), ("club", 14, 2)}
    assert [row["beganAt"] for row in rows] == sorted((row["beganAt"] for row in rows), reverse=True)


@pytest.mark.parametrize("query", [{"days": "0"}, {"days": "367"}, {"by": "moon"}])
async def test_what_is_no_question_is_refused(served: Served, query: dict[str, str]) -> None:
    async with served.client() as client:
        assert (await client.get("/api/v1/usage", params=query)).status_code == 400


async def test_nobody_sees_it_without_the_operators_token(served: Served) -> None:
    async with served.client(token="wrong") as client:
        assert (await client.get("/api/v1/usage")).status_code == 401
