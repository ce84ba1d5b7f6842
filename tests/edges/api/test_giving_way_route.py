"""Who may ask an orchestrator for its home, and which one leaves it. The rest: tests/edges/cli/chat."""

from tests.edges.api.conftest import Served


async def test_one_that_nobodys_chat_runs_gives_way_to_none(served: Served) -> None:
    async with served.client() as client:
        answer = await client.post("/api/v1/give-way")
        alive = await client.get("/api/health")

    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "ALREADY_RUNNING")
    assert alive.status_code == 200


async def test_nobody_asks_for_a_home_without_the_operators_token(served: Served) -> None:
    async with served.client(token="wrong") as client:
        answer = await client.post("/api/v1/give-way")

    assert answer.status_code == 401
